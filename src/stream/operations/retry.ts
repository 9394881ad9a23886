import { attemptOf, isFailed, isFinal, isSuperseded, isWaitingJoin } from '../event.ts'
import { declaredJoins, eventsThatRan } from '../journal/history.ts'
import { cancelBelow } from './cancel-abort.ts'
import { checkNotEndedAbove, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import type { Operation, Refusal } from './operation.ts'
import { NOT_SUSPENDED } from './suspension.ts'

type Retry = Extract<Operation, { op: 'retry' }>

/** Reopens one event, or without a target all failed leaves that can be retried, with their ancestors. */
export function retry(draft: Draft, operation: Retry): Refusal | { readonly refused: readonly Refusal[] } {
  if (operation.event !== undefined) {
    return retryEvent(draft, draft.stream.positionOf(operation.event)) ?? { refused: [] }
  }
  const { reopened, refused } = retryLeaves(draft, operation.canceled === true)
  if (reopened > 0) return { refused }
  return refused[0] ?? refuse('not-failed', draft.at(0), 'no event is aborted or canceled; there is nothing to retry')
}

/** Reopens one aborted or canceled event and its ancestors; the events below it are superseded. */
function retryEvent(draft: Draft, position: number): Refusal | undefined {
  const joins = joinsOf(draft)
  const refusal = checkFailed(draft, position) ?? checkReopen(draft, position, joins)
  if (refusal !== undefined) return refusal
  cancelBelow(draft, position)
  for (const at of draft.stream.descendantPositions(position)) {
    if (!isSuperseded(draft.at(at))) draft.patch(at, { lc: { superseded: String(draft.version) } })
  }
  reopen(draft, position, joins)
  return undefined
}

function retryLeaves(
  draft: Draft,
  canceled: boolean,
): { readonly reopened: number; readonly refused: readonly Refusal[] } {
  const refused: Refusal[] = []
  const joins = joinsOf(draft)
  let reopened = 0
  const lowest = lowestFailures(draft)
  // Before anything is reopened: what was canceled with a failure above it would look as if it had been canceled alone.
  const withdrawn = new Set(canceled ? [] : lowest.filter(at => draft.stream.isWithdrawn(at)))
  for (const position of lowest) {
    // A join may have been reopened together with one of its branches.
    if (!isFailed(draft.at(position))) continue
    const refusal =
      (withdrawn.has(position) ? withdrawnRefusal(draft, position) : undefined) ??
      checkLeaf(draft, position) ??
      checkReopen(draft, position, joins)
    if (refusal !== undefined) refused.push(refusal)
    else {
      reopen(draft, position, joins)
      reopened++
    }
  }
  return { reopened, refused }
}

/** Failed events without failed events below; the ones above are reopened with them. */
function lowestFailures(draft: Draft): number[] {
  const { stream } = draft
  const failed = stream.events.flatMap((event, at) =>
    stream.counts(at) && isFailed(event) && !isSuperseded(event) ? [at] : [],
  )
  const above = new Set<number>()
  for (let queue = failed; queue.length > 0; ) {
    const following = new Set(queue.flatMap(at => stream.predecessorPositions(at)))
    queue = [...following].filter(at => !above.has(at))
    for (const at of queue) above.add(at)
  }
  return failed.filter(at => !above.has(at))
}

function checkFailed(draft: Draft, position: number): Refusal | undefined {
  const event = draft.at(position)
  if (isFailed(event)) return undefined
  const only = 'only aborted and canceled events can be retried'
  if (isFinal(event)) return refuse('already-final', event, `${event.id} is completed; ${only}`)
  return (
    checkNotEndedAbove(draft, position) ??
    refuse('not-failed', event, `${event.id} is ${event.status || 'of no status'}; ${only}`)
  )
}

/** An operator canceled it, or the stream: that was no failure. */
function withdrawnRefusal(draft: Draft, position: number): Refusal {
  const event = draft.at(position)
  const above = draft.stream.ancestorPositions(position).map(at => draft.at(at))
  const { id } = [event, ...above].findLast(({ status }) => status === 'canceled') ?? event
  return refuse('canceled', event, `${id} was canceled; retry it by name, or retry with --canceled`)
}

/** Refuses an event that had done its own work: a retry would replace events that were completed since. */
function checkLeaf(draft: Draft, position: number): Refusal | undefined {
  if (draft.stream.successorPositions(position).length === 0) return undefined
  const event = draft.at(position)
  return refuse(
    'already-advanced',
    event,
    `${event.id} is ${event.status} and has successors that did not fail; retry it by name to replace them`,
  )
}

function checkReopen(draft: Draft, position: number, joins: Joins): Refusal | undefined {
  const event = draft.at(position)
  const above = draft.stream.ancestorPositions(position)
  const replaced = [position, ...above].find(at => isSuperseded(draft.at(at)))
  if (replaced !== undefined) {
    const { id } = draft.at(replaced)
    return refuse(
      'not-failed',
      event,
      `${id} was replaced when an event above it was retried; retry the event that replaced it`,
    )
  }
  // An event that is not reachable from the root does not reopen it, and would be open in a stream that has ended.
  if (position !== 0 && !above.includes(0) && draft.stream.done) return checkNotEndedAbove(draft, position)
  return checkJoins(draft, position, joins)
}

/** Refuses to reopen a branch of a join that has run: the join has used the results of its branches. */
function checkJoins(draft: Draft, position: number, joins: Joins): Refusal | undefined {
  const ran = joins.above(position).find(joins.ran)
  if (ran === undefined) return undefined
  const event = draft.at(position)
  const join = draft.at(ran).id
  const message = `${join} joined the branch of ${event.id} and has run; retry ${join} or start a new stream`
  return refuse('join-ran', event, message)
}

function reopen(draft: Draft, position: number, joins: Joins): void {
  const above = draft.stream.ancestorPositions(position).filter(at => isFinal(draft.at(at)))
  reopenOne(draft, position, 'target')
  for (const at of above) reopenOne(draft, at, 'cascade')
  for (const at of joins.above(position)) waitAgain(draft, at)
}

function reopenOne(draft: Draft, position: number, how: 'target' | 'cascade' | 'join'): void {
  const event = draft.at(position)
  const attempt = attemptOf(event) + 1
  const waits = event.lc.join === 'wait'
  draft.dropClaim(position)
  draft.restoreMessage(position)
  draft.patch(position, {
    lc: { ...NOT_SUSPENDED, outcome: undefined, failed: undefined, opened: draft.now, attempt: String(attempt) },
  })
  const status = how === 'target' && !waits && !draft.stream.isRoot(event) ? 'init' : 'inprocess'
  draft.setStatus(position, status, how, { attempt })
}

/** A join that never ran waits again for the reopened branch. */
function waitAgain(draft: Draft, position: number): void {
  const event = draft.at(position)
  if (isWaitingJoin(event)) return
  draft.patch(position, { lc: { join: 'wait' } })
  if (isFinal(event)) reopenOne(draft, position, 'join')
  else draft.setStatus(position, 'inprocess', 'join')
}

/** The joins of a stream, looked up once per retry. */
interface Joins {
  /** Joins beside the path from the event to the root. */
  above(position: number): number[]
  /** Whether the join may have used the results of its branches. */
  ran(position: number): boolean
}

function joinsOf(draft: Draft): Joins {
  const { stream, transactions } = draft
  const byFork = joinsByFork(draft)
  const ran = eventsThatRan(transactions)
  return {
    above(position) {
      const above = stream.ancestorPositions(position)
      const path = new Set([position, ...above])
      return above.flatMap(at => byFork.get(at) ?? []).filter(at => !path.has(at))
    },
    ran(position) {
      const event = draft.at(position)
      // A join that waits now goes on waiting, whatever happened to it before.
      if (isWaitingJoin(event)) return false
      if (event.status === 'completed' || event.status === 'aborted') return true
      return event.status === 'inprocess' || event.lc.owner !== undefined || ran.has(event.id)
    },
  }
}

/** Waiting and released joins, by the position of the forking event. */
function joinsByFork({ stream, transactions, changes }: Draft): ReadonlyMap<number, readonly number[]> {
  const ids = declaredJoins(transactions)
  for (const { event, how } of changes) if (how === 'join') ids.add(event)
  const byFork = new Map<number, number[]>()
  stream.events.forEach((event, at) => {
    if (!stream.counts(at) || (event.lc.join === undefined && !ids.has(event.id))) return
    if (event.lc.superseded !== undefined) return
    for (const fork of stream.predecessorPositions(at)) byFork.set(fork, [...(byFork.get(fork) ?? []), at])
  })
  return byFork
}
