import { type Command, Option } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { streamNames } from '../cli/values.ts'
import type { DoctorOptions } from './doctor/run.ts'

const NOTES = `
Without names, filters, --streams or --all it examines only the store: permissions, clock, settings. Permissions are
tested for real: a small stream below .leasectl/probe/ is created, leased, written and removed. Streams are only read.
With --all it also looks for data that no event names, as a killed process may leave it.

Exit: 0 without errors; warnings do not count. An error of the store: 3 no container, 4 no permission, 9 no answer or
store full, 12 damaged, otherwise 5. Errors only in streams: 7; in a single stream 3 (missing), 12 (unreadable, data missing) or 7.
For streams selected by a filter, infos are shown only with -v or -o json.
`

export function register(parent: Command, runtime: Runtime, go: Run<DoctorOptions> = run): void {
  const command = parent
    .command('doctor')
    .argument('[STREAM...]', 'names of streams; without names only the store', streamNames)
    .addOption(new Option('--read-only', 'do not test writing: skip the probe'))
    .addOption(
      new Option(
        '--deep',
        'also run slow checks: read the whole file of a SQLite store, and the data of selected streams',
      ),
    )
    .addOption(new Option('--repair', 'remove data that no event names and that is an hour old'))
  selectionFlags(command)
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    summary: 'find problems in the store and in streams, and say how to fix them',
    examples: [
      ['doctor', 'the store: permissions, clock, settings'],
      ['doctor orders/4711', 'also one stream'],
      ['doctor --all', 'also every stream, and data that no event names'],
      ['doctor --repair', 'remove such data'],
      ["doctor --match 'orders/**' --read-only -o ndjson", 'for scripts, without writing'],
    ],
    formats: ['text', 'json', 'ndjson'],
    kind: 'reads',
    effect:
      'Writes: a small probe stream, and removes it, unless --read-only. Your streams are only read. --repair removes orphaned data.',
  })
  act(command, runtime, 'reads', ['names'], go)
}

const run: Run<DoctorOptions> = async (...given) => (await import('./doctor/run.ts')).examineAll(...given)

/**
 * `__quick-check FILE` prints the faults of a SQLite file as JSON: `doctor --deep` of the single executable starts it as a
 * child process.
 */
export function registerQuickCheck(program: Command, runtime: Runtime): void {
  program
    .command('__quick-check', { hidden: true })
    .argument('<FILE>')
    .helpOption(false)
    .action(async (file: string) => {
      runtime.begin('reads', '__quick-check')
      const { quickCheckHere } = await import('../store/sqlite/inspect.ts')
      await runtime.stdout.write(JSON.stringify(quickCheckHere(file)))
    })
}
