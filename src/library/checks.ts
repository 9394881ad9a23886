import { checkReadableName, checkStreamName } from '../store/names.ts'
import type { StreamStore, WriteMode } from '../store/store.ts'
import { isObject, milliseconds, type Read, storedText, text, word, wrong } from '../stream/values.ts'

/** What of a store every function needs. */
const METHODS = ['read', 'list', 'create', 'update', 'nowMs']

/** @throws InvalidValue unless it is a store */
export function checkStore(given: unknown): asserts given is StreamStore {
  if (isObject(given) && METHODS.every(name => typeof given[name] === 'function')) return
  const isPromise = isObject(given) && typeof given.then === 'function'
  throw wrong('store', given, 'what openStore() opens', isPromise ? 'await openStore(…)' : undefined)
}

/** @throws InvalidValue unless it is a store, and a name that a stream can be made under */
export function checkTarget(store: unknown, name: unknown): void {
  checkStore(store)
  checkStreamName(text(name, 'name'))
}

/**
 * The same for what only reads: documents of our own are read too, and a listing may have given a name that no stream can have.
 * @throws BadName, which is a fault of this one stream
 */
export function checkReadable(store: unknown, name: unknown): void {
  checkStore(store)
  checkReadableName(text(name, 'name'))
}

/** How long to wait; for ever too. */
export const waitMs: Read<number> = milliseconds(0)
export const reason: Read<string> = storedText('reason')
export const write: Read<WriteMode> = word(['lease', 'optimistic'])
