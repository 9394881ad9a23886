import { nearest } from '../../util/nearest.ts'
import { UsageError } from '../problem.ts'

/** A store under a name. */
export interface Context {
  readonly name: string
  /** The address in its normal form; the path of an embedded store is absolute. */
  readonly store: string
  readonly isProtected: boolean
  /** Absolute path of a file with what signs the requests. */
  readonly credentialFile: string | undefined
}

/** The user's contexts. */
export interface Contexts {
  /** Name of the context that is meant where no store is named. It may have been removed by hand. */
  readonly current: string | undefined
  /** The one that was current before. */
  readonly previous: string | undefined
  /** By name, in the order in which they were added. */
  readonly byName: ReadonlyMap<string, Context>
}

export const NO_CONTEXTS: Contexts = { current: undefined, previous: undefined, byName: new Map() }

/**
 * The context of a name.
 * @param how where the name comes from: `-c`, `the current context`
 * @throws UsageError with the nearest and all others
 */
export function contextNamed({ byName }: Contexts, name: string, how: string): Context {
  const context = byName.get(name)
  if (context !== undefined) return context
  const names = [...byName.keys()]
  const near = nearest(name, names)
  const guess = near === undefined ? '' : `did you mean ${near}? `
  throw new UsageError(`${how}: there is no context ${name}`, {
    hint: names.length === 0 ? 'There are none yet: context add NAME --store ADDRESS.' : `${guess}${known(names)}`,
  })
}

function known(names: readonly string[]): string {
  const shown = names.slice(0, 20).join(', ')
  return names.length > 20 ? `Known are ${shown} and ${names.length - 20} more.` : `Known: ${shown}.`
}

/** With the context added, or put in the place of the one of its name. */
export function withContext(contexts: Contexts, context: Context): Contexts {
  return { ...contexts, byName: new Map([...contexts.byName, [context.name, context]]) }
}

/** With another current one, or none; the one before is remembered. */
export function withCurrent(contexts: Contexts, name: string | undefined): Contexts {
  return contexts.current === name ? contexts : { ...contexts, current: name, previous: contexts.current }
}

/** Without the context. */
export function withoutContext({ current, previous, byName }: Contexts, name: string): Contexts {
  const rest = new Map(byName)
  rest.delete(name)
  return {
    current: current === name ? undefined : current,
    previous: previous === name ? undefined : previous,
    byName: rest,
  }
}
