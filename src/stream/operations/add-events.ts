import type { EventAttributes } from '../event.ts'
import { isLinkable, nextForkIds, nextStepId, ROOT_ID } from '../event-id.ts'
import { checkClaim, checkNotEndedAbove, checkNotWaitingJoin, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import type { EventSpec, Operation, Refusal } from './operation.ts'

type Init = Extract<Operation, { op: 'init' }>

/** Creates the root and an optional first fork. A document with an event is refused as `exists`. */
export function init(draft: Draft, operation: Init): Refusal | undefined {
  const { root } = draft.stream
  if (root !== undefined) {
    return refuse('exists', root, `the stream exists; its root ${root.id} is ${root.status || 'of no status'}`)
  }
  const { onDue } = operation.root
  draft.add(
    { ...attributesOf(operation.root, ''), id: ROOT_ID, status: operation.hold ? 'init' : 'inprocess' },
    onDue === undefined ? {} : { onDue },
    operation.root.data,
  )
  addSuccessors(draft, 0, operation)
  return undefined
}

type Advance = Extract<Operation, { op: 'advance' }>

/** Ends the event's own work: adds successors and drops the claim. The event stays open until they end. */
export function advance(draft: Draft, position: number, operation: Advance): Refusal | undefined {
  const event = draft.at(position)
  const refusal =
    checkClaim(draft, event, operation) ?? checkNotEndedAbove(draft, position) ?? checkNotWaitingJoin(event)
  if (refusal !== undefined) return refusal
  if (!isLinkable(event.id)) {
    return refuse(
      'unlinkable-id',
      event,
      `the id ${JSON.stringify(event.id)} cannot be named by successors; complete or fail the event`,
    )
  }
  const { events, missing } = draft.stream.successors(event)
  if (events.length + missing.length > 0 && operation.more !== true) {
    return refuse('already-advanced', event, `${event.id} has successors already; --more adds further ones`)
  }
  if (operation.join !== undefined && draft.stream.waitingJoin(position) !== undefined) {
    return refuse('join-waiting', event, `${event.id} has a waiting join already; only one can wait at a time`)
  }
  draft.dropClaim(position)
  draft.attach(position, 'result', operation.result)
  draft.setStatus(position, 'inprocess', 'target')
  addSuccessors(draft, position, operation)
  return undefined
}

/** Adds the next step, the forks and their join, in this order, as successors. */
function addSuccessors(draft: Draft, position: number, specs: Pick<Advance, 'next' | 'forks' | 'join'>): void {
  const { id } = draft.at(position)
  const ids = () => draft.stream.events.map(event => event.id)
  if (specs.next !== undefined) addSuccessor(draft, position, nextStepId(ids(), id), specs.next)
  const forkIds = nextForkIds(ids(), id, specs.forks.length)
  specs.forks.forEach((spec, at) => {
    addSuccessor(draft, position, forkIds[at] ?? '', spec)
  })
  if (specs.join !== undefined) addSuccessor(draft, position, nextStepId(ids(), id), specs.join, 'wait')
}

function addSuccessor(draft: Draft, position: number, id: string, spec: EventSpec, join?: 'wait'): void {
  const before = draft.at(position)
  const next = before.next === '' ? id : `${before.next}|${id}`
  draft.patch(position, { attributes: { next } })
  draft.add(
    {
      ...attributesOf(spec, before.trackingId),
      id,
      // A waiting join is inprocess, so that no .NET writer closes the fork or picks the join up too early.
      status: join === 'wait' ? 'inprocess' : 'init',
      prev: before.id,
    },
    { ...(spec.onDue === undefined ? {} : { onDue: spec.onDue }), ...(join === undefined ? {} : { join }) },
    spec.data,
  )
}

/** The attributes of a new event; the correlation id is inherited unless given. */
function attributesOf(spec: EventSpec, inheritedTrackingId: string): Partial<EventAttributes> {
  const { onDue: _, data: __, ...attributes } = spec
  return { ...attributes, trackingId: spec.trackingId ?? inheritedTrackingId }
}
