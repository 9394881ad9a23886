import { type DataInput, readDataInput } from './data-input.ts'
import { MAX_READ_EVENTS } from './limits.ts'
import {
  type EventSpec,
  ON_DUE,
  ON_FAILURE,
  type OnFailure,
  type SettableAttributes,
  type StepSpec,
} from './operations/operation.ts'
import { type PlanPart, planSteps } from './operations/plan.ts'
import { normalRetry } from './retry-policy.ts'
import { formatTimeSpan, parseDuration } from './time/durations.ts'
import {
  flag,
  inField,
  isObject,
  listOf,
  nonEmptyText,
  objectOf,
  type Read,
  required,
  requiredText,
  storedText,
  text,
  timeLimit,
  timePoint,
  whole,
  word,
  wrong,
} from './values.ts'

/** A new event with its attributes. */
export interface NewEvent extends Omit<EventSpec, 'timeout' | 'wake' | 'data'> {
  /** Its timeout in the form that the command line takes (`2h`, `PT5M`, `1.02:00:00`, a date and time with a zone), or a Date. */
  readonly timeout?: string | Date
  /** The time before which it does not begin: a date and time with a zone, or a Date. */
  readonly wake?: string | Date
  /** What the event works on, up to 16 MiB. */
  readonly data?: DataInput
}

/** A new event: its name, or an object with its name and attributes. */
export type EventInput = string | NewEvent

/** New values of attributes for `set`; `''` removes the attribute. */
export interface AttributeChanges extends Omit<SettableAttributes, 'timeout'> {
  /** The timeout, in the forms that a new event takes. */
  readonly timeout?: string | Date
}

/** The successors of an event. */
export interface Successors {
  /** The next step of the event's thread. */
  readonly next?: EventInput
  /** New threads below it. */
  readonly forks?: readonly EventInput[]
  /** The join of the forks: it becomes ready when all their branches have ended. */
  readonly join?: EventInput
  /** A plan that is known from the start: each part begins when the one before is completed. */
  readonly steps?: readonly PlanInput[]
}

/** A step of a plan. */
export interface StepInput extends NewEvent {
  /** Names of the steps that have to be completed before; without it, the part before this one. */
  readonly needs?: string | readonly string[]
}

/** A part of a plan: a step, or branches in threads of their own, each a step or a sequence. The part after them waits for all. */
export type PlanInput = string | StepInput | { readonly parallel: readonly (PlanInput | readonly PlanInput[])[] }

/** `Successors` after validation. */
export interface SuccessorSpecs {
  readonly next?: EventSpec
  readonly forks: readonly EventSpec[]
  readonly join?: EventSpec
  readonly steps?: readonly StepSpec[]
}

const FREE = {
  topic: storedText(),
  key: storedText(),
  ref: storedText(),
  tag: storedText(),
  trackingId: storedText(),
  timeout: timeLimit,
}

/** A duration, from the forms of the command line. */
export const duration: Read<string> = (given, field) =>
  inField(field, () => formatTimeSpan(parseDuration(text(given, field))))

/** A retry policy, `5 2s..1m`. */
export const retryOf: Read<string> = (given, field) => inField(field, () => normalRetry(text(given, field)))

const readSpec = objectOf<EventSpec>({
  name: required(requiredText),
  ...FREE,
  msg: storedText('msg'),
  onDue: word(ON_DUE),
  after: listOf(nonEmptyText),
  signal: requiredText,
  delay: duration,
  wake: timePoint,
  auto: flag,
  data: readDataInput,
  retry: retryOf,
  attemptTimeout: duration,
  undo: requiredText,
})

/** A step of a plan as `transact` takes it. */
export const readStep: Read<StepSpec> = (given, field) => {
  const { thread, needs, ...spec } = isObject(given) ? given : {}
  return {
    ...readEvent(spec, field),
    thread: whole(0, MAX_READ_EVENTS)(thread, `${field}.thread`),
    needs: listOf(whole(0, MAX_READ_EVENTS))(needs, `${field}.needs`),
  }
}

export const readEvent: Read<EventSpec> = (given, field) => {
  if (typeof given === 'string') return { name: requiredText(given, field) }
  if (!isObject(given)) throw wrong(field, given, 'the name of an event, or an object with its name and attributes')
  return readSpec(given, field)
}

const readPlan: Read<readonly StepSpec[]> = (given, field) => inField(field, () => planSteps(readParts(given, field)))

const readParts: Read<readonly PlanPart[]> = (given, field) => listOf(readPart)(given, field)

const readPart: Read<PlanPart> = (given, field) => {
  if (!isObject(given)) return { spec: readEvent(given, field) }
  if ('parallel' in given) return { parallel: listOf(readBranch)(given.parallel, `${field}.parallel`) }
  const { needs, ...spec } = given
  if (needs === undefined) return { spec: readEvent(spec, field) }
  const names = typeof needs === 'string' ? [needs] : needs
  return { spec: readEvent(spec, field), needs: listOf(requiredText)(names, `${field}.needs`) }
}

const readBranch: Read<readonly PlanPart[]> = (given, field) =>
  Array.isArray(given) ? readParts(given, field) : [readPart(given, field)]

export const SUCCESSORS = { next: readEvent, forks: listOf(readEvent), join: readEvent, steps: readPlan }

/** A new stream. */
export interface NewStream extends Omit<Successors, 'next'> {
  /** The first event. Default `Start`. */
  readonly root?: EventInput
  /** Creates the stream on hold: the root stays `init`, and nothing runs or expires until it is started. */
  readonly hold?: boolean
  /**
   * What it means for the stream that an event is aborted for good: the rest goes on (`continue`, the default), everything ends
   * (`stop`), what comes after it waits for `retry` or `skip` (`block`), or what was done is undone (`compensate`).
   */
  readonly onFailure?: OnFailure
}

/** A new stream after validation. */
export interface NewStreamSpec {
  readonly root?: EventSpec
  readonly forks?: SuccessorSpecs['forks']
  readonly join?: EventSpec
  readonly steps?: readonly StepSpec[]
  readonly hold?: boolean
  readonly onFailure?: OnFailure
}

/** The fields of a new stream as a program gives them. */
export const NEW_STREAM = {
  root: readEvent,
  forks: SUCCESSORS.forks,
  join: SUCCESSORS.join,
  steps: SUCCESSORS.steps,
  hold: flag,
  onFailure: word(ON_FAILURE),
}

export const readNewStream = objectOf<NewStreamSpec>(NEW_STREAM)

export const readAttributes = objectOf<SettableAttributes>({
  name: requiredText,
  ...FREE,
  msg: storedText('msg'),
  onDue: word(['', ...ON_DUE]),
})
