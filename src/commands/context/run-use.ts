import { type Contexts, contextNamed, withCurrent } from '../../cli/contexts/contexts.ts'
import { updateContexts } from '../../cli/contexts/update.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { contextJson, contextLine, overriding } from './text.ts'

export interface UseContextOptions extends GlobalOptions {
  /** `-` is the one before; `undefined` with `--none`. */
  readonly name: string | undefined
}

/** Makes a context the current one. */
export async function useContext(options: UseContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const { after: contexts } = await updateContexts(runtime.env, before => used(before, options.name), {
    signal: runtime.signal,
  })
  const current = contexts.current === undefined ? undefined : contextNamed(contexts, contexts.current, 'context use')
  if (options.output === 'json')
    await output.text(jsonDocument({ context: current === undefined ? null : contextJson(current, contexts) }))
  else if (!options.quiet) await output.lines([current === undefined ? 'no context is current' : contextLine(current)])
  const before = overriding(runtime)
  if (before !== undefined) await output.say(before)
  return undefined
}

function used(contexts: Contexts, name: string | undefined): Contexts {
  if (name === undefined) return withCurrent(contexts, undefined)
  if (name !== '-') return withCurrent(contexts, contextNamed(contexts, name, 'context use').name)
  if (contexts.previous === undefined)
    throw new UsageError('there was no context before', { hint: 'context use NAME makes one the current one.' })
  return withCurrent(contexts, contextNamed(contexts, contexts.previous, 'the context before').name)
}
