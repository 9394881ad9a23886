import { type Command, Option } from 'commander'
import { act, describe, describeGroup, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, duration } from '../cli/values.ts'
import type { LeaseLabOptions } from './lab/lease.ts'
import { labFlags, noLonger, upTo } from './lab/options.ts'
import type { StreamLabOptions } from './lab/stream.ts'

/** `lab …`: how a store bears up when processes contend for one stream. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('lab').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'contention tests: lease, stream',
    description:
      'Contention tests, with processes of their own, on the store of --store, else the embedded one: how long do they wait, how fair is it, is each event done exactly once.',
    examples: [
      ['lab lease --procs 5 --duration 20s', 'processes take a lease in turn'],
      ['lab stream --events 99 --procs 5', 'processes work on one stream'],
      ['lab stream --store azure:ACCOUNT/CONTAINER', 'on your own account'],
    ],
  })
  for (const registerIn of [registerLease, registerStream]) registerIn(group, runtime)
}

const LONGEST_MS = 3_600_000

const LEASE_NOTES = `
Each process takes the lease of one stream, holds it for a moment, gives it back, and again. WAITED is from the first try
to acquire it until it was held; who waits when the time is up is counted with an attempt and without a turn. At the end the
times in which it was held are laid beside each other: no two may overlap (exit 1 if two do).
`

export function registerLease(parent: Command, runtime: Runtime, go: Run<LeaseLabOptions> = runLease): void {
  const command = labFlags(
    parent
      .command('lease')
      .addOption(
        new Option('--duration <duration>', 'how long they contend (default: 20s)').argParser(
          noLonger('--duration', LONGEST_MS),
        ),
      ),
    'how long the lease is held in each turn (default: 50ms)',
  ).addHelpText('after', LEASE_NOTES)
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
  act(command, runtime, 'writes', [], go)
}

const runLease: Run<LeaseLabOptions> = async (...given) => (await import('./lab/lease.ts')).labLease(...given)

const MOST_EVENTS = 5_000

const STREAM_NOTES = `
A fresh stream has so many events that nobody has begun. Each process claims one, completes it, and looks for the next until all
are done; with --at-once each gets its share and starts and completes all of it at the same time, so that changes share writes.
WAITED is how long a change took from asking for it until it was durable. The time counts from when all processes are ready.
--kill ends a process now and then without notice and starts another: what it had claimed is taken over when the claim ends.
At the end the journal is read: each event was started once per attempt and completed once, by its owner, and all that a process
was told is there (exit 1 if not).
`

export function registerStream(parent: Command, runtime: Runtime, go: Run<StreamLabOptions> = runStream): void {
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
  ).addHelpText('after', STREAM_NOTES)
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
  act(command, runtime, 'writes', [], go)
}

const runStream: Run<StreamLabOptions> = async (...given) => (await import('./lab/stream.ts')).labStream(...given)
