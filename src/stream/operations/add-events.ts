import { type EventAttributes, isUndo, type LcAttributeName, type Status, type StreamEvent } from '../event.ts'
import { isLinkable, laterStepId, nextForkIds, nextStepId, ROOT_ID } from '../event-id.ts'
import { END_SIGNAL } from '../session.ts'
import { checkClaim, checkNotEndedAbove, checkNotGated, refuse, withoutEvent } from './checks.ts'
import type { Draft } from './draft.ts'
import { checkGates, checkPlan, newGate } from './gates.ts'
import type { EventSpec, Operation, Refusal, StepSpec } from './operation.ts'

type Init = Extract<Operation, { op: 'init' }>

/** Creates the root and an optional first fork. A document with an event is refused as `exists`. */
export function init(draft: Draft, operation: Init): Refusal | undefined {
  const { root } = draft.stream
  if (root !== undefined) {
    return refuse('exists', root, `the stream exists; its root is ${root.status || 'of no status'}`)
  }
  const { session = false, onFailure = session ? 'block' : undefined } = operation
  draft.add(
    { ...attributesOf(operation.root, ''), id: ROOT_ID, status: operation.hold ? 'init' : 'inprocess' },
    {
      ...ownAttributesOf(operation.root),
      ...(onFailure === undefined || onFailure === 'continue' ? {} : { onFailure }),
      ...(session ? { session: FIRST_STEP } : {}),
    },
    operation.root.data,
  )
  const steps = session ? [{ ...SESSION_END, thread: 0, needs: [] }] : operation.steps
  const refusal = addSuccessors(draft, 0, { ...operation, ...(steps && { steps }) })
  return refusal && withoutEvent(refusal)
}

/** The id of the event that ends a session. */
const FIRST_STEP = '01.00'

/** It needs no worker, and keeps every writer from closing the stream while more may come. */
const SESSION_END: EventSpec = { name: 'End', signal: END_SIGNAL, auto: true }

type Advance = Extract<Operation, { op: 'advance' }>

/** Ends the event's own work: adds successors and drops the claim. The event stays open until they end. */
export function advance(draft: Draft, position: number, operation: Advance): Refusal | undefined {
  const event = draft.at(position)
  const refusal = checkClaim(draft, event, operation) ?? checkNotEndedAbove(draft, position) ?? checkNotGated(event)
  if (refusal !== undefined) return refusal
  if (!isLinkable(event.id)) {
    return refuse(
      'unlinkable-id',
      event,
      `the id ${JSON.stringify(event.id)} cannot be named by successors; complete or fail the event`,
    )
  }
  if (position === 0 && draft.stream.compensating) {
    return refuse('compensating', event, 'the stream is undoing what it did; nothing can be added to it')
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
  return addSuccessors(draft, position, operation)
}

type Successors = Pick<Advance, 'next' | 'forks' | 'join' | 'steps'>

/** Adds the next step, the forks, the plan and the join, in this order, as successors. */
function addSuccessors(
  draft: Draft,
  position: number,
  { next, forks, steps = [], join }: Successors,
): Refusal | undefined {
  const specs = [...(next === undefined ? [] : [next]), ...forks, ...steps, ...(join === undefined ? [] : [join])]
  const refusal =
    checkGates(draft, position, specs) ?? checkPlan(draft, position, steps) ?? checkUndo(draft, position, specs)
  if (refusal !== undefined) return refusal
  const { id } = draft.at(position)
  const ids = () => draft.stream.events.map(event => event.id)
  if (next !== undefined) addSuccessor(draft, position, nextStepId(ids(), id), next)
  const forkIds = nextForkIds(ids(), id, forks.length)
  forks.forEach((spec, at) => {
    addSuccessor(draft, position, forkIds[at] ?? '', spec)
  })
  addSteps(draft, position, steps)
  if (join !== undefined) addSuccessor(draft, position, nextStepId(ids(), id), join, { isJoin: true })
  return undefined
}

/** Refuses an undo of what is itself an undo: the sequence would have no end. */
export function checkUndo(draft: Draft, position: number, specs: readonly EventSpec[]): Refusal | undefined {
  const spec = specs.find(({ undo }) => undo !== undefined)
  if (spec === undefined) return undefined
  const undo = [position, ...draft.stream.ancestorPositions(position)].map(at => draft.at(at)).find(isUndo)
  return (
    undo &&
    refuse(
      'bad-undo',
      draft.at(position),
      `${spec.name} is part of ${undo.id} ${undo.name}, an undo: it cannot be undone`,
    )
  )
}

/** A step with further attributes of leasectl. */
export type PlannedStep = StepSpec & { readonly lc?: StreamEvent['lc'] }

/** Adds a plan: each thread is a new one, and a step is gated after those that it needs. */
export function addSteps(draft: Draft, position: number, steps: readonly PlannedStep[]): void {
  const { id } = draft.at(position)
  const threads = steps.reduce((most, { thread }) => Math.max(most, thread + 1), 0)
  const firstIds = nextForkIds(
    draft.stream.events.map(event => event.id),
    id,
    threads,
  )
  const lengths = new Array<number>(threads).fill(0)
  const stepIds = steps.map(({ thread }) => {
    const step = lengths[thread] ?? 0
    lengths[thread] = step + 1
    return laterStepId(firstIds[thread] ?? '', step)
  })
  steps.forEach(({ thread: _, needs, after = [], lc = {}, ...spec }, at) => {
    const ids = needs.flatMap(need => stepIds[need] ?? [])
    addSuccessor(draft, position, stepIds[at] ?? '', { ...spec, after: [...after, ...ids] }, { lc })
  })
}

/** What an event has beside its attributes. */
interface AddedState {
  readonly isJoin?: boolean
  readonly lc?: StreamEvent['lc']
  readonly status?: Status
}

/** Adds one successor of an event. */
export function addSuccessor(
  draft: Draft,
  position: number,
  id: string,
  spec: EventSpec,
  { isJoin = false, lc = {}, status }: AddedState = {},
): void {
  const before = draft.at(position)
  const next = before.next === '' ? id : `${before.next}|${id}`
  const gate = newGate(spec, isJoin)
  draft.patch(position, { attributes: { next } })
  draft.add(
    {
      ...attributesOf(spec, before.trackingId),
      id,
      // A gated event is inprocess, so that no .NET writer closes the events above it or picks it up too early.
      status: status ?? (gate.wait === undefined ? 'init' : 'inprocess'),
      prev: before.id,
    },
    { ...ownAttributesOf(spec), ...gate, ...lc },
    spec.data,
  )
}

/** The attributes of leasectl that a new event has, without its gate. */
function ownAttributesOf({ onDue, auto, retry, attemptTimeout, undo }: EventSpec): StreamEvent['lc'] {
  const given = { onDue, retry, attemptTimeout, undo, auto: auto === true ? 'yes' : undefined }
  const lc: { [Name in LcAttributeName]?: string } = {}
  for (const [name, value] of Object.entries(given)) if (value !== undefined) lc[name as LcAttributeName] = value
  return lc
}

/** The attributes of a new event; the correlation id is inherited unless given. */
function attributesOf(spec: EventSpec, inheritedTrackingId: string): Partial<EventAttributes> {
  const { name, topic, key, msg, ref, tag, timeout, trackingId = inheritedTrackingId } = spec
  const given = { name, topic, key, msg, ref, tag, timeout, trackingId }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
