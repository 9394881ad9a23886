import { type EventSpec, ON_DUE, type SettableAttributes } from '../stream/operations/operation.ts'
import {
  isObject,
  listOf,
  objectOf,
  type Read,
  required,
  requiredText,
  storedText,
  timeLimit,
  word,
  wrong,
} from '../stream/values.ts'
import { type DataInput, readDataInput } from './data.ts'

/** A new event with its attributes. */
export interface NewEvent extends Omit<EventSpec, 'timeout' | 'data'> {
  /** Its timeout in the form that the command line takes (`2h`, `PT5M`, `1.02:00:00`, a date and time with a zone), or a Date. */
  readonly timeout?: string | Date
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
}

/** `Successors` after validation. */
export interface SuccessorSpecs {
  readonly next?: EventSpec
  readonly forks: readonly EventSpec[]
  readonly join?: EventSpec
}

const FREE = {
  topic: storedText(),
  key: storedText(),
  ref: storedText(),
  tag: storedText(),
  trackingId: storedText(),
  timeout: timeLimit,
}

const readSpec = objectOf<EventSpec>({
  name: required(requiredText),
  ...FREE,
  msg: storedText('msg'),
  onDue: word(ON_DUE),
  data: readDataInput,
})

export const readEvent: Read<EventSpec> = (given, field) => {
  if (typeof given === 'string') return { name: requiredText(given, field) }
  if (!isObject(given)) throw wrong(field, given, 'the name of an event, or an object with its name and attributes')
  return readSpec(given, field)
}

export const SUCCESSORS = { next: readEvent, forks: listOf(readEvent), join: readEvent }

export const readAttributes = objectOf<SettableAttributes>({
  name: requiredText,
  ...FREE,
  onDue: word(['', ...ON_DUE]),
})
