import { attemptOf, isFailed, isFinal, isGated, isSuperseded, isUndo, type StreamEvent } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import { GATE_ATTRIBUTES, gateIds, isCanceledByGate, progressOf } from '../gate.ts'
import { declaredGates, eventsThatRan } from '../journal/history.ts'
import type { ChangeCause, Transaction } from '../journal/journal.ts'
import { checkNotEndedAbove, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import { closeGate } from './gates.ts'
import type { Operation, Refusal } from './operation.ts'
import { NOT_SUSPENDED } from './suspension.ts'
import { gateUndoSteps } from './undo.ts'

type Retry = Extract<Operation, { op: 'retry' }>

/** Reopens one event, or without a target all failed leaves that can be retried, with their ancestors. */
export function retry(draft: Draft, operation: Retry): Refusal | { readonly refused: readonly Refusal[] } {
  if (operation.event !== undefined) {
    return retryEvent(draft, draft.stream.positionOf(operation.event)) ?? { refused: [] }
  }
  // Undo steps that were canceled are undone no more than those that failed.
  const isUndoing = draft.at(0).lc.outcome === 'compensation-failed'
  const { reopened, refused } = retryLeaves(draft, isUndoing || operation.canceled === true)
  if (reopened > 0) return { refused }
  return refused[0] ?? refuse('not-failed', draft.at(0), 'no event is aborted or canceled; there is nothing to retry')
}

/** Reopens one aborted or canceled event and its ancestors; the events below it are superseded. */
function retryEvent(draft: Draft, position: number): Refusal | undefined {
  const gates = gatesOf(draft)
  const refusal = checkFailed(draft, position) ?? checkReopen(draft, position, gates)
  if (refusal !== undefined) return refusal
  draft.cancelBelow(position)
  for (const at of draft.stream.descendantPositions(position)) {
    if (!isSuperseded(draft.at(at))) draft.patch(at, { lc: { superseded: String(draft.version) } })
  }
  reopen(draft, position, gates)
  return undefined
}

function retryLeaves(
  draft: Draft,
  canceled: boolean,
): { readonly reopened: number; readonly refused: readonly Refusal[] } {
  const refused: Refusal[] = []
  const gates = gatesOf(draft)
  const reopened: number[] = []
  const lowest = lowestFailures(draft)
  // Before anything is reopened: what was canceled with a failure above it would look as if it had been canceled alone.
  const withdrawn = new Set(canceled ? [] : lowest.filter(at => draft.stream.isWithdrawn(at)))
  for (const position of lowest) {
    // A join may have been reopened together with one of its branches.
    if (!isFailed(draft.at(position))) continue
    const refusal =
      (withdrawn.has(position) ? withdrawnRefusal(draft, position) : undefined) ??
      checkLeaf(draft, position) ??
      checkReopen(draft, position, gates)
    if (refusal !== undefined) refused.push(refusal)
    else {
      reopen(draft, position, gates)
      reopened.push(position)
    }
  }
  gateUndoSteps(draft, reopened)
  return { reopened: reopened.length, refused }
}

/** Failed events without failed events below; the ones above are reopened with them. */
function lowestFailures(draft: Draft): number[] {
  const { stream } = draft
  // What was canceled because its gate could not open is reopened with what it waits for.
  const isUndoing = draft.at(0).lc.outcome === 'compensation-failed'
  const failed = stream.events.flatMap((event, at) => {
    const counts = stream.counts(at) && isFailed(event) && !isSuperseded(event)
    return counts && !isCanceledByGate(stream, event) && (!isUndoing || isBelowUndo(draft, at)) ? [at] : []
  })
  const above = new Set<number>()
  for (let queue = failed; queue.length > 0; ) {
    const following = new Set(queue.flatMap(at => stream.predecessorPositions(at)))
    queue = [...following].filter(at => !above.has(at))
    for (const at of queue) above.add(at)
  }
  return failed.filter(at => !above.has(at))
}

function isBelowUndo(draft: Draft, position: number): boolean {
  return [position, ...draft.stream.ancestorPositions(position)].some(at => isUndo(draft.at(at)))
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

function checkReopen(draft: Draft, position: number, gates: Gates): Refusal | undefined {
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
  return checkGates(draft, position, gates)
}

/**
 * Refuses to reopen an event if another has begun since because it had ended: that one has used its result. Refuses a
 * gated event, too, if what it waits for has failed.
 */
function checkGates(draft: Draft, position: number, gates: Gates): Refusal | undefined {
  const event = draft.at(position)
  if (event.lc.wait !== undefined && progressOf(draft.stream, event) === 'failed') {
    const ids = gateIds(event).join(' ')
    return refuse(
      'waiting',
      event,
      `${event.id} waits for ${ids}, which did not complete; retry that, and ${event.id} follows`,
    )
  }
  // What follows in an undo sequence uses no results.
  const ran = gates.waitingFor(position).find(at => gates.ran(at) && !isUndo(draft.at(at)))
  if (ran === undefined) return undefined
  const { id, status } = draft.at(ran)
  const what = gates.isJoin(ran) ? 'joined the branch of' : 'waited for'
  const retryIt = isFailed({ status }) ? `retry ${id} or ` : ''
  const message = `${id} ${what} ${event.id} and has run; ${retryIt}start a new stream`
  return refuse('join-ran', event, message)
}

function reopen(draft: Draft, position: number, gates: Gates): void {
  reopenWithAncestors(draft, position, 'target')
  const reopened = [position]
  for (const at of reopened) {
    for (const waiting of gates.waitingFor(at)) if (waitAgain(draft, waiting, gates)) reopened.push(waiting)
  }
}

function reopenWithAncestors(draft: Draft, position: number, how: 'target' | 'join' | 'gate'): void {
  const above = draft.stream.ancestorPositions(position).filter(at => isFinal(draft.at(at)))
  reopenOne(draft, position, how)
  for (const at of above) reopenOne(draft, at, 'cascade')
}

function reopenOne(draft: Draft, position: number, how: 'target' | 'cascade' | 'join' | 'gate'): void {
  const event = draft.at(position)
  const attempt = attemptOf(event) + 1
  const gate = position === 0 ? undoing(event) : closedGate(event)
  draft.dropClaim(position)
  if (position !== 0 || gate === undefined) draft.restoreMessage(position)
  // What closes again by itself has not lost its own work.
  if (how === 'target') draft.dropResult(position)
  draft.patch(position, {
    lc: {
      ...NOT_SUSPENDED,
      outcome: undefined,
      failed: undefined,
      skipped: undefined,
      opened: draft.now,
      attempt: String(attempt),
      ...(position === 0 ? gate : {}),
    },
  })
  const isReady = how === 'target' && gate === undefined && !draft.stream.isRoot(event)
  draft.setStatus(position, isReady ? 'init' : 'inprocess', how, {
    attempt,
    ...(gate === undefined ? {} : { lc: gate }),
  })
}

/** What a root that is reopened keeps: that the stream is undoing what it did. */
function undoing({ lc }: StreamEvent): StreamEvent['lc'] | undefined {
  return lc.ending === undefined ? undefined : { outcome: 'compensating', ending: lc.ending }
}

/** The gate that kept the event closed until it ended. */
function closedGate({ lc }: StreamEvent): StreamEvent['lc'] | undefined {
  if (lc.wait === undefined) return undefined
  return Object.fromEntries(GATE_ATTRIBUTES.flatMap(name => (lc[name] === undefined ? [] : [[name, lc[name]]])))
}

/**
 * An event whose gate had opened, but that never ran, waits again for the reopened event; one that was canceled with it
 * is reopened. Returns true if it was reopened.
 */
function waitAgain(draft: Draft, position: number, gates: Gates): boolean {
  const event = draft.at(position)
  if (isGated(event) || event.status === 'completed') return false
  const how = gates.isJoin(position) ? 'join' : 'gate'
  if (!isFinal(event)) {
    closeGate(draft, position, gates.conditions(position), how)
    return false
  }
  // It was canceled alone, not with what it waits for.
  if (how === 'gate' && !gates.wasCascaded(position)) return false
  if (event.lc.wait === undefined) draft.patch(position, { lc: { wait: 'yes', ...gates.conditions(position) } })
  reopenWithAncestors(draft, position, how)
  return true
}

/** The gates of a stream, looked up once per retry. */
interface Gates {
  /** The joins beside the path from the event to the root, and the events gated after one on that path or below it. */
  waitingFor(position: number): number[]
  /** Whether the event may have used the results of those that it waited for. */
  ran(position: number): boolean
  isJoin(position: number): boolean
  /** The events that its gate was to wait for: what else it waited for has come. */
  conditions(position: number): StreamEvent['lc']
  /** Whether the event ended because another one did. */
  wasCascaded(position: number): boolean
}

function gatesOf(draft: Draft): Gates {
  const { stream, transactions, changes } = draft
  const declared = declaredGates(transactions)
  const released = new Set(changes.flatMap(({ event, how }) => (how === 'join' ? [event] : [])))
  const gateOf = (event: StreamEvent) => {
    const { join = released.has(event.id) ? 'wait' : undefined, after } = { ...declared.get(event.id), ...event.lc }
    return { ...(join === undefined ? {} : { join: 'wait' }), ...(after === undefined ? {} : { after }) }
  }
  const { joins, after } = gatesByCause(stream, gateOf)
  const ran = eventsThatRan(transactions)
  return {
    waitingFor(position) {
      const above = stream.ancestorPositions(position)
      const path = new Set([position, ...above])
      const below = stream.descendantPositions(position)
      const named = [...path, ...below].flatMap(at => after.get(draft.at(at).id) ?? [])
      const waiting = [...above.flatMap(at => joins.get(at) ?? []), ...named]
      // The events below the target of a retry have just been superseded.
      return waiting.filter(at => !path.has(at) && !isSuperseded(draft.at(at)))
    },
    ran(position) {
      const event = draft.at(position)
      // What waits now goes on waiting, whatever happened to it before.
      if (isGated(event)) return false
      if (event.status === 'completed' || event.status === 'aborted') return true
      return event.status === 'inprocess' || event.lc.owner !== undefined || ran.has(event.id)
    },
    isJoin: position => gateOf(draft.at(position)).join !== undefined,
    conditions: position => gateOf(draft.at(position)),
    wasCascaded: position => lastCause(transactions, draft.at(position).id) === 'cascade',
  }
}

/** The joins by the position of the forking event, and the gated events by the id that they wait for. */
function gatesByCause(stream: EventStream, gateOf: (event: StreamEvent) => StreamEvent['lc']) {
  const joins = new Map<number, readonly number[]>()
  const after = new Map<string, readonly number[]>()
  for (const [at, event] of stream.events.entries()) {
    if (!stream.counts(at) || isSuperseded(event)) continue
    const gate = gateOf(event)
    if (gate.join !== undefined) {
      for (const fork of stream.predecessorPositions(at)) joins.set(fork, [...(joins.get(fork) ?? []), at])
    }
    for (const id of gateIds({ ...event, lc: gate })) after.set(id, [...(after.get(id) ?? []), at])
  }
  return { joins, after }
}

function lastCause(transactions: readonly Transaction[], id: string): ChangeCause | undefined {
  const changes = transactions.flatMap(transaction => transaction.changes)
  return changes.findLast(({ event, attr }) => event === id && attr === undefined)?.how
}
