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

/** An event to be added, with its attributes. */
export interface NewEvent extends Omit<EventSpec, 'timeout'> {
  /** Its limit of time, as the command line takes it (`2h`, `PT5M`, `1.02:00:00`, a date and time with its zone), or a Date. */
  readonly timeout?: string | Date
}

/** An event to be added: its name, or its name and attributes. */
export type EventInput = string | NewEvent

/** What `set` changes; `''` removes an attribute. */
export interface AttributeChanges extends Omit<SettableAttributes, 'timeout'> {
  /** As that of a new event. */
  readonly timeout?: string | Date
}

/** What follows an event. */
export interface Successors {
  /** The next step of its own thread. */
  readonly next?: EventInput
  /** New threads below it. */
  readonly forks?: readonly EventInput[]
  /** Starts when all branches of the fork have ended. */
  readonly join?: EventInput
}

/** The same, written out. */
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

const readGiven = objectOf<Partial<SuccessorSpecs>>(SUCCESSORS)

export function successorSpecs(given: Successors): SuccessorSpecs {
  return { forks: [], ...readGiven(given, 'successors') }
}
