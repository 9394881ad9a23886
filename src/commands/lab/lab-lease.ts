import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { LeaseLabOptions } from './lease.ts'
import { labFlags, noLonger } from './options.ts'

const LONGEST_MS = 3_600_000

const NOTES = `
Each process takes the lease of one stream, holds it for a moment, gives it back, and again. WAITED is from the first try
to acquire it until it was held; who waits when the time is up is counted with an attempt and without a turn. At the end the
times in which it was held are laid beside each other: no two may overlap (exit 1 if two do).
`

export function register(parent: Command, runtime: Runtime, go: Run<LeaseLabOptions> = run): void {
  const command = labFlags(
    parent
      .command('lease')
      .addOption(
        new Option('--duration <duration>', 'how long they contend (default: 20s)').argParser(
          noLonger('--duration', LONGEST_MS),
        ),
      ),
    'how long the lease is held in each turn (default: 50ms)',
  ).addHelpText('after', NOTES)
  const description = {
    summary: 'processes take the lease of one stream in turn: attempts, waiting, fairness',
    examples: [
      ['lab lease', 'five processes for 20 s, on the embedded store'],
      ['lab lease --store azurite:lab --procs 10 --hold 0s', 'ten, on Azurite, who give it back at once'],
      ['lab lease --pace reference', 'as the library of 2013 waited'],
    ],
    formats: ['text', 'json'],
    kind: 'writes',
    effect: 'Writes: creates a stream, lab/lease-TIME, and removes it at the end.',
  } as const
  describe(command, runtime, description)
  act(command, runtime, 'writes', own => parsed<LeaseLabOptions>(own, []), go)
}

const run: Run<LeaseLabOptions> = async (options, runtime) => {
  const { labLease } = await import('./lease.ts')
  return labLease(options, runtime)
}
