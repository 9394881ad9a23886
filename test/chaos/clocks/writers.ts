import { randomUUID } from 'node:crypto'
import { readStream, type StreamView } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact.ts'
import type { EventStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operation.ts'

const STREAM = 'shared'
/** Longer than any test, ms: whoever takes an event meanwhile is too early. */
const CLAIM_MS = 900_000
/** Far more than any answer takes, and less than the smallest of the great lies, ms. */
const TOLERANCE_MS = 600_000

/** What writers were told of their changes. */
interface Told {
  readonly commandId: string
  readonly kind: string
  /** It took an event that another held. */
  readonly tookAnothers: boolean
}

export interface Verdict {
  /** Changes that were told to be done and are not there once, and those that are there and were told to be not. */
  readonly lost: readonly string[]
  readonly early: readonly string[]
  /** Times that go back, or that are of no true clock. */
  readonly untimely: readonly string[]
  readonly changes: number
}

/**
 * Writers of one stream, each with a store of its own: each claims an event, keeps it alive, changes the stream, tries to take
 * what its neighbour holds, and ends its event.
 *
 * @param isTrueTime the store has a clock of its own, so all times have to be near the true one
 */
export async function letWrite(stores: readonly EventStore[], turns: number, isTrueTime: boolean): Promise<Verdict> {
  const [first] = stores
  if (first === undefined) throw new Error('no stores')
  const startedMs = Date.now()
  const told: Told[] = []
  const forks = stores.map(() => ({ name: 'A' }))
  const init = { op: 'init', root: { name: 'Start' }, forks, hold: false, born: randomUUID() } as const
  // The one with the greatest lie creates the stream.
  told.push(await changed(stores.at(-4) ?? first, init))
  const all = async (step: (store: EventStore, at: number) => Promise<Told>) => {
    told.push(...(await Promise.all(stores.map(step))))
  }
  const start = (event: string) => ({ op: 'start', event, owner: 'worker', claimMs: CLAIM_MS }) as const
  await all((store, at) => changed(store, start(idAt(at))))
  const fences = await fencesOf(first)
  for (let turn = 0; turn < turns; turn++) {
    await all((store, at) => changed(store, { op: 'set', event: '00', attributes: { tag: `${at}-${turn}` } }))
    await all((store, at) =>
      changed(store, { op: 'touch', event: idAt(at), fence: fences[at] ?? 0, claimMs: CLAIM_MS }),
    )
    await all((store, at) => changed(store, start(idAt((at + turn + 1) % stores.length)), true))
  }
  await all((store, at) => changed(store, { op: 'complete', event: idAt(at), fence: fences[at] ?? 0 }))
  const view = await readStream(first, STREAM)
  if (view === undefined) throw new Error('the stream is gone')
  return judge(view, told, isTrueTime ? { fromMs: startedMs, toMs: Date.now() } : undefined)
}

const idAt = (at: number): string => `${String(at + 1).padStart(2, '0')}.00`

async function fencesOf(store: EventStore): Promise<readonly number[]> {
  const view = await readStream(store, STREAM)
  return view?.document.events.slice(1).map(({ lc }) => Number(lc.fence)) ?? []
}

async function changed(store: EventStore, operation: Operation, isAnothers = false): Promise<Told> {
  const commandId = randomUUID()
  const outcome = await transact(store, STREAM, operation, { commandId, by: 'writer', leaseWaitMs: 120_000 })
  const isDone = outcome.kind === 'done' && outcome.result.outcome === 'done'
  const leavesEntry = operation.op !== 'touch'
  return {
    commandId: leavesEntry ? commandId : '',
    kind: outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind,
    tookAnothers: isAnothers && isDone,
  }
}

function judge(view: StreamView, told: readonly Told[], truth: { fromMs: number; toMs: number } | undefined): Verdict {
  const transactions = view.transactions()
  const countOf = (id: string) => transactions.filter(({ commandId }) => commandId === id).length
  const times = transactions.map(({ at }) => at)
  const stamps = view.document.events.flatMap(({ created, timestamp }) => [created, timestamp])
  const isFalse = (at: string) =>
    truth !== undefined && (Date.parse(at) < truth.fromMs - TOLERANCE_MS || Date.parse(at) > truth.toMs + TOLERANCE_MS)
  return {
    changes: transactions.length,
    lost: told.flatMap(({ commandId, kind }) => {
      const count = commandId === '' ? 0 : countOf(commandId)
      const expected = kind === 'done' && commandId !== '' ? 1 : 0
      return count === expected ? [] : [`a change was told to be ${kind} and is there ${count} times`]
    }),
    early: told.flatMap(({ tookAnothers, commandId }) =>
      tookAnothers ? [`${commandId} took an event that was held`] : [],
    ),
    untimely: [
      ...times.flatMap((at, n) => (at >= (times[n - 1] ?? '') ? [] : [`after ${times[n - 1]} came ${at}`])),
      ...stamps.flatMap(at => (at <= view.document.at ? [] : [`${at} is after the last write, ${view.document.at}`])),
      ...[...times, ...stamps].filter(isFalse).map(at => `${at} is of no true clock`),
    ],
  }
}
