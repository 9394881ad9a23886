import { isFinal, isWaitingJoin, type LcAttributeName, type StreamEvent } from '../event.ts'
import {
  delayMs,
  dependentsOf,
  GATE_ATTRIBUTES,
  gateIds,
  MAX_GATE_EVENTS,
  progressOf,
  waitsForSignalOnly,
} from '../gate.ts'
import type { ChangeCause } from '../journal/journal.ts'
import { isoTime, readTime } from '../time/dates.ts'
import { gateTimeoutMs } from '../time/deadlines.ts'
import { parseTimeSpan } from '../time/durations.ts'
import { refuse } from './checks.ts'
import type { FailureCounter } from './close.ts'
import type { Draft } from './draft.ts'
import type { EventSpec, Refusal, StepSpec } from './operation.ts'

type Gate = { readonly [Name in LcAttributeName]?: string }

/**
 * Removes the conditions that hold, in their order, and opens the gate after the last one. An event whose gate can no
 * longer open is canceled. Returns the position of the event if it was opened or ended.
 */
export function settleGate(draft: Draft, at: number, failures: FailureCounter): number | undefined {
  const event = draft.at(at)
  const progress = progressOf(draft.stream, event)
  if (progress === 'failed')
    return draft.stream.root?.lc.onFailure === 'block' ? undefined : cancelGated(draft, at, failures)
  const before = conditionsOf(event)
  const left = conditionsLeft(draft, at, before)
  if (Object.keys(left).length === 0) return open(draft, at)
  if (!isSame(before, left)) keepClosed(draft, at, left)
  return undefined
}

/** The conditions beside the mark. */
export function conditionsOf(event: StreamEvent): Gate {
  const gate: { [Name in LcAttributeName]?: string } = {}
  for (const name of GATE_ATTRIBUTES) {
    const value = event.lc[name]
    if (name !== 'wait' && value !== undefined) gate[name] = value
  }
  return gate
}

function isSame(a: Gate, b: Gate): boolean {
  return GATE_ATTRIBUTES.every(name => a[name] === b[name])
}

function conditionsLeft(draft: Draft, at: number, gate: Gate): Gate {
  const { join, step, after, signal, delay, wake, ...rest } = gate
  const left: { [Name in LcAttributeName]?: string } = { ...rest }
  if (join !== undefined && !haveBranchesEnded(draft, at)) left.join = join
  // The step before is the one event that a numbered step is gated after.
  if (step !== undefined && !gateIds(draft.at(at)).every(id => draft.stream.find(id) !== undefined)) left.step = step
  if (after !== undefined && progressOf(draft.stream, draft.at(at)) !== 'passed') left.after = after
  if (signal !== undefined && !hasTimedOut(draft, at)) left.signal = signal
  if (wake !== undefined && !(Number(readTime(wake)) <= draft.nowMs)) left.wake = wake
  if (delay === undefined) return left
  // The delay begins when everything else holds.
  if (Object.keys(left).length > 0) return { ...left, delay }
  const wakeMs = draft.nowMs + delayMs(draft.at(at))
  return wakeMs <= draft.nowMs ? left : { wake: isoTime(wakeMs) }
}

/**
 * Whether every other successor of the forking event has ended. After a retry a later join may wait too: it waits for
 * this one, not the other way round.
 */
function haveBranchesEnded({ stream }: Draft, join: number): boolean {
  return stream.predecessorPositions(join).every(fork => {
    if (stream.missingIds(fork).length > 0) return false
    return stream.successorPositions(fork).every(at => {
      const branch = stream.at(at)
      if (branch === undefined || at === join || isWaitingJoin(branch)) return true
      return isFinal(branch) && !stream.blocks(at)
    })
  })
}

/** Whether the wait for a signal has taken longer than the timeout, and the event then goes on (`lc:onDue="open"`). */
function hasTimedOut(draft: Draft, at: number): boolean {
  const dueMs = gateTimeoutMs(draft.stream, draft.at(at), draft.readTime)
  if (dueMs === undefined || dueMs > draft.nowMs) return false
  draft.setMessage(at, 'timed out')
  return true
}

function open(draft: Draft, at: number): number {
  const isJoin = draft.at(at).lc.join !== undefined
  const closed = Object.fromEntries(GATE_ATTRIBUTES.map(name => [name, undefined]))
  // Its timeout counts from now: it could not be started before.
  draft.patch(at, { lc: { ...closed, opened: draft.now } })
  // An open root is never `init`: that would hold the stream.
  draft.setStatus(at, at === 0 ? 'inprocess' : 'init', isJoin ? 'join' : 'gate')
  return at
}

/** Leaves the event with these conditions only. */
export function keepClosed(draft: Draft, at: number, left: Gate): void {
  closeGate(draft, at, left, 'gate')
  // The timeout of a wait for a signal counts from now.
  if (waitsForSignalOnly(draft.at(at))) draft.patch(at, { lc: { opened: draft.now } })
}

/** Closes the gate of an event with these conditions, in place of those that it had. */
export function closeGate(draft: Draft, at: number, conditions: Gate, how: ChangeCause, attempt?: number): void {
  const gate = { wait: 'yes', ...conditions }
  draft.patch(at, { lc: Object.fromEntries(GATE_ATTRIBUTES.map(name => [name, (gate as Gate)[name]])) })
  draft.setStatus(at, 'inprocess', how, { lc: gate, ...(attempt === undefined ? {} : { attempt }) })
}

/** Cancels an event that is gated after one that failed. Its gate stays: a retry of that event closes it again. */
function cancelGated(draft: Draft, at: number, failures: FailureCounter): number {
  draft.cancelBelow(at)
  draft.endFailed(at, 'canceled', 'cascade')
  failures.recount()
  return at
}

/** The gate of a new event; empty without conditions. */
export function newGate({ after = [], signal, delay, wake }: EventSpec, isJoin: boolean): Gate {
  const gate = {
    ...(isJoin ? { join: 'wait' } : {}),
    ...(after.length === 0 ? {} : { after: after.join('|') }),
    ...(signal === undefined ? {} : { signal }),
    ...(delay === undefined ? {} : { delay }),
    ...(wake === undefined ? {} : { wake }),
  }
  return Object.keys(gate).length === 0 ? {} : { wait: 'yes', ...gate }
}

/**
 * Refuses the gates of new successors of an event: those that name an unknown event or one that cannot end before its
 * successors, and steps that need each other in a circle.
 */
export function checkGates(draft: Draft, position: number, specs: readonly EventSpec[]): Refusal | undefined {
  const { stream } = draft
  let dependents: ReadonlySet<number> | undefined
  const bad = ({ name }: EventSpec, problem: string) =>
    refuse('bad-gate', draft.at(position), `${name} could never begin: ${problem}`)
  for (const spec of specs) {
    const { after = [] } = spec
    const time = timeProblem(spec, draft.nowMs)
    if (time !== undefined) return refuse('bad-gate', draft.at(position), `${spec.name}: ${time}`)
    if (after.length > MAX_GATE_EVENTS) {
      return bad(spec, `it would wait for ${after.length} events; at most ${MAX_GATE_EVENTS} are possible`)
    }
    for (const id of after) {
      const named = stream.positionOf(id)
      if (named < 0) return bad(spec, `it would wait for ${id}, which the stream does not have`)
      dependents ??= dependentsOf(stream, position)
      if (dependents.has(named)) return bad(spec, `it would wait for ${id}, which cannot end before it does`)
    }
  }
  return undefined
}

const DAY_MS = 86_400_000
/** Longer waits are mistakes. */
const LONGEST_WAIT_MS = 100 * 366 * DAY_MS

/** What is wrong with the times that a new event would wait for. A time that has just passed opens its gate at once. */
function timeProblem({ wake, delay }: EventSpec, nowMs: number): string | undefined {
  const delayedMs = delay === undefined ? 0 : parseTimeSpan(delay)
  if (delayedMs === undefined || (delayedMs !== 0 && (delayedMs.negative || delayedMs.ms > LONGEST_WAIT_MS))) {
    return `the delay ${delay} is not a time from now, at most 100 years`
  }
  if (wake === undefined) return undefined
  const wakesMs = readTime(wake)
  if (wakesMs === undefined) return `the time ${wake} to wait for is unreadable`
  if (wakesMs < nowMs - DAY_MS) return `the time ${wake} to wait for is long past`
  return wakesMs > nowMs + LONGEST_WAIT_MS ? `the time ${wake} to wait for is more than 100 years ahead` : undefined
}

/** Refuses a plan whose steps need each other in a circle, or need steps that it does not have. */
export function checkPlan(draft: Draft, position: number, steps: readonly StepSpec[]): Refusal | undefined {
  const bad = (step: StepSpec, problem: string) =>
    refuse('bad-gate', draft.at(position), `${step.name} could never begin: ${problem}`)
  const left = steps.map(({ needs }) => new Set(needs).size)
  const neededBy = steps.map((): number[] => [])
  for (const [at, step] of steps.entries()) {
    if (step.needs.length > MAX_GATE_EVENTS) {
      return bad(step, `it needs ${step.needs.length} steps; at most ${MAX_GATE_EVENTS} are possible`)
    }
    for (const need of new Set(step.needs)) {
      const others = neededBy[need]
      if (others === undefined) return bad(step, `it needs step ${need + 1} of a plan of ${steps.length}`)
      others.push(at)
    }
  }
  const begin = left.flatMap((count, at) => (count === 0 ? [at] : []))
  for (const at of begin) {
    for (const next of neededBy[at] ?? []) {
      left[next] = (left[next] ?? 0) - 1
      if (left[next] === 0) begin.push(next)
    }
  }
  const stuck = steps.find((_, at) => (left[at] ?? 0) > 0)
  return stuck && bad(stuck, 'the steps that it needs wait for it')
}
