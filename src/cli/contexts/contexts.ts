import { dirname, isAbsolute, join, resolve } from 'node:path'
import { formatAddress, parseAddress } from '../../store/address.ts'
import { BadAddress } from '../../store/errors.ts'
import { fileIdentity } from '../../util/file-identity.ts'
import { isLoopback } from '../../util/loopback.ts'
import { nearest } from '../../util/strings.ts'
import { UsageError } from '../problem.ts'
import { checkFolder, configFolder, createUserFolder, readPrivateFile, replaceUserFile } from '../user-files.ts'
import { contextName } from '../values.ts'

/** A named store. */
export interface Context {
  readonly name: string
  /** The address in its normal form; the path of an embedded store is absolute. */
  readonly store: string
  readonly isProtected: boolean
  /** For reading only. */
  readonly isReadOnly: boolean
  /** Absolute path of the file with the credentials. */
  readonly credentialFile: string | undefined
}

/** The contexts of the user. */
export interface Contexts {
  /** Name of the current context. It may be missing from `byName` if the file was edited. */
  readonly current: string | undefined
  /** Name of the previous current context. */
  readonly previous: string | undefined
  /** By name, in the order in which they were added. */
  readonly byName: ReadonlyMap<string, Context>
}

export const NO_CONTEXTS: Contexts = { current: undefined, previous: undefined, byName: new Map() }

/**
 * The context of a name.
 * @param how where the name comes from: `-c`, `the current context`
 * @throws UsageError with the nearest name and all others
 */
export function contextNamed({ byName }: Contexts, name: string, how: string): Context {
  const context = byName.get(name)
  if (context !== undefined) return context
  const names = [...byName.keys()]
  const near = nearest(name, names)
  const guess = near === undefined ? '' : `did you mean ${near}? `
  throw new UsageError(`${how}: there is no context ${name}`, {
    hint:
      names.length === 0 ? 'There are no contexts yet: context add NAME --store ADDRESS.' : `${guess}${known(names)}`,
  })
}

function known(names: readonly string[]): string {
  const shown = names.slice(0, 20).join(', ')
  return names.length > 20 ? `Known are ${shown} and ${names.length - 20} more.` : `Known: ${shown}.`
}

/** Adds a context, or replaces the one of the same name. */
export function withContext(contexts: Contexts, context: Context): Contexts {
  return { ...contexts, byName: new Map([...contexts.byName, [context.name, context]]) }
}

/** Changes the current context, or unsets it, and remembers the previous one. */
export function withCurrent(contexts: Contexts, name: string | undefined): Contexts {
  return contexts.current === name ? contexts : { ...contexts, current: name, previous: contexts.current }
}

/** Removes a context. */
export function withoutContext({ current, previous, byName }: Contexts, name: string): Contexts {
  const rest = new Map(byName)
  rest.delete(name)
  return {
    current: current === name ? undefined : current,
    previous: previous === name ? undefined : previous,
    byName: rest,
  }
}

/** Whether a protected context has this store, in whatever form the two addresses are written. */
export function isProtectedStore(address: string, { byName }: Contexts): boolean {
  const guarded = [...byName.values()].filter(context => context.isProtected)
  if (guarded.length === 0) return false
  const identity = identityOf(address)
  return guarded.some(({ store }) => identityOf(store) === identity)
}

/**
 * Whether a store is opened for reading only: as its context says; without one, if any context of this store is for reading
 * only. So a second context of the same store can allow changes.
 */
export function isReadOnlyStore(
  { address, context }: { readonly address: string; readonly context?: string },
  { byName }: Contexts,
): boolean {
  const named = context === undefined ? undefined : byName.get(context)
  if (named !== undefined) return named.isReadOnly
  const guarded = [...byName.values()].filter(({ isReadOnly }) => isReadOnly)
  return guarded.some(({ store }) => identityOf(store) === identityOf(address))
}

/** The first two of these contexts that have the same store, in whatever form their addresses are written. */
export function sameStore<Place extends { readonly address: string }>(
  places: readonly Place[],
): readonly [Place, Place] | undefined {
  const byIdentity = new Map<string, Place>()
  for (const place of places) {
    const identity = identityOf(place.address)
    const other = byIdentity.get(identity)
    if (other !== undefined) return [other, place]
    byIdentity.set(identity, place)
  }
  return undefined
}

/**
 * Equal for addresses that lead to the same streams. Accounts are compared by name alone: names of Azure accounts are
 * unique, whatever the endpoint. In doubt two addresses are equal, because this decides about protection.
 */
function identityOf(address: string): string {
  const parsed = parseAddress(address)
  switch (parsed.kind) {
    case 'memory':
      return 'memory:'
    case 'sqlite':
      return `sqlite:${fileIdentity(resolve(parsed.path))}`
    case 'azurite':
      return `azurite://${isLoopback(parsed.host) ? 'localhost' : parsed.host}:${parsed.port}/${parsed.container}`
    case 'azure':
      return `azure:${parsed.account}/${parsed.container}`
    default:
      return parsed satisfies never
  }
}

export type ContextEnvironment = Readonly<Record<string, string | undefined>>

/** Path of the contexts file. */
export function contextsPath(env: ContextEnvironment): string {
  return join(configFolder(env), 'contexts.json')
}

/**
 * The contexts of this user; none without a file.
 * @throws UsageError for a file that others can read or write, or that is invalid
 */
export function readContexts(env: ContextEnvironment): Contexts {
  const path = contextsPath(env)
  const text = readPrivateFile(path)
  if (text === undefined) return NO_CONTEXTS
  checkFolder(dirname(path))
  return parseContexts(text, path)
}

const KEYS = ['current', 'previous', 'contexts'] as const
const CONTEXT_KEYS = ['store', 'protected', 'readOnly', 'credentialFile'] as const

/**
 * Reads the text of contexts.json. Unknown fields are refused: a misspelt `protected` must not go unnoticed.
 * @param where path of the file, for messages
 * @throws UsageError with the place of the error and how to write it
 */
function parseContexts(text: string, where: string): Contexts {
  const { current, previous, contexts = {} } = fieldsOf(json(text, where), KEYS, where)
  const named = fieldsOf(contexts, undefined, `${where}: contexts`)
  const byName = new Map(Object.entries(named).map(([name, value]) => [name, context(name, value, where)]))
  return {
    current: optional(current, 'string', `${where}: current`),
    previous: optional(previous, 'string', `${where}: previous`),
    byName,
  }
}

/** The text of contexts.json; `parseContexts` reads it back. */
function contextsText({ current, previous, byName }: Contexts): string {
  const contexts = Object.fromEntries(
    [...byName.values()].map(({ name, store, isProtected, isReadOnly, credentialFile }) => [
      name,
      {
        store,
        ...(isProtected ? { protected: true } : {}),
        ...(isReadOnly ? { readOnly: true } : {}),
        ...(credentialFile === undefined ? {} : { credentialFile }),
      },
    ]),
  )
  return `${JSON.stringify({ current, previous, contexts }, null, 2)}\n`
}

function context(name: string, value: unknown, file: string): Context {
  const where = `${file}: ${name}`
  contextName(file)(name)
  const { store, protected: isProtected, readOnly, credentialFile } = fieldsOf(value, CONTEXT_KEYS, where)
  const path = optional(credentialFile, 'string', `${where}: credentialFile`)
  if (path !== undefined && !isAbsolute(path)) throw relative(`${where}: credentialFile ${JSON.stringify(path)}`)
  return {
    name,
    store: address(store, where),
    isProtected: optional(isProtected, 'boolean', `${where}: protected`) ?? false,
    isReadOnly: optional(readOnly, 'boolean', `${where}: readOnly`) ?? false,
    credentialFile: path,
  }
}

function address(value: unknown, where: string): string {
  const text = optional(value, 'string', `${where}: store`)
  if (text === undefined) throw new UsageError(`${where}: "store" is missing`, { hint: 'The address, as in --store.' })
  try {
    const parsed = parseAddress(text)
    if (parsed.kind === 'sqlite' && !isAbsolute(parsed.path)) throw relative(`${where}: store ${JSON.stringify(text)}`)
    return formatAddress(parsed)
  } catch (cause) {
    if (!(cause instanceof BadAddress)) throw cause
    throw new UsageError(`${where}: ${cause.message}`, { cause, ...(cause.hint ? { hint: cause.hint } : {}) })
  }
}

function relative(what: string): UsageError {
  return new UsageError(`${what} is a relative path`, {
    hint: 'It would mean a different file in each folder: write an absolute path.',
  })
}

const REPAIR = 'Repair the file, or move it away and add the contexts again.'

function json(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // the message of the parser can quote the text, and with it a secret
    const place = cause instanceof Error ? (/ \(line \d+ column \d+\)$/.exec(cause.message)?.[0] ?? '') : ''
    throw new UsageError(`${where} is not JSON${place}`, { hint: REPAIR })
  }
}

/** The fields of an object. @throws UsageError for a field that is not in `known` */
function fieldsOf(value: unknown, known: readonly string[] | undefined, where: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`${where} is not an object`, { hint: REPAIR })
  const unknown = known && Object.keys(value).find(key => !known.includes(key))
  if (known === undefined || unknown === undefined) return { ...value }
  const near = nearest(unknown, known)
  throw new UsageError(`${where}: ${JSON.stringify(unknown)} is not known`, {
    hint:
      near === undefined ? `Known are ${known.join(', ')}.` : `did you mean ${near}? Known are ${known.join(', ')}.`,
  })
}

interface Types {
  readonly string: string
  readonly boolean: boolean
}

/** A value of this type. `null` means no value, as some programs write it. */
function optional<Name extends keyof Types>(value: unknown, type: Name, where: string): Types[Name] | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === type && value !== '') return value as Types[Name]
  throw new UsageError(`${where} is not ${type === 'boolean' ? 'true or false' : 'a text'}`)
}

export interface Updated {
  readonly before: Contexts
  readonly after: Contexts
}

/**
 * Reads, changes and writes the contexts. A new file replaces the old one atomically, so that no reader sees half a file.
 * If two processes write at the same time, the last one wins.
 *
 * @param change returns its argument if nothing changes
 * @throws errors of `change`; then nothing is written
 */
export function updateContexts(env: ContextEnvironment, change: (contexts: Contexts) => Contexts): Updated {
  createUserFolder(configFolder(env))
  const before = readContexts(env)
  const after = change(before)
  if (after !== before) replaceUserFile(contextsPath(env), contextsText(after))
  return { before, after }
}
