import { contextNamed } from '../../cli/contexts/contexts.ts'
import { readContexts } from '../../cli/contexts/file.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { contextJson, contextLine, overriding } from './text.ts'

export interface ContextOptions extends GlobalOptions {
  /** `context -`: back to the one before. */
  readonly back: boolean
}

/** The current context, or the one of `-c`. */
export async function showContext(options: ContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const contexts = readContexts(runtime.env)
  const name = options.context ?? contexts.current
  const how = options.context === undefined ? 'the current context' : '-c'
  const shown = name === undefined ? undefined : contextNamed(contexts, name, how)
  if (options.output === 'json')
    await output.text(jsonDocument({ context: shown === undefined ? null : contextJson(shown, contexts) }))
  else if (shown !== undefined) await output.lines([contextLine(shown)])
  if (shown === undefined) await output.say('no context is current')
  const before = options.context === undefined ? overriding(runtime) : undefined
  if (before !== undefined) await output.say(before)
  return undefined
}
