import { contextNamed, withoutContext } from '../../cli/contexts/contexts.ts'
import { updateContexts } from '../../cli/contexts/update.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { jsonDocument } from '../../formats/json.ts'
import { contextJson, contextLine } from './text.ts'

export interface RemoveContextOptions extends GlobalOptions {
  readonly name: string
}

/** Forgets a context; tells what it was, so that it can be added again. */
export async function removeContext(options: RemoveContextOptions, runtime: Runtime): Promise<Problem | undefined> {
  const output = await openOutput(options, runtime)
  const { name } = options
  const { before } = await updateContexts(
    runtime.env,
    contexts => withoutContext(contexts, contextNamed(contexts, name, 'context remove').name),
    { signal: runtime.signal },
  )
  const removed = contextNamed(before, name, 'context remove')
  if (options.output === 'json')
    await output.text(jsonDocument({ outcome: 'removed', context: contextJson(removed, before) }))
  else if (!options.quiet) await output.lines([`removed: ${contextLine(removed)}`])
  if (before.current === name) await output.say('it was the current context; none is now')
  if (removed.isProtected) await output.say('its store is not protected any more, unless by another context')
  return undefined
}
