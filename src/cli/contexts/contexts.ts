import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseAddress } from '../../store/address.ts'
import { isLoopback } from '../../util/loopback.ts'
import { nearest } from '../../util/strings.ts'
import { UsageError } from '../problem.ts'

/** A named store. */
export interface Context {
  readonly name: string
  /** The address in its normal form; the path of an embedded store is absolute. */
  readonly store: string
  readonly isProtected: boolean
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

/** Equal for all paths of a file, including hard links and mounts. A file that does not exist yet is its path. */
function fileIdentity(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined || found.ino === 0n ? realPath(path) : `${found.dev}:${found.ino}`
}

/** Follows links as far as the path exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
  }
}
