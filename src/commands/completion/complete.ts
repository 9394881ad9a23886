import type { Command } from 'commander'
import type { Runtime } from '../../cli/runtime.ts'

/**
 * `__complete SHELL -- WORD…`: what the scripts of `completion` ask. Prints what may stand at the cursor; whatever goes
 * wrong, it is silent and its exit code is 0.
 */
export function register(program: Command, runtime: Runtime): void {
  program
    .command('__complete', { hidden: true })
    .argument('<SHELL>')
    .argument('[WORD...]')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (shell: string, words: readonly string[]) => {
      runtime.begin('reads', '__complete')
      const { printCandidates } = await import('./run.ts')
      await printCandidates(program, shell, words, runtime)
    })
}
