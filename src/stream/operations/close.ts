import { isFailed, isFinal, isGated, isSuperseded } from '../event.ts'
import { sortedById } from '../event-id.ts'
import type { EventStream } from '../event-stream.ts'
import { claimRuns } from '../time/deadlines.ts'
import type { Draft } from './draft.ts'

/** Maximum number of ids in an error summary; the rest is `+N`. */
const FAILED_IDS_SHOWN = 50

/** The failures below a parent. */
export interface FailureSummary {
  /** The first 50 ids in the order of the tree. */
  readonly ids: readonly string[]
  readonly total: number
}

/** Whether a parent can close: all its successors are final, none of them blocks, and no claim on it runs. */
export function canClose(draft: Draft, at: number): boolean {
  const event = draft.at(at)
  const { stream } = draft
  const working = event.status === 'inprocess' || (event.status === 'init' && !stream.held)
  if (!working || isGated(event) || claimRuns(event, draft.nowMs) || stream.missingIds(at).length > 0) return false
  const successors = stream.successorPositions(at)
  return successors.length > 0 && successors.every(at => isFinal(draft.at(at)) && !stream.blocks(at))
}

/** Closes a parent. Returns its position. */
export function close(draft: Draft, at: number, failures: FailureCounter): number {
  writeErrorSummary(draft, at, failures)
  draft.setStatus(at, 'completed', 'close')
  return at
}

/** Marks a parent that ends with failures below it. Returns false, without a change, if there are none. */
export function writeErrorSummary(draft: Draft, at: number, failures = new FailureCounter(draft.stream)): boolean {
  const summary = failures.below(at)
  if (summary.total === 0) return false
  draft.patch(at, { lc: { outcome: 'errors', failed: failedText(summary) } })
  draft.setMessage(at, 'WithError')
  return true
}

/** Adds the summary to an event that a foreign writer closed. It is final: only our own attributes change. */
export function addMissingSummary(draft: Draft, at: number, failures: FailureCounter): void {
  const event = draft.at(at)
  if (event.status !== 'completed' || event.lc.outcome !== undefined) return
  const summary = failures.below(at)
  if (summary.total === 0) return
  draft.patch(at, { lc: { outcome: 'errors', failed: failedText(summary) } })
  draft.isDirty = true
}

/** The ids as `lc:failed` has them. */
export function failedText(summary: FailureSummary): string {
  const rest = summary.total - summary.ids.length
  return (rest > 0 ? [...summary.ids, `+${rest}`] : summary.ids).join('|')
}

const NO_FAILURES: FailureSummary = { ids: [], total: 0 }

/** Counts the failures below events. Closing adds none, so the counts are valid until `recount`. */
export class FailureCounter {
  readonly #stream: EventStream
  #known: ReadonlyMap<number, FailureSummary> | undefined

  constructor(stream: EventStream) {
    this.#stream = stream
  }

  below(position: number): FailureSummary {
    const { events } = this.#stream
    this.#known ??= events.some(event => isFailed(event) && !isSuperseded(event))
      ? countFailures(this.#stream)
      : new Map()
    return this.#known.get(position) ?? NO_FAILURES
  }

  /** An event has failed since the last count. */
  recount(): void {
    this.#known = undefined
  }
}

function countFailures(stream: EventStream): ReadonlyMap<number, FailureSummary> {
  const known = new Map<number, FailureSummary>()
  for (const at of stream.childrenFirst()) known.set(at, gather(stream, at, known))
  return known
}

/**
 * Adds up the direct successors, which are counted already; in a cycle, an uncounted one counts as 0. A failure on two
 * paths counts once, unless more than 50 are below.
 */
function gather(stream: EventStream, at: number, known: ReadonlyMap<number, FailureSummary>): FailureSummary {
  const ids = new Set<string>()
  let unnamed = 0
  for (const successor of stream.successorPositions(at)) {
    const event = stream.at(successor)
    if (event !== undefined && isFailed(event)) ids.add(event.id)
    const below = known.get(successor) ?? NO_FAILURES
    for (const id of below.ids) ids.add(id)
    unnamed += below.total - below.ids.length
  }
  return { ids: sortedById(ids, id => id).slice(0, FAILED_IDS_SHOWN), total: ids.size + unnamed }
}
