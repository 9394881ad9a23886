/**
 * Gates: the conditions that must hold before an event can be claimed.
 *
 * A gated event is `inprocess` without an owner and has `lc:wait="yes"`, so that a .NET writer neither picks it up nor
 * closes the events above it. The conditions are the attributes beside `lc:wait`; each that holds is removed, and with
 * the last one the gate opens.
 */
import {
  isFailed,
  isFinal,
  isGated,
  isSkipped,
  isSuperseded,
  isUndo,
  type LcAttributeName,
  type StreamEvent,
} from './event.ts'
import type { EventStream } from './event-stream.ts'
import { readTime } from './time/dates.ts'
import { parseTimeSpan } from './time/durations.ts'

/** The attributes of a gate: the mark, then the conditions in the order in which they are evaluated. */
export const GATE_ATTRIBUTES = [
  'wait',
  'join',
  'step',
  'after',
  'signal',
  'delay',
  'wake',
] as const satisfies LcAttributeName[]

/** Maximum number of events that one gate names. */
export const MAX_GATE_EVENTS = 100

/** What a gated event waits for first. */
export type WaitsFor =
  /** The other branches of its fork. */
  | { readonly kind: 'branches' }
  /** The step of this number of the session, which has not come. */
  | { readonly kind: 'step'; readonly step: number }
  /** The events with these ids. */
  | { readonly kind: 'after'; readonly ids: readonly string[] }
  | { readonly kind: 'signal'; readonly name: string }
  /** A time, epoch ms; `undefined` if the text is unreadable: then it never comes. */
  | { readonly kind: 'timer'; readonly wakeMs: number | undefined }

/** What the event waits for first; `undefined` without a closed gate. */
export function waitsFor(event: StreamEvent): WaitsFor | undefined {
  if (!isGated(event)) return undefined
  const { join, step, after, signal, wake } = event.lc
  if (join !== undefined) return { kind: 'branches' }
  if (step !== undefined && /^\d{1,15}$/.test(step)) return { kind: 'step', step: Number(step) }
  if (after !== undefined) return { kind: 'after', ids: gateIds(event) }
  if (signal !== undefined) return { kind: 'signal', name: signal }
  return { kind: 'timer', wakeMs: wake === undefined ? undefined : readTime(wake) }
}

/** Whether a signal is all that the event waits for: only then does its timeout run. */
export function waitsForSignalOnly(event: StreamEvent): boolean {
  return isGated(event) && areSignalOnly(event.lc)
}

/** Whether a signal is the only condition left of a gate: a delay begins after it. */
export function areSignalOnly({ join, step, after, signal, wake }: StreamEvent['lc']): boolean {
  return signal !== undefined && (join ?? step ?? after) === undefined && wake === undefined
}

/** The time that the event waits for, epoch ms, if nothing else keeps its gate closed. */
export function wakeMs(event: StreamEvent): number | undefined {
  const what = waitsFor(event)
  return what?.kind === 'timer' ? what.wakeMs : undefined
}

/** The ids in `lc:after`. */
export function gateIds({ lc }: { readonly lc: { readonly after?: string | undefined } }): readonly string[] {
  return (lc.after ?? '').split('|').filter(id => id !== '')
}

/** The delay in `lc:delay`, ms; 0 if it is unreadable. */
export function delayMs(event: StreamEvent): number {
  const span = parseTimeSpan(event.lc.delay ?? '')
  return span === undefined || span.negative ? 0 : span.ms
}

/**
 * How far the events named by `lc:after` are: `failed` if one has ended without being passed. A skipped event is passed,
 * and within an undo sequence a failure does not stop the rest.
 */
export type GateProgress = 'open' | 'passed' | 'failed'

/** Progress of the events that the gate names; `passed` without any. An unknown id is open. */
export function progressOf(stream: EventStream, event: StreamEvent): GateProgress {
  let open = false
  for (const id of gateIds(event)) {
    const named = namedEvent(stream, id)
    if (named === undefined || !isFinal(named)) open = true
    else if (isFailed(named) && !isSkipped(named) && !isUndo(named)) return 'failed'
  }
  return open ? 'open' : 'passed'
}

/** Whether the event was canceled because an event that its gate names had failed. */
export function isCanceledByGate(stream: EventStream, event: StreamEvent): boolean {
  return event.status === 'canceled' && event.lc.after !== undefined && progressOf(stream, event) === 'failed'
}

/** The event that counts for an id in a gate: for a superseded one, the event above it that was retried. */
function namedEvent(stream: EventStream, id: string): StreamEvent | undefined {
  const position = stream.positionOf(id)
  const event = stream.at(position)
  if (event === undefined || !isSuperseded(event)) return event
  const above = stream.ancestorPositions(position).flatMap(at => stream.at(at) ?? [])
  return above.find(({ lc }) => lc.superseded === undefined)
}

/** Positions of the gated events by the id that their `lc:after` names. Ended ones are included. */
export function gatedAfter(stream: EventStream): ReadonlyMap<string, readonly number[]> {
  const gated = new Map<string, number[]>()
  for (const [at, event] of stream.events.entries()) {
    if (event.lc.after === undefined || event.lc.wait === undefined || isSuperseded(event)) continue
    for (const id of gateIds(event)) {
      const known = gated.get(id)
      if (known === undefined) gated.set(id, [at])
      else known.push(at)
    }
  }
  return gated
}

/**
 * Positions of the events that cannot end before the successors of this one have: itself, those above it, their waiting
 * joins, and the events gated after any of these. A gate of a successor on one of them would never open.
 */
export function dependentsOf(stream: EventStream, position: number): ReadonlySet<number> {
  const gated = gatedAfter(stream)
  const found = new Set([position])
  for (const at of found) {
    for (const above of stream.predecessorPositions(at)) found.add(above)
    for (const next of gated.get(stream.at(at)?.id ?? '') ?? []) found.add(next)
    const join = stream.waitingJoin(at)
    if (join !== undefined) found.add(join)
  }
  return found
}
