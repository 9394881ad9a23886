import { type Command, Option } from 'commander'
import { act, describe, parsed, type Run } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { choice, duration } from '../../cli/values.ts'
import { labFlags, upTo } from './options.ts'
import type { StreamLabOptions } from './stream.ts'

const MOST_EVENTS = 5_000

const NOTES = `
A fresh stream has so many events that nobody has begun. Each process claims one, completes it, and looks for the next until all
are done; with --at-once each gets its share and starts and completes all of it at the same time, so that changes share writes.
WAITED is how long a change took from asking for it until it was durable. The time counts from when all processes are ready.
--kill ends a process now and then without notice and starts another: what it had claimed is taken over when the claim ends.
At the end the journal is read: each event was started once per attempt and completed once, by its owner, and all that a process
was told is there (exit 1 if not).
`

export function register(parent: Command, runtime: Runtime, go: Run<StreamLabOptions> = run): void {
  const command = labFlags(
    parent
      .command('stream')
      .addOption(
        new Option('--events <n>', `how many events, up to ${MOST_EVENTS} (default: 99)`).argParser(
          upTo('--events', MOST_EVENTS),
        ),
      )
      .option('--at-once', 'each process gets its share of the events and works on all of it at the same time')
      .addOption(
        new Option(
          '--write <mode>',
          'lease, or optimistic: on the ETag in place of the lease (default: lease)',
        ).argParser(choice('--write', ['lease', 'optimistic'])),
      )
      .option('--kill', 'kill processes meanwhile, and start others in their place')
      .addOption(
        new Option('--claim <duration>', 'how long a claim holds (default: 60s; with --kill 3s)').argParser(
          duration('--claim'),
        ),
      )
      .option('--keep', 'leave the stream where it is'),
    'how long the work of an event takes (default: 0s; with --kill 100ms)',
  ).addHelpText('after', NOTES)
  const description = {
    summary: 'processes claim and complete the events of one stream: each exactly once',
    examples: [
      ['lab stream', 'five processes, 99 events, on the embedded store'],
      ['lab stream --events 99 --procs 10 --at-once --write optimistic', 'all handed out at once, without the lease'],
      ['lab stream --kill', 'processes die meanwhile'],
      ['lab stream --pace reference --store azurite:lab', 'as the library of 2013 did it, on Azurite'],
    ],
    formats: ['text', 'json'],
    kind: 'writes',
    effect: 'Writes: creates a stream, lab/stream-TIME, and removes it at the end.',
  } as const
  describe(command, runtime, description)
  act(command, runtime, 'writes', own => parsed<StreamLabOptions>(own, []), go)
}

const run: Run<StreamLabOptions> = async (options, runtime) => {
  const { labStream } = await import('./stream.ts')
  return labStream(options, runtime)
}
