import { type Command, Option } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import type { Problem } from '../cli/problem.ts'
import { factor } from '../cli/values.ts'
import type { DemoOptions } from './demo/run.ts'
import type { ProgramRuntime } from './top/dashboard.ts'

export function register(
  parent: Command,
  runtime: ProgramRuntime,
  go: Run<DemoOptions> = options => run(options, runtime),
): void {
  const command = parent
    .command('demo')
    .addOption(new Option('--speed <factor>', 'speed factor (default: 1)').argParser(factor('--speed')))
    .option('--top', 'watch it in the dashboard; q ends both')
    .addOption(new Option('--as-worker <name>').hideHelp())
    // Refused with a reason, see `ownAddress`.
    .addOption(new Option('-c, --context <name>').hideHelp())
    .addOption(new Option('--container <name>').hideHelp())
    .addOption(new Option('--stream <name>').hideHelp())
  const description = {
    summary: 'play a demo: worker processes contend for one stream for about 15 s',
    examples: [
      ['demo', 'on the embedded store'],
      ['demo --top', 'in the dashboard: tree, timeline, activity'],
      ['demo --store azurite:demo', 'on Azurite, the Azure Blob emulator'],
    ],
    formats: ['text'],
    kind: 'writes',
    effect: 'Writes: creates a stream, demo/search-order-TIME.',
  } as const
  describe(command, runtime, description)
  act(command, runtime, 'writes', [], go)
}

async function run(options: DemoOptions, runtime: ProgramRuntime): Promise<Problem | undefined> {
  const { playDemo } = await import('./demo/run.ts')
  return playDemo(options, runtime)
}
