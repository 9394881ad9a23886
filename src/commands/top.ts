import { type Command, Option } from 'commander'
import { type Run, reads } from '../cli/command.ts'
import type { Problem } from '../cli/problem.ts'
import { choice, duration, pattern, streamName } from '../cli/values.ts'
import type { ProgramRuntime } from './top/dashboard.ts'
import { THEMES, type TopOptions } from './top/options.ts'

const NOTES = `
? shows the keys. It starts read-only: ! or --write unlocks changes for ten minutes, in a protected store only after its
name was typed; each change shows what it would do and asks. Where standard input or output is no terminal, with
TERM=dumb, CI, ACCESSIBLE=1 or --accessible, it prints what there is and then, line by line, what happens.
`

export function register(
  parent: Command,
  runtime: ProgramRuntime,
  go: Run<TopOptions> = options => run(options, runtime),
): void {
  const command = parent
    .command('top')
    .argument('[STREAM]', 'the stream to open with; it need not exist yet', streamName)
    .addOption(
      new Option(
        '--match <glob>',
        'only names like this: * stays within a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
    .addOption(
      new Option(
        '--interval <duration>',
        'how often to look (default: 1s, on Azure 2s; longer where it is slow)',
      ).argParser(duration('--interval')),
    )
    .addOption(new Option('--write', 'changes are unlocked from the start on, for ten minutes'))
    .addOption(new Option('--read-only', 'nothing can be changed, whatever is typed'))
    .addOption(
      new Option('--theme <theme>', `colours for a ${THEMES.slice(1).join(', ')} terminal (default: auto)`).argParser(
        choice('--theme', THEMES),
      ),
    )
    .option('--ascii', 'no characters beyond ASCII of its own')
    .option('--accessible', 'lines one after the other, nothing is drawn in place')
  command.addHelpText('after', NOTES)
  const description = {
    summary: 'a live dashboard of all streams, or of one',
    examples: [
      ['top', 'all streams; ? shows the keys'],
      ['top orders/4711', 'one of them, with its tree; it may be yet to come'],
      ["top --match 'orders/**' --write", 'changes unlocked for ten minutes; each is asked about'],
      ['top --accessible', 'as lines, for a screen reader or a log'],
    ],
    formats: ['text'],
    effect:
      'Only reads: takes no lease. Once changes are unlocked in it, writes as cancel, abort, retry and lease break do.',
  } as const
  reads(command, runtime, description, ['stream'], go)
}

async function run(options: TopOptions, runtime: ProgramRuntime): Promise<Problem | undefined> {
  const { top } = await import('./top/run.ts')
  return top(options, runtime)
}
