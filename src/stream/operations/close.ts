import { isFailed, isFinal, isSuperseded, isWaitingJoin } from '../event.ts'
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

/**
 * Closes events, releases the joins whose branches have ended and adds missing error summaries, in the whole document.
 * Children come before parents, so that a change takes effect above it in the same pass. A foreign join that can close
 * as soon as it is released needs another pass, as this one has passed it by then.
 */
export function settle(draft: Draft): void {
  if (draft.isSettled) return
  const { steps } = draft
  settleAll(draft)
  // After a pass without changes the next pass finds nothing either, unless a claim has to expire first.
  if (draft.steps === steps && !waitsForClaim(draft)) draft.markSettled()
}

/** Whether an event could close once the claim on it has expired. */
function waitsForClaim({ stream }: Draft): boolean {
  return stream.events.some((event, at) => event.lc.until !== undefined && !isFinal(event) && !stream.isLeaf(at))
}

function settleAll(draft: Draft): void {
  const failures = failureCounter(draft.stream)
  const order = draft.stream.childrenFirst()
  for (let again = true; again; ) {
    again = false
    for (const at of order) if (settleEvent(draft, at, failures)) again = true
  }
}

/** Returns true if it released a join that can close. */
function settleEvent(draft: Draft, at: number, failures: FailureCounter): boolean {
  const event = draft.at(at)
  if (isSuperseded(event) || (draft.stream.isLeaf(at) && !isFinal(event))) return false
  const join = draft.stream.waitingJoin(at)
  if (isFinal(event)) addMissingSummary(draft, at, failures)
  else if (join !== undefined) return releaseJoin(draft, at, join) && canClose(draft, join)
  else if (canClose(draft, at)) close(draft, at, failures)
  return false
}

/**
 * A waiting join becomes `init` when every other successor of the forking event has ended. After a retry a later join
 * may wait too: it waits for this one, not the other way round.
 */
function releaseJoin(draft: Draft, fork: number, join: number): boolean {
  const { stream } = draft
  if (stream.missingIds(fork).length > 0) return false
  const branches = stream.successorPositions(fork).map(at => draft.at(at))
  if (!branches.every(branch => isFinal(branch) || isWaitingJoin(branch))) return false
  // Its timeout counts from now: it could not be started before its branches ended.
  draft.patch(join, { lc: { join: undefined, opened: draft.now } })
  draft.setStatus(join, 'init', 'join')
  return true
}

function canClose(draft: Draft, at: number): boolean {
  const event = draft.at(at)
  const { stream } = draft
  const working = event.status === 'inprocess' || (event.status === 'init' && !stream.held)
  if (!working || isWaitingJoin(event) || claimRuns(event, draft.nowMs) || stream.missingIds(at).length > 0)
    return false
  const successors = stream.successorPositions(at)
  return successors.length > 0 && successors.every(successor => isFinal(draft.at(successor)))
}

function close(draft: Draft, at: number, failures: FailureCounter): void {
  writeErrorSummary(draft, at, failures)
  draft.setStatus(at, 'completed', 'close')
}

/** Marks a parent that ends with failures below it. Returns false, without a change, if there are none. */
export function writeErrorSummary(draft: Draft, at: number, failures = failureCounter(draft.stream)): boolean {
  const summary = failures(at)
  if (summary.total === 0) return false
  draft.patch(at, { lc: { outcome: 'errors', failed: failedText(summary) } })
  draft.setMessage(at, 'WithError')
  return true
}

/** Adds the summary to an event that a foreign writer closed. It is final: only our own attributes change. */
function addMissingSummary(draft: Draft, at: number, failures: FailureCounter): void {
  const event = draft.at(at)
  if (event.status !== 'completed' || event.lc.outcome !== undefined) return
  const summary = failures(at)
  if (summary.total === 0) return
  draft.patch(at, { lc: { outcome: 'errors', failed: failedText(summary) } })
  draft.isDirty = true
}

function failedText(summary: FailureSummary): string {
  const rest = summary.total - summary.ids.length
  return (rest > 0 ? [...summary.ids, `+${rest}`] : summary.ids).join('|')
}

/** Counts the failures below an event. Closing adds none, so the counts are valid during one evaluation. */
type FailureCounter = (position: number) => FailureSummary

const NO_FAILURES: FailureSummary = { ids: [], total: 0 }

function failureCounter(stream: EventStream): FailureCounter {
  let known: ReadonlyMap<number, FailureSummary> | undefined
  return position => {
    known ??= stream.events.some(event => isFailed(event) && !isSuperseded(event)) ? countFailures(stream) : new Map()
    return known.get(position) ?? NO_FAILURES
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
