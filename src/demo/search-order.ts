import type { StreamEvent } from '../stream/event.ts'
import type { EventSpec, Operation } from '../stream/operations/operation.ts'

/**
 * The SearchOrder process (stream-format 3). An order queries three suppliers, one of which does not answer. The results
 * of the others lead to nested searches. A join gathers them, and the stream closes with errors.
 */

/** The simulated work on a claimed event: its duration, and how it ends. */
export interface DemoJob {
  readonly workMs: number
  /** Progress text of its heartbeats. */
  readonly progress: string
  readonly end: 'complete' | 'fail' | 'advance'
  readonly msg?: string
  readonly next?: EventSpec
  readonly forks: readonly EventSpec[]
}

const SUPPLIERS = 3
/** Number of nested searches by the thread whose results they refine. */
const NESTED: { readonly [thread: string]: number } = { '01.01': 4, '02.01': 3 }
/** Slow searches, which the stream waits for at the end. */
const SLOW: ReadonlySet<string> = new Set(['01.02.00', '01.04.00', '02.03.00'])
const SILENT_SUPPLIER = '03.00'

/** The first transaction: the order, one search per supplier, and the final join. */
export function searchOrder(born: string): Extract<Operation, { op: 'init' }> {
  return {
    op: 'init',
    root: { name: 'OrderStart', topic: 'orders', key: '4711' },
    forks: Array.from({ length: SUPPLIERS }, () => ({ name: 'SearchStart', topic: 'search', timeout: '00:05:00' })),
    join: { name: 'OrderDone', topic: 'orders' },
    hold: false,
    born,
  }
}

/** The work for an event of the demo. */
export function jobFor(event: StreamEvent): DemoJob {
  switch (event.name) {
    case 'SearchStart':
      return event.id === SILENT_SUPPLIER
        ? { workMs: 2_600, progress: 'asking supplier 3', end: 'fail', msg: 'supplier 3 does not answer', forks: [] }
        : {
            workMs: 2_000,
            progress: 'asking',
            end: 'advance',
            next: { name: 'SearchDone', topic: 'results' },
            forks: [],
          }
    case 'SearchDone':
      return { workMs: 1_700, progress: 'analysing', end: 'advance', forks: nestedSearches(event.id) }
    case 'Search':
      return SLOW.has(event.id)
        ? { workMs: 4_500, progress: 'searching deeper', end: 'complete', msg: '31 results', forks: [] }
        : { workMs: 1_300, progress: 'searching', end: 'complete', msg: '12 results', forks: [] }
    default:
      return { workMs: 1_600, progress: 'gathering', end: 'complete', msg: 'order placed', forks: [] }
  }
}

function nestedSearches(id: string): EventSpec[] {
  return Array.from({ length: NESTED[id] ?? 1 }, () => ({ name: 'Search', topic: 'search', timeout: '00:01:00' }))
}
