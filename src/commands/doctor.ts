import { type Command, Option } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { selectionFlags } from '../cli/selection/flags.ts'
import { streamNames } from '../cli/values.ts'
import type { DoctorOptions } from './doctor/run.ts'

const NOTES = `
Without a name, a filter, --streams or --all it examines the store alone: rights, clock, settings. Rights are tried for
real: a small stream below .leasectl/probe/ is created, leased, written and removed. Streams are only read.

Exit code: 0 unless there is an error; warnings are none. An error of the store: 3 no container, 4 no rights, 9 no answer
or no room, 12 damaged, otherwise 5. Errors in streams alone: 7; of one stream 3 (missing), 12 (unreadable) or 7.
Of streams selected by a filter, infos are shown with -v and with -o json.
`

export function register(parent: Command, runtime: Runtime, go: Run<DoctorOptions> = run): void {
  const command = parent
    .command('doctor')
    .argument('[STREAM...]', 'names of streams; without one the store alone', streamNames)
    .addOption(new Option('--read-only', 'do not try to write: leave the probe out'))
    .addOption(new Option('--deep', 'also what takes long: read the whole file of a SQLite store'))
  selectionFlags(command)
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    summary: 'what is wrong with the store and with streams, and what to do about it',
    examples: [
      ['doctor', 'the store: rights, clock, settings'],
      ['doctor orders/4711', 'one stream too'],
      ['doctor --all', 'every stream'],
      ["doctor --match 'orders/**' --read-only -o ndjson", 'for scripts, without a write'],
    ],
    formats: ['text', 'json', 'ndjson'],
    kind: 'reads',
    effect: 'Writes: a small stream of its own, removed again, unless --read-only; your streams are only read.',
  })
  act(command, runtime, 'reads', ['names'], go)
}

const run: Run<DoctorOptions> = async (...given) => (await import('./doctor/run.ts')).examineAll(...given)
