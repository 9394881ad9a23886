import { type Command, Option } from 'commander'
import { act, describe, describeGroup, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { choice, duration } from '../cli/values.ts'
import type { LeaseLabOptions } from './lab/lease.ts'
import { labFlags, noLonger, upTo } from './lab/options.ts'
import type { StreamLabOptions } from './lab/stream.ts'

/** `lab …`: contention tests of a store, with processes that contend for one stream. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('lab').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'run contention tests: lease, stream',
    description:
      'Run contention tests between processes, on the store of --store or else the embedded store. They measure waiting times and fairness, and verify that each event is completed exactly once.',
    examples: [
      ['lab lease --procs 5 --duration 20s', 'processes take turns on one lease'],
      ['lab stream --events 99 --procs 5', 'processes work on one stream'],
      ['lab stream --store azure:ACCOUNT/CONTAINER', 'on your own account'],
    ],
  })
  for (const registerIn of [registerLease, registerStream]) registerIn(group, runtime)
}

const MAX_DURATION_MS = 3_600_000

const LEASE_NOTES = `
Each process acquires the lease of one stream, holds it briefly, releases it, and repeats. WAITED is the time from the
first attempt to the acquired lease; a process still waiting at the end counts as an attempt without a turn. At the end the
times in which the lease was held are compared: no two may overlap (exit 1 if two do).
`

export function registerLease(parent: Command, runtime: Runtime, go: Run<LeaseLabOptions> = runLease): void {
  const command = labFlags(
    parent
      .command('lease')
      .addOption(
        new Option('--duration <duration>', 'duration of the test (default: 20s)').argParser(
          noLonger('--duration', MAX_DURATION_MS),
        ),
      ),
    'time for which each turn holds the lease (default: 50ms)',
  ).addHelpText('after', LEASE_NOTES)
  const description = {
    summary: 'let processes take turns on the lease of one stream: attempts, waiting times, fairness',
    examples: [
      ['lab lease', 'five processes for 20 s, on the embedded store'],
      ['lab lease --store azurite:lab --procs 10 --hold 0s', 'ten, on Azurite, which release it at once'],
      ['lab lease --pace reference', 'with the waiting times of the library of 2013'],
    ],
    formats: ['text', 'json'],
    kind: 'writes',
    effect: 'Writes: creates a stream, lab/lease-TIME, and removes it at the end.',
  } as const
  describe(command, runtime, description)
  act(command, runtime, 'writes', [], go)
}

const runLease: Run<LeaseLabOptions> = async (...given) => (await import('./lab/lease.ts')).labLease(...given)

const MAX_EVENTS = 5_000

const STREAM_NOTES = `
A new stream has N ready events. Each process claims one, completes it, and takes the next until all are done. With --at-once
each process gets its share, and starts and completes all its events at the same time, so that changes share writes. WAITED is
the time from a requested change to the durable one. The clock starts when all processes are ready. --kill ends a process now
and then without notice and starts another; its events are taken over when their claims expire. At the end the journal is
verified: each event was started once per attempt and completed once, by its owner, and every change that a process saw
acknowledged is there (exit 1 if not).
`

export function registerStream(parent: Command, runtime: Runtime, go: Run<StreamLabOptions> = runStream): void {
  const command = labFlags(
    parent
      .command('stream')
      .addOption(
        new Option('--events <n>', `number of events, up to ${MAX_EVENTS} (default: 99)`).argParser(
          upTo('--events', MAX_EVENTS),
        ),
      )
      .option('--at-once', 'each process gets its share of the events and works on all of them at the same time')
      .addOption(
        new Option(
          '--write <mode>',
          'lease, or optimistic: check the ETag instead of taking the lease (default: lease)',
        ).argParser(choice('--write', ['lease', 'optimistic'])),
      )
      .option('--kill', 'kill processes during the test, and start others in their place')
      .addOption(
        new Option('--claim <duration>', 'duration of a claim (default: 60s; with --kill 3s)').argParser(
          duration('--claim'),
        ),
      )
      .option('--keep', 'keep the stream afterwards'),
    'duration of the work on an event (default: 0s; with --kill 100ms)',
  ).addHelpText('after', STREAM_NOTES)
  const description = {
    summary: 'let processes claim and complete the events of one stream, each exactly once',
    examples: [
      ['lab stream', 'five processes, 99 events, on the embedded store'],
      ['lab stream --events 99 --procs 10 --at-once --write optimistic', 'all events at once, without the lease'],
      ['lab stream --kill', 'processes are killed during the test'],
      ['lab stream --pace reference --store azurite:lab', 'with the waiting times of the library of 2013, on Azurite'],
    ],
    formats: ['text', 'json'],
    kind: 'writes',
    effect: 'Writes: creates a stream, lab/stream-TIME, and removes it at the end.',
  } as const
  describe(command, runtime, description)
  act(command, runtime, 'writes', [], go)
}

const runStream: Run<StreamLabOptions> = async (...given) => (await import('./lab/stream.ts')).labStream(...given)
