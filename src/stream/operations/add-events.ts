import type { EventAttributes } from '../event.ts'
import { isLinkable, laterStepId, nextForkIds, nextStepId, ROOT_ID } from '../event-id.ts'
import { checkClaim, checkNotEndedAbove, checkNotGated, refuse } from './checks.ts'
import type { Draft } from './draft.ts'
import { checkGates, checkPlan, newGate } from './gates.ts'
import type { EventSpec, Operation, Refusal, StepSpec } from './operation.ts'

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
  return addSuccessors(draft, 0, operation)
}

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
  const refusal = checkGates(draft, position, specs) ?? checkPlan(draft, position, steps)
  if (refusal !== undefined) return refusal
  const { id } = draft.at(position)
  const ids = () => draft.stream.events.map(event => event.id)
  if (next !== undefined) addSuccessor(draft, position, nextStepId(ids(), id), next)
  const forkIds = nextForkIds(ids(), id, forks.length)
  forks.forEach((spec, at) => {
    addSuccessor(draft, position, forkIds[at] ?? '', spec)
  })
  addSteps(draft, position, steps)
  if (join !== undefined) addSuccessor(draft, position, nextStepId(ids(), id), join, true)
  return undefined
}

/** Adds a plan: each thread is a new one, and a step is gated after those that it needs. */
function addSteps(draft: Draft, position: number, steps: readonly StepSpec[]): void {
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
  steps.forEach(({ thread: _, needs, after = [], ...spec }, at) => {
    const ids = needs.flatMap(need => stepIds[need] ?? [])
    addSuccessor(draft, position, stepIds[at] ?? '', { ...spec, after: [...after, ...ids] })
  })
}

function addSuccessor(draft: Draft, position: number, id: string, spec: EventSpec, isJoin = false): void {
  const before = draft.at(position)
  const next = before.next === '' ? id : `${before.next}|${id}`
  const gate = newGate(spec, isJoin)
  draft.patch(position, { attributes: { next } })
  draft.add(
    {
      ...attributesOf(spec, before.trackingId),
      id,
      // A gated event is inprocess, so that no .NET writer closes the events above it or picks it up too early.
      status: gate.wait === undefined ? 'init' : 'inprocess',
      prev: before.id,
    },
    {
      ...(spec.onDue === undefined ? {} : { onDue: spec.onDue }),
      ...(spec.auto === true ? { auto: 'yes' } : {}),
      ...gate,
    },
    spec.data,
  )
}

/** The attributes of a new event; the correlation id is inherited unless given. */
function attributesOf(spec: EventSpec, inheritedTrackingId: string): Partial<EventAttributes> {
  const {
    onDue: _,
    after: __,
    signal: ___,
    delay: ____,
    wake: _____,
    auto: ______,
    data: _______,
    ...attributes
  } = spec
  return { ...attributes, trackingId: spec.trackingId ?? inheritedTrackingId }
}
