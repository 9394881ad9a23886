import { checkReadableName, checkStreamName } from '../store/names.ts'
import type { StreamStore, WriteMode } from '../store/store.ts'
import { checkCommandId } from '../stream/text.ts'
import { inField, isObject, milliseconds, type Read, storedText, text, word, wrong } from '../stream/values.ts'

/** Methods that every library function needs of a store. */
const METHODS = ['read', 'list', 'create', 'update', 'nowMs']

/** @throws InvalidValue if it is not a store */
export function checkStore(given: unknown): asserts given is StreamStore {
  if (isObject(given) && METHODS.every(name => typeof given[name] === 'function')) return
  const isPromise = isObject(given) && typeof given.then === 'function'
  throw wrong('store', given, 'what openStore() opens', isPromise ? 'await openStore(…)' : undefined)
}

/** @throws InvalidValue if it is not a store, or the name is not valid for a new stream */
export function checkTarget(store: unknown, name: unknown): void {
  checkStore(store)
  checkStreamName(text(name, 'name'))
}

/**
 * The check for reads: they may name leasectl's own documents, and a name from a listing that is not valid for a stream.
 * @throws InvalidValue if it is not a store; BadName, a fault of this one stream
 */
export function checkReadable(store: unknown, name: unknown): void {
  checkStore(store)
  checkReadableName(text(name, 'name'))
}

/** A wait, ms; `Infinity` is allowed. */
export const waitMs: Read<number> = milliseconds(0)
export const commandId: Read<string> = (given, field) => {
  inField(field, () => checkCommandId(text(given, field)))
  return text(given, field)
}

export const reason: Read<string> = storedText('reason')
export const write: Read<WriteMode> = word(['lease', 'optimistic'])
