import type { GlobalOptions } from '../../cli/options.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { SCRIPTS } from './scripts.ts'
import type { Shell } from './shells.ts'

export interface CompletionOptions extends GlobalOptions {
  readonly shell: Shell
}

export async function printScript({ shell }: CompletionOptions, runtime: Runtime): Promise<Problem | undefined> {
  await runtime.stdout.write(SCRIPTS[shell])
  return undefined
}
