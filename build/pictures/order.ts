import type { Operation } from '../../src/stream/operations/operation.ts'
import { type Stage, uuid } from './stage.ts'

export const ORDER = 'orders/4711'

/** An operation, and its time in seconds before the picture. */
export interface Happening {
  readonly before: number
  happen(stage: Stage): Promise<unknown>
}

/**
 * An order that asks three suppliers: one does not answer, the results of the others lead to further searches, two of
 * which are still under way.
 */
export const order: readonly Happening[] = [
  change(134, 'order-service', {
    op: 'init',
    root: { name: 'OrderStart', topic: 'orders', key: '4711', timeout: '00:10:00' },
    forks: Array.from({ length: 3 }, () => ({ name: 'SearchStart', topic: 'search', timeout: '00:05:00' })),
    join: { name: 'OrderDone', topic: 'orders' },
    hold: false,
    born: uuid(4_711),
  }),
  ...started(132, '01.00', 'worker-7'),
  ...started(131, '02.00', 'worker-2'),
  ...started(130, '03.00', 'worker-5'),
  change(122, 'worker-5', { op: 'fail', event: '03.00', msg: 'supplier 3 does not answer' }),
  ...stepped(110, '01.00', 'worker-7'),
  ...stepped(101, '02.00', 'worker-2'),
  ...started(106, '01.01', 'worker-7'),
  ...started(99, '02.01', 'worker-2'),
  searches(88, '01.01', 'worker-7', 4),
  searches(80, '02.01', 'worker-2', 3),
  ...started(84, '01.01.00', 'worker-3'),
  ...started(79, '01.02.00', 'worker-4'),
  ...started(72, '02.01.00', 'worker-2'),
  ...started(70, '01.03.00', 'worker-5'),
  change(58, 'worker-3', { op: 'complete', event: '01.01.00', msg: '12 results' }),
  ...started(52, '02.02.00', 'worker-3'),
  change(41, 'worker-2', { op: 'complete', event: '02.01.00', msg: '31 results' }),
  change(40, 'worker-4', { op: 'release', event: '01.02.00' }),
  ...started(38, '01.02.00', 'worker-7'),
  change(21, 'worker-5', { op: 'complete', event: '01.03.00', msg: '8 results' }),
  change(11, 'worker-3', { op: 'complete', event: '02.02.00', msg: '12 results' }),
  ...started(9, '02.03.00', 'worker-2'),
]

function started(before: number, event: string, owner: string): readonly Happening[] {
  return [change(before, owner, { op: 'start', event, owner, claimMs: 60_000 })]
}

function stepped(before: number, event: string, by: string): readonly Happening[] {
  const next = { name: 'SearchDone', topic: 'results' }
  return [change(before, by, { op: 'advance', event, next, forks: [] })]
}

function searches(before: number, event: string, by: string, count: number): Happening {
  const forks = Array.from({ length: count }, () => ({ name: 'Search', topic: 'search', timeout: '00:02:00' }))
  return change(before, by, { op: 'advance', event, forks })
}

function change(before: number, by: string, operation: Operation): Happening {
  return { before, happen: stage => stage.do(ORDER, by, claiming(operation, by)) }
}

/** The worker that started an event ends it. */
function claiming(operation: Operation, by: string): Operation {
  const isClaimants = ['advance', 'complete', 'fail', 'release', 'touch'].includes(operation.op)
  return isClaimants ? ({ ...operation, owner: by } as Operation) : operation
}
