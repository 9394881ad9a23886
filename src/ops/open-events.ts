import { isAbandoned, isHeldStream, isSuspended } from '../stream/state.ts'
import { cutCount, type Summary } from '../stream/summary.ts'
import { type GatedEvent, gatedEvent, type RunningEvent, readyName, runningEvent } from '../stream/summary-items.ts'

export { isAbandoned } from '../stream/state.ts'

/**
 * `abandoned`: the claim has ended, so the worker is silent. `held`: the stream waits for its release. `suspended`: it
 * is neither worked on nor can it be started, because its stream is suspended.
 */
export type OpenState = 'ready' | 'running' | 'abandoned' | 'held' | 'suspended'

/** An event that a stream waits on, from its summary. */
export interface OpenEvent {
  /** `''` where the summary does not connect it with the name. */
  readonly id: string
  readonly name: string
  readonly state: OpenState
  /** The claim of a running or abandoned event. */
  readonly claim?: RunningEvent
}

/** Conditions of one and the same open event. */
export interface OpenEventFilter {
  /** Owners of running events. */
  readonly owner?: readonly string[]
  /** Names of ready or running events. */
  readonly waitingOn?: readonly string[]
  readonly eventState?: readonly string[]
}

type Lists = Pick<Summary, 'status' | 'root' | 'waitingOn' | 'ready' | 'running' | 'gated' | 'suspendedMs'>

/** The ready and running events of a summary, without those cut from its lists. */
export function openEvents(summary: Lists, nowMs: number): OpenEvent[] {
  const { root, waitingOn, ready } = summary
  if (isHeldStream(summary)) return waitingOn.map(id => ({ id, name: root, state: 'held' }))
  const claims = runningClaims(summary)
  const taken: OpenEvent[] = claims.map(claim => {
    return { id: claim.id, name: claim.name, state: stateOf(claim, summary, nowMs), claim }
  })
  return ready.length === 0 ? taken : readyEvents(summary, claims).concat(taken)
}

/**
 * The lists are sorted by id, so the ids without a running or gated event are those of the ready events if their numbers
 * match.
 */
function readyEvents(summary: Lists, claims: readonly RunningEvent[]): OpenEvent[] {
  const { waitingOn, ready, running, gated } = summary
  const others = new Set([claims, gatedEvents(summary)].flatMap(events => events.map(({ id }) => id)))
  const readyIds = others.size === 0 ? waitingOn : waitingOn.filter(id => !others.has(id))
  const isCutBeside = cutCount(running.at(-1)) > 0 || cutCount(gated.at(-1)) > 0
  const match = !isCutBeside && sizeOf(readyIds) === sizeOf(ready)
  const startable = ready.filter(item => cutCount(item) === 0)
  const state = isSuspended(summary) ? 'suspended' : 'ready'
  return startable.map((item, at) => ({ id: idAt(match, readyIds, at), name: readyName(item), state }))
}

/** The running and abandoned events of a summary, without those cut from its list. */
export function runningClaims(summary: Pick<Summary, 'running'> | undefined): RunningEvent[] {
  return (summary?.running ?? []).map(runningEvent).filter(event => event !== undefined)
}

/** The events with a closed gate of a summary, without those cut from its list. */
export function gatedEvents(summary: Pick<Summary, 'gated'> | undefined): GatedEvent[] {
  return (summary?.gated ?? []).map(gatedEvent).filter(event => event !== undefined)
}

/** Whether the summary leaves out ready or running events: the document has them all. */
export function isCut({ ready, running }: Pick<Summary, 'ready' | 'running'>): boolean {
  return cutCount(ready.at(-1)) > 0 || cutCount(running.at(-1)) > 0
}

/** Whether a filter has conditions of open events. */
export function filtersEvents({ owner, waitingOn, eventState }: OpenEventFilter): boolean {
  return owner !== undefined || waitingOn !== undefined || eventState !== undefined
}

/** Whether one event meets all conditions. */
export function passesEvent({ name, state, claim }: OpenEvent, filter: OpenEventFilter): boolean {
  const { owner, waitingOn, eventState } = filter
  if (eventState !== undefined && !eventState.includes(state)) return false
  if (waitingOn !== undefined && (state === 'held' || !waitingOn.includes(name))) return false
  return owner === undefined || (claim !== undefined && owner.includes(claim.owner))
}

function stateOf(claim: RunningEvent, summary: Lists, nowMs: number): OpenState {
  if (!isAbandoned(claim, nowMs)) return 'running'
  return isSuspended(summary) ? 'suspended' : 'abandoned'
}

/** `''` for an id that was cut. */
function idAt(match: boolean, ids: readonly string[], at: number): string {
  const id = match ? (ids[at] ?? '') : ''
  return cutCount(id) > 0 ? '' : id
}

/** The number of items of a list, including those that its last item `+N` counts. */
function sizeOf(items: readonly string[]): number {
  const cut = cutCount(items.at(-1))
  return cut === 0 ? items.length : items.length - 1 + cut
}
