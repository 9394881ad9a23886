import { dirname, isAbsolute, join } from 'node:path'
import { formatAddress, parseAddress } from '../../store/address.ts'
import { BadAddress } from '../../store/errors.ts'
import { nearest } from '../../util/strings.ts'
import { configFolder } from '../folders.ts'
import { UsageError } from '../problem.ts'
import { contextName } from '../values.ts'
import { type Context, type Contexts, NO_CONTEXTS } from './contexts.ts'
import { checkFolder, readPrivateFile } from './private-file.ts'

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
const CONTEXT_KEYS = ['store', 'protected', 'credentialFile'] as const

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
export function contextsText({ current, previous, byName }: Contexts): string {
  const contexts = Object.fromEntries(
    [...byName.values()].map(({ name, store, isProtected, credentialFile }) => [
      name,
      {
        store,
        ...(isProtected ? { protected: true } : {}),
        ...(credentialFile === undefined ? {} : { credentialFile }),
      },
    ]),
  )
  return `${JSON.stringify({ current, previous, contexts }, null, 2)}\n`
}

function context(name: string, value: unknown, file: string): Context {
  const where = `${file}: ${name}`
  contextName(file)(name)
  const { store, protected: isProtected, credentialFile } = fieldsOf(value, CONTEXT_KEYS, where)
  const path = optional(credentialFile, 'string', `${where}: credentialFile`)
  if (path !== undefined && !isAbsolute(path)) throw relative(`${where}: credentialFile ${JSON.stringify(path)}`)
  return {
    name,
    store: address(store, where),
    isProtected: optional(isProtected, 'boolean', `${where}: protected`) ?? false,
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
