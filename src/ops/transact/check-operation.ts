import { checkStreamName } from '../../store/names.ts'
import { InvalidValue } from '../../stream/errors.ts'
import {
  type Authorship,
  type EventSpec,
  type Operation,
  SETTABLE,
  type SettableAttributes,
} from '../../stream/operations/operation.ts'
import { checkCommandId, checkText } from '../../stream/text.ts'

/** What an event may be created with. */
const SPEC = [...SETTABLE, 'msg']

/** Refuses what can never be right before anything is sent: wrong names, ids and texts. @throws InvalidValue */
export function checkOperation(name: string, operation: Operation, author: Authorship): void {
  checkStreamName(name)
  checkCommandId(author.commandId)
  if (author.by === '') throw new InvalidValue('an actor is needed: who makes this change')
  checkText('by', author.by)
  if (author.why !== undefined) checkText('reason', author.why)
  if ('msg' in operation && operation.msg !== undefined) checkText('msg', operation.msg)
  if ('owner' in operation && operation.owner !== undefined) checkOwner(operation.owner)
  if ('claimMs' in operation) checkClaimMs(operation.claimMs)
  checkSpecs(operation)
}

function checkOwner(owner: string): void {
  if (owner === '') throw new InvalidValue('an owner must not be empty')
  checkText('owner', owner)
}

/** ms. */
export const LONGEST_CLAIM_MS = 366 * 24 * 3_600_000

function checkClaimMs(claimMs: number): void {
  if (Number.isFinite(claimMs) && claimMs > 0 && claimMs <= LONGEST_CLAIM_MS) return
  throw new InvalidValue(`a claim lasts between 1 ms and a year, not ${claimMs} ms`)
}

function checkSpecs(operation: Operation): void {
  if (operation.op === 'init') {
    for (const spec of [operation.root, ...operation.forks, ...present(operation.join)]) checkSpec(spec)
  } else if (operation.op === 'advance') {
    const { next, forks, join } = operation
    if (next === undefined && forks.length === 0)
      throw new InvalidValue('advance adds at least one successor: a next step or a fork')
    for (const spec of [...present(next), ...forks, ...present(join)]) checkSpec(spec)
  } else if (operation.op === 'set') {
    checkTexts(operation.attributes, SETTABLE)
  }
  if ('join' in operation && operation.join !== undefined && operation.forks.length === 0) {
    throw new InvalidValue('a join needs a fork whose branches it waits for')
  }
}

function checkSpec(spec: EventSpec): void {
  if (spec.name === '') throw new InvalidValue('an event needs a name')
  checkTexts(spec, SPEC)
}

/** What is not among the names would be written all the same, `status` or `prev` too. */
function checkTexts(attributes: EventSpec | SettableAttributes, names: readonly string[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (!names.includes(name)) throw new InvalidValue(`${name} is no attribute that can be given: ${names.join(', ')}`)
    if (value !== undefined) checkText(name, value)
  }
}

function present(spec: EventSpec | undefined): EventSpec[] {
  return spec === undefined ? [] : [spec]
}
