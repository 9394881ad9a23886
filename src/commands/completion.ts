import { Argument, type Command } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice } from '../cli/values.ts'
import type { CompletionOptions } from './completion/run.ts'
import { SHELLS } from './completion/shells.ts'

/** `completion SHELL` prints the completion script of a shell. */
export function register(parent: Command, runtime: Runtime, go: Run<CompletionOptions> = run): void {
  const shell = new Argument('<SHELL>', SHELLS.join(', ')).argParser(choice('SHELL', SHELLS))
  const command = parent.command('completion').addArgument(shell)
  describe(command, runtime, {
    kind: 'reads',
    effect: 'Only reads: prints the script.',
    summary: 'print the completion script for bash, zsh or fish: commands, flags, streams, events, contexts, runs',
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/leasectl', 'bash, with bash-completion'],
      ['completion bash > ~/.leasectl.bash', 'bash without it; then ". ~/.leasectl.bash" in ~/.bashrc'],
      ['completion zsh > "$fpath[1]/_leasectl"', 'zsh; then start a new shell'],
      ['completion fish > ~/.config/fish/completions/leasectl.fish', 'fish'],
    ],
    formats: ['text'],
  })
  act(command, runtime, 'reads', ['shell'], go)
}

const run: Run<CompletionOptions> = async (...given) => (await import('./completion/run.ts')).printScript(...given)

/**
 * `__complete SHELL -- WORD…` prints the candidates at the cursor for the completion scripts. Errors print nothing, and
 * the exit code is always 0.
 */
export function registerComplete(program: Command, runtime: Runtime): void {
  program
    .command('__complete', { hidden: true })
    .argument('<SHELL>')
    .argument('[WORD...]')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (shell: string, words: readonly string[]) => {
      runtime.begin('reads', '__complete')
      const { printCandidates } = await import('./completion/run.ts')
      await printCandidates(program, shell, words, runtime)
    })
}
