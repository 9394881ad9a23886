import type { EventSpec, Operation } from '../../src/stream/operations/operation.ts'
import type { Happening } from './order.ts'
import { type Stage, uuid } from './stage.ts'

/** Short description of a stream: some branches, some of them done, one perhaps failed. */
interface Plot {
  readonly name: string
  readonly root: string
  readonly step: string
  /** Seconds before the picture. */
  readonly born: number
  readonly branches: number
  readonly done: number
  readonly failed?: number
  /** Number of events that end in each interval of the sparkline, latest last. */
  readonly beats?: readonly number[]
  readonly timeout?: string
  readonly end?: 'cancel' | 'abort'
  /** What a failure means for the stream. */
  readonly onFailure?: 'block' | 'compensate'
  /** Why it is suspended. */
  readonly suspended?: string
}

/** Its row shows when the last change has been read. */
export const MARKER = 'imports/eu'

const PLOTS: readonly Plot[] = [
  { name: 'invoices/2026-02', root: 'InvoiceRun', step: 'Render', born: 4_210, branches: 12, done: 12 },
  {
    name: 'invoices/2026-03',
    root: 'InvoiceRun',
    step: 'Render',
    born: 610,
    branches: 24,
    done: 9,
    beats: [1, 0, 2, 1, 0, 1, 2, 1],
  },
  { name: MARKER, root: 'Import', step: 'Load', born: 1_805, branches: 60, done: 11, beats: [4, 6, 3, 5, 7, 6, 4, 5] },
  {
    name: 'imports/us',
    root: 'Import',
    step: 'Load',
    born: 95,
    branches: 8,
    done: 1,
    beats: [0, 0, 0, 1, 0, 1, 1, 0],
  },
  { name: 'orders/4698', root: 'OrderStart', step: 'SearchStart', born: 7_300, branches: 3, done: 3 },
  { name: 'orders/4699', root: 'OrderStart', step: 'SearchStart', born: 6_120, branches: 3, done: 2, failed: 1 },
  { name: 'orders/4702', root: 'OrderStart', step: 'SearchStart', born: 3_970, branches: 3, done: 1, end: 'cancel' },
  { name: 'orders/4703', root: 'OrderStart', step: 'SearchStart', born: 3_410, branches: 3, done: 3 },
  {
    name: 'orders/4705',
    root: 'OrderStart',
    step: 'SearchStart',
    born: 1_350,
    branches: 3,
    done: 2,
    timeout: '00:30:00',
  },
  {
    name: 'orders/4707',
    onFailure: 'block',
    root: 'OrderStart',
    step: 'SearchStart',
    born: 905,
    branches: 3,
    done: 1,
    failed: 1,
    timeout: '00:20:00',
  },
  {
    name: 'orders/4708',
    root: 'OrderStart',
    step: 'SearchStart',
    born: 702,
    branches: 3,
    done: 0,
    timeout: '00:12:30',
  },
  {
    name: 'orders/4709',
    root: 'OrderStart',
    step: 'SearchStart',
    born: 640,
    branches: 3,
    done: 1,
    beats: [0, 0, 0, 0, 0, 1, 0, 0],
  },
  {
    name: 'orders/4710',
    root: 'OrderStart',
    step: 'SearchStart',
    born: 300,
    branches: 3,
    done: 1,
    timeout: '00:15:00',
  },
  { name: 'payments/8812', root: 'Settle', step: 'Transfer', born: 5_020, branches: 4, done: 4 },
  { name: 'payments/8813', root: 'Settle', step: 'Transfer', born: 2_440, branches: 4, done: 2, end: 'abort' },
  { name: 'payments/8814', root: 'Settle', step: 'Transfer', born: 1_130, branches: 4, done: 3, timeout: '00:25:00' },
  {
    name: 'payments/8815',
    root: 'Settle',
    step: 'Transfer',
    born: 440,
    branches: 6,
    done: 3,
    failed: 1,
    onFailure: 'compensate',
  },
  { name: 'payments/8816', root: 'Settle', step: 'Transfer', born: 35, branches: 4, done: 0, timeout: '00:02:00' },
  { name: 'returns/1193', root: 'Return', step: 'Inspect', born: 8_800, branches: 2, done: 2 },
  { name: 'returns/1194', root: 'Return', step: 'Inspect', born: 2_100, branches: 2, done: 1, timeout: '01:00:00' },
  {
    name: 'returns/1195',
    root: 'Return',
    step: 'Inspect',
    born: 1_440,
    branches: 2,
    done: 0,
    suspended: 'scales broken',
  },
  {
    name: 'stock/berlin',
    root: 'Count',
    step: 'Shelf',
    born: 980,
    branches: 40,
    done: 17,
    beats: [0, 1, 3, 2, 0, 0, 1, 2],
  },
  {
    name: 'stock/lyon',
    root: 'Count',
    step: 'Shelf',
    born: 965,
    branches: 40,
    done: 12,
    failed: 2,
    beats: [2, 2, 1, 0, 0, 3, 1, 1],
  },
  {
    name: 'stock/porto',
    root: 'Count',
    step: 'Shelf',
    born: 120,
    branches: 40,
    done: 3,
    beats: [0, 0, 1, 1, 2, 1, 2, 3],
  },
]

/** Interval of the sparkline, s. */
const STRETCH = 15

export const others: readonly Happening[] = PLOTS.flatMap((plot, at) => happenings(plot, at))

function happenings(plot: Plot, number: number): Happening[] {
  const { name, branches, done, failed = 0, beats = [], end, onFailure, suspended } = plot
  const worker = `worker-${(number % 6) + 2}`
  const ids = Array.from({ length: branches }, (_, at) => `${String(at + 1).padStart(2, '0')}.00`)
  const begin = Math.max(0, plot.born - 1)
  const change = (before: number, operation: Operation): Happening => ({
    before,
    happen: (stage: Stage) => stage.do(name, worker, operation),
  })
  const ended = ids.slice(0, done).flatMap(id => work(id, 'complete'))
  const failures = ids.slice(done, done + failed).flatMap(id => work(id, 'fail'))
  const rest = ids.slice(done + failed)
  const later = beats.flatMap((count, at) =>
    rest
      .splice(0, count)
      .flatMap(id => work(id, 'complete'))
      .map(operation => change((beats.length - 1 - at) * STRETCH + 4, operation)),
  )
  const [next] = rest
  return [
    change(plot.born, initOf(plot, number)),
    ...[...ended, ...failures].map(operation => change(begin, operation)),
    ...(next === undefined || (end ?? onFailure ?? suspended) !== undefined
      ? []
      : [change(Math.min(begin, 28), claim(next, worker))]),
    ...(end === undefined ? [] : [change(Math.min(begin, 600), { op: end, msg: 'no longer wanted' })]),
    ...(suspended === undefined ? [] : [change(300, { op: 'suspend', msg: suspended })]),
    ...later,
  ]

  function work(event: string, op: 'complete' | 'fail'): Operation[] {
    const msg = op === 'fail' ? 'connect ETIMEDOUT 10.0.0.7:443' : 'done'
    return [claim(event, worker), { op, event, owner: worker, msg }]
  }
}

function claim(event: string, owner: string): Operation {
  return { op: 'start', event, owner, claimMs: 60_000 }
}

function initOf({ root, step, branches, timeout, onFailure }: Plot, number: number): Operation {
  const limited: EventSpec = { name: root, ...(timeout === undefined ? {} : { timeout }) }
  const forks = Array.from({ length: branches }, () => ({
    name: step,
    topic: step.toLowerCase(),
    ...(onFailure === 'compensate' ? { undo: `Undo${step}` } : {}),
  }))
  return { op: 'init', root: limited, forks, hold: false, ...(onFailure && { onFailure }), born: uuid(1_000 + number) }
}
