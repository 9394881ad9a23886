import { readDataInput } from '../stream/data-input.ts'
import { type Claimant, type ObservedDeadline, ON_FAILURE, type Operation } from '../stream/operations/operation.ts'
import { duration, readAttributes, readEvent, readStep, retryOf, SUCCESSORS } from '../stream/specs.ts'
import {
  flag,
  listOf,
  milliseconds,
  nonEmptyText,
  objectOf,
  oneOfOps,
  type Read,
  required,
  requiredText,
  storedText,
  text,
  uuid,
  whole,
  word,
} from '../stream/values.ts'
import { LONGEST_CLAIM_MS } from './transact/transact.ts'

/** Duration of a claim, ms. */
export const claimMs: Read<number> = milliseconds(1, LONGEST_CLAIM_MS)

export const CLAIMANT = { owner: requiredText, fence: whole(0) }
export const storedMsg = storedText('msg')
const EVENT = { event: required(nonEmptyText) }
const END = { ...EVENT, msg: storedMsg, result: readDataInput, ...CLAIMANT }

export const readClaimant = objectOf<Claimant>(CLAIMANT)

/** An optional message of an event. */
export function readMsg(given: unknown): { readonly msg?: string } {
  return given === undefined ? {} : { msg: storedMsg(given, 'msg') }
}

const readLimit = objectOf<ObservedDeadline>({
  event: required(nonEmptyText),
  status: required(text),
  attempt: required(text),
  fence: required(text),
  timestamp: required(text),
  dueMs: required(milliseconds(0)),
})

/** The fields of each operation as a program gives them, besides `op`. */
export const OPERATION_FIELDS = {
  init: {
    root: required(readEvent),
    forks: required(listOf(readEvent)),
    join: readEvent,
    steps: listOf(readStep),
    hold: required(flag),
    onFailure: word(ON_FAILURE),
    session: flag,
    born: required(uuid),
  },
  start: {
    ...EVENT,
    owner: required(requiredText),
    claimMs: required(claimMs),
    fence: whole(0),
    takeOver: flag,
    maxAttempts: whole(1),
  },
  touch: { ...EVENT, ...CLAIMANT, claimMs: required(claimMs), msg: storedMsg },
  release: { ...EVENT, ...CLAIMANT, delay: duration },
  advance: {
    ...EVENT,
    ...SUCCESSORS,
    ...CLAIMANT,
    forks: required(listOf(readEvent)),
    steps: listOf(readStep),
    more: flag,
    result: readDataInput,
  },
  complete: END,
  fail: { ...END, transient: flag, retry: retryOf, expired: readLimit },
  skip: { ...EVENT, msg: storedMsg },
  cancel: { event: nonEmptyText, msg: storedMsg, noCompensate: flag },
  abort: { event: nonEmptyText, msg: storedMsg, expired: readLimit, noCompensate: flag },
  retry: { event: nonEmptyText, canceled: flag },
  signal: { name: required(requiredText), data: readDataInput, every: flag },
  append: { step: required(readEvent), seq: whole(1), last: flag, keep: whole(1) },
  ack: {},
  suspend: { stop: flag, msg: storedMsg },
  resume: {},
  'break-lease': {},
  set: { ...EVENT, ...CLAIMANT, attributes: required(readAttributes) },
  settle: { record: flag },
}

/** Validates an operation given to `transact`. */
export const readOperation = oneOfOps<Operation>(OPERATION_FIELDS)
