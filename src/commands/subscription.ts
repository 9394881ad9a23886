import { type Command, Option } from 'commander'
import { act, describe, describeGroup, parsed, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { count, duration, requiredText, streamName, streamNames } from '../cli/values.ts'
import { startPoint } from './subscribe/start.ts'
import { subscriptionName } from './subscription/name.ts'
import type {
  ListSubscriptionsOptions,
  ParkedOptions,
  RemoveSubscriptionOptions,
  ResetOptions,
  RetryOptions,
  ShowSubscriptionOptions,
  SkipTransactionOptions,
} from './subscription/options.ts'

const WRITES = 'Writes: a request, which the process that runs the subscription applies within a second or two.'

/** `subscription …`: what subscriptions do, and what they need help with. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('subscription').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'manage subscriptions: ls, show, parked, retry, skip, reset, rm',
    description:
      'Inspect and manage subscriptions, which subscribe runs: how far they are, who runs them, and which streams are parked ' +
      'because their handler failed.',
    examples: [
      ['subscription ls', 'all of them: lag, rate, parked'],
      ['subscription parked billing', 'the streams that do not go on, and why'],
      ['subscription retry billing orders/4711', 'try again, once the handler is mended'],
      ['subscription reset read-model --from start', 'hand over everything again, to rebuild a read model'],
    ],
  })
  for (const registerIn of [
    registerLs,
    registerShow,
    registerParked,
    registerRetry,
    registerSkip,
    registerReset,
    registerRm,
  ])
    registerIn(group, runtime)
}

function named(parent: Command, name: string): Command {
  return parent.command(name).argument('<SUBSCRIPTION>', 'name of the subscription', subscriptionName('SUBSCRIPTION'))
}

/** Flags of a request to a subscription. */
function requestFlags(command: Command): Command {
  return command
    .addOption(new Option('--by <actor>', 'who asks for it (default: user@host)').argParser(requiredText('--by')))
    .addOption(
      new Option(
        '--within <duration>',
        'how long to wait until it is applied (default: 10s; 0s: do not wait)',
      ).argParser(duration('--within', { zero: true })),
    )
}

export function registerLs(parent: Command, runtime: Runtime, go: Run<ListSubscriptionsOptions> = runLs): void {
  const command = parent.command('ls').alias('list')
  const description = {
    summary: 'list subscriptions: lag, rate, waiting and parked streams, who runs them',
    examples: [
      ['subscription ls', 'all of them'],
      ['subscription ls -o json', 'for scripts'],
    ],
    formats: ['table', 'json', 'ndjson', 'csv'],
  } as const
  reads(command, runtime, description, [], go)
}

const runLs: Run<ListSubscriptionsOptions> = async (...given) =>
  (await import('./subscription/run.ts')).listSubscriptions(...given)

export function registerShow(parent: Command, runtime: Runtime, go: Run<ShowSubscriptionOptions> = runShow): void {
  const command = named(parent, 'show')
  const description = {
    summary: 'show a subscription: filters, each shard with its process, position, lag and rate',
    examples: [
      ['subscription show billing', 'who runs which shard'],
      ['subscription show billing -o json', 'for scripts'],
    ],
    formats: ['text', 'json'],
  } as const
  reads(command, runtime, description, ['name'], go)
}

const runShow: Run<ShowSubscriptionOptions> = async (...given) =>
  (await import('./subscription/run.ts')).showSubscription(...given)

export function registerParked(parent: Command, runtime: Runtime, go: Run<ParkedOptions> = runParked): void {
  const command = named(parent, 'parked').option('--waiting', 'also the streams that are tried again by themselves')
  const description = {
    summary: 'list the streams that do not go on because their handler failed, and why',
    examples: [
      ['subscription parked billing', 'those that need someone'],
      ['subscription parked billing --waiting', 'also those that are tried again by themselves'],
      ['subscription parked billing -o name', 'their names, for retry'],
    ],
    formats: ['table', 'name', 'json', 'ndjson', 'csv'],
  } as const
  reads(command, runtime, description, ['name'], go)
}

const runParked: Run<ParkedOptions> = async (...given) => (await import('./subscription/run.ts')).listParked(...given)

export function registerRetry(parent: Command, runtime: Runtime, go: Run<RetryOptions> = runRetry): void {
  const command = named(parent, 'retry')
    .argument('[STREAM...]', 'names of streams that are parked or wait', streamNames)
    .option('--all', 'all that are parked')
  requestFlags(command)
  describe(command, runtime, {
    kind: 'writes',
    effect: WRITES,
    summary: 'try parked streams again, now',
    examples: [
      ['subscription retry billing orders/4711', 'one stream'],
      ['subscription retry billing --all', 'all that are parked'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', own => parsed<RetryOptions>(own, ['name', 'streams']), go)
}

const runRetry: Run<RetryOptions> = async (...given) => (await import('./subscription/run.ts')).retryStreams(...given)

export function registerSkip(parent: Command, runtime: Runtime, go: Run<SkipTransactionOptions> = runSkip): void {
  const command = named(parent, 'skip')
    .argument('<STREAM>', 'name of the stream', streamName)
    .addOption(
      new Option(
        '--to <n>',
        'leave out everything up to this version (default: only the transaction that failed)',
      ).argParser(count('--to', 1)),
    )
  requestFlags(command)
  describe(command, runtime, {
    kind: 'writes',
    effect: WRITES,
    summary: 'leave out the transaction at which a stream is parked, and go on after it',
    examples: [
      ['subscription skip billing orders/4711', 'leave out the transaction that failed'],
      ['subscription skip billing orders/4711 --to 12', 'everything up to version 12'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', own => parsed<SkipTransactionOptions>(own, ['name', 'stream']), go)
}

const runSkip: Run<SkipTransactionOptions> = async (...given) =>
  (await import('./subscription/run.ts')).skipStream(...given)

export function registerReset(parent: Command, runtime: Runtime, go: Run<ResetOptions> = runReset): void {
  const command = named(parent, 'reset').addOption(
    new Option('--from <time>', 'start, now, 2h, a date and time').argParser(startPoint).makeOptionMandatory(),
  )
  requestFlags(command).option('--yes', 'do not ask')
  describe(command, runtime, {
    kind: 'writes',
    effect: WRITES,
    summary: 'hand over everything from a time on again, parked streams included',
    examples: [
      ['subscription reset read-model --from start', 'rebuild a read model from the beginning'],
      ['subscription reset billing --from 2h', 'the last two hours again'],
      ['subscription reset billing --from now', 'leave out what is behind'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', own => parsed<ResetOptions>(own, ['name']), go)
}

const runReset: Run<ResetOptions> = async (...given) =>
  (await import('./subscription/run.ts')).resetSubscription(...given)

export function registerRm(parent: Command, runtime: Runtime, go: Run<RemoveSubscriptionOptions> = runRm): void {
  const command = named(parent, 'rm').alias('delete').option('--yes', 'do not ask')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: removes the position of the subscription. Streams and their history stay as they are.',
    summary: 'remove a subscription that nobody runs, with its position',
    examples: [['subscription rm billing', 'asks first']],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', own => parsed<RemoveSubscriptionOptions>(own, ['name']), go)
}

const runRm: Run<RemoveSubscriptionOptions> = async (...given) =>
  (await import('./subscription/run.ts')).removeNamed(...given)
