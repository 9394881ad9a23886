import { type Command, Option } from 'commander'
import { describeGroup, type Run, reads, writes } from '../cli/command.ts'
import { type DataFlags, dataFlags, type ResultFlags, resultFlags } from '../cli/data-flags.ts'
import type { ChangeFlags, GlobalOptions } from '../cli/options.ts'
import { type Problem, UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { eventId, names, requiredText, storedDuration, storedText, streamName } from '../cli/values.ts'
import { type Operation, SETTABLE, type SettableAttributes } from '../stream/operations/operation.ts'
import { stepSequence } from '../stream/operations/plan.ts'
import { defined } from '../util/defined.ts'
import { registerAppend } from './event/append.ts'
import type { EventDataOptions } from './event/data.ts'
import { registerEdit } from './event/edit.ts'
import { attempts, type FailureFlags, failureFlags, failureOf, pauses } from './event/failure-flags.ts'
import {
  type AttributeFlags,
  attributeFlags,
  attributesOf,
  type ClaimOptions,
  claimantOf,
  claimFlag,
  claimMs,
  type EventOptions,
  eventCommand,
  type GateFlags,
  gateFlags,
  gateOf,
  lifeOf,
  msgOf,
  ownerOf,
  parseEvent,
  stepsFlag,
  successorFlags,
} from './event/flags.ts'

/** `event …`: the worker operations, for scripts. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('event').usage('COMMAND STREAM ID')
  describeGroup(group, runtime, {
    summary:
      'run worker operations on an event: start, touch, release, advance, append, complete, fail, skip, set, edit, data',
    description:
      'Run worker operations on an event, for scripts. Every command but data writes: it takes the lease for one change.',
    examples: [
      ['event start orders/4711 01.00 --owner w7 -q', 'claim it; prints the fencing token'],
      ['event advance orders/4711 01.00 --fence 1 --next Pay', 'done; add the next step'],
      ['event complete orders/4711 01.01 --fence 1', 'done; the last step of its thread'],
      ["event fail orders/4711 01.01 -m 'no stock'", 'it failed'],
    ],
  })
  for (const registerIn of [
    registerStart,
    registerTouch,
    registerRelease,
    registerAdvance,
    registerAppend,
    registerComplete,
    registerFail,
    registerSkip,
    registerSet,
    registerEdit,
    registerData,
  ])
    registerIn(group, runtime)
}

export interface AdvanceCommandOptions
  extends EventOptions,
    AttributeFlags,
    GateFlags,
    FailureFlags,
    DataFlags,
    ResultFlags {
  readonly next?: string
  readonly fork?: readonly string[]
  readonly join?: string
  readonly steps?: readonly string[]
  readonly more?: boolean
}

export function registerAdvance(parent: Command, runtime: Runtime, go: Run<AdvanceCommandOptions> = runAdvance): void {
  const command = failureFlags(gateFlags(stepsFlag(successorFlags(eventCommand(parent, 'advance')))))
    .addOption(
      new Option('--after <ids>', 'begin when these events are completed: 01.00,02.00').argParser(names('--after')),
    )
    .option('--more', 'advance an event that is already advanced')
  const description = {
    summary: 'finish the work of an event and add its next step or a fork; attributes go to the new events',
    examples: [
      ['event advance orders/4711 01.00 --fence 7 --next SearchDone', 'with a next step'],
      ['event advance orders/4711 01.01 --fork Search,Search --join SearchDone', 'two threads and a join'],
      ["event advance orders/4711 01.00 --fork 'Ask:key=north,Ask:key=south'", 'each with its own key'],
      ['event advance orders/4711 01.00 --steps Pick,Pack,Ship', 'a plan: each step begins after the one before'],
      ['event advance orders/4711 01.00 --next Remind --delay 1d', 'a step that begins in a day'],
      ['event advance orders/4711 01.00 --next Rank --data @found.json', 'the input of the next step'],
    ],
  } as const
  dataFlags(attributeFlags(command), 'the new events, except a join')
  writes(resultFlags(command), runtime, description, parseEvent<AdvanceCommandOptions>, go)
}

const runAdvance: Run<AdvanceCommandOptions> = async (options, runtime) => {
  const { event, next, fork = [], steps = [], join, more } = options
  if (next === undefined && fork.length === 0 && steps.length === 0) {
    throw new UsageError('advance needs a successor', { hint: '--next NAME, --fork A,B,C, or --steps A,B,C' })
  }
  if (join !== undefined && fork.length === 0)
    throw new UsageError('--join needs --fork', { hint: `--fork A,B --join ${join}` })
  const attributes = attributesOf(options)
  const gate = { ...gateOf(options), ...failureOf(options) }
  const { data, result } = await dataGiven(options, runtime)
  const worked = { ...attributes, ...defined({ data }) }
  const operation = {
    op: 'advance',
    event,
    forks: (await forkSpecs(fork, runtime)).map(spec => ({ ...worked, ...gate, ...spec })),
    ...(next === undefined ? {} : { next: { ...worked, ...gate, name: next } }),
    ...(steps.length === 0 ? {} : { steps: stepSequence(steps, { ...worked, ...gate }) }),
    ...(join === undefined ? {} : { join: { ...attributes, name: join } }),
    ...(more ? { more } : {}),
    ...defined({ result }),
    ...claimantOf(options, runtime),
  } as const
  return changeEvent(options, operation, 'advanced', runtime)
}

async function forkSpecs(fork: readonly string[], runtime: Runtime) {
  return fork.length === 0 ? [] : (await import('./event/forks.ts')).readForks(fork, runtime)
}

export type CompleteOptions = EventOptions & ResultFlags

export function registerComplete(parent: Command, runtime: Runtime, go: Run<CompleteOptions> = runComplete): void {
  const description = {
    summary: 'complete an event; ancestors with nothing else open are closed too',
    examples: [
      ['event complete orders/4711 01.02.00 --fence 41 -m "12 results"', 'with a result'],
      ['event complete orders/4711 01.02.00 --owner worker-7', 'by owner'],
      ['search | leasectl event complete orders/4711 01.02.00 --result -', 'with its result for later events'],
    ],
  } as const
  writes(resultFlags(eventCommand(parent, 'complete')), runtime, description, parseEvent<CompleteOptions>, go)
}

const runComplete: Run<CompleteOptions> = async (options, runtime) => {
  const { event } = options
  const result = await dataGiven(options, runtime)
  const operation = { op: 'complete', event, ...msgOf(options), ...result, ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'completed', runtime)
}

export interface FailOptions extends EventOptions, ResultFlags, Pick<FailureFlags, 'retries' | 'backoff'> {
  readonly transient?: boolean
}

export function registerFail(parent: Command, runtime: Runtime, go: Run<FailOptions> = runFail): void {
  const description = {
    summary: 'fail an event (aborted) with a message; open events below it become canceled',
    examples: [
      ['event fail orders/4711 01.02.00 --fence 41 -m "no answer from the shop"', 'with the error'],
      ['event fail orders/4711 01.02.00 --owner worker-7', 'by owner'],
      ['event fail orders/4711 01.02.00 --transient -m "503"', 'try it again after a pause, while attempts are left'],
    ],
  } as const
  const command = eventCommand(parent, 'fail')
    .option('--transient', 'it failed for a passing reason: try it again after a pause')
    .addOption(
      new Option(
        '--retries <n>',
        'with --transient: attempts in all of an event that names none (default: 5)',
      ).argParser(attempts('--retries')),
    )
    .addOption(
      new Option(
        '--backoff <pauses>',
        'with --transient: pauses of such an event, the first and the longest: 2s..1m (default: 1s..1m)',
      ).argParser(pauses('--backoff')),
    )
  writes(resultFlags(command), runtime, description, parseEvent<FailOptions>, go)
}

const runFail: Run<FailOptions> = async (options, runtime) => {
  const { event, transient } = options
  const { retry } = failureOf(options)
  if (retry !== undefined && !transient)
    throw new UsageError('--retries and --backoff need --transient', { hint: 'Without it the event fails for good.' })
  const again = { ...(transient ? { transient } : {}), ...defined({ retry }) }
  const result = await dataGiven(options, runtime)
  const claimant = claimantOf(options, runtime)
  const operation = { op: 'fail', event, ...again, ...msgOf(options), ...result, ...claimant } as const
  return changeEvent(options, operation, 'failed', runtime)
}

export type SkipOptions = GlobalOptions & ChangeFlags & { readonly stream: string; readonly event: string }

export function registerSkip(parent: Command, runtime: Runtime, go: Run<SkipOptions> = runSkip): void {
  const command = parent
    .command('skip')
    .argument('<STREAM>', 'name of the stream', streamName)
    .argument('<ID>', 'id of the failed event, such as 01.02.00', eventId)
  const description = {
    summary: 'let a stream that blocks on failures go on in spite of this one; the event stays failed',
    examples: [['event skip orders/4711 01.02.00 -m "sent by hand"', 'what waits for it goes on']],
  } as const
  writes(command, runtime, description, ['stream', 'event'], go)
}

const runSkip: Run<SkipOptions> = async (options, runtime) => {
  if (options.reason === undefined) {
    throw new UsageError('skip needs a reason', { hint: 'Say with -m why the stream can go on without it.' })
  }
  return changeEvent(options, { op: 'skip', event: options.event, ...msgOf(options) }, 'skipped', runtime)
}

export interface ReleaseOptions extends EventOptions {
  /** As written on the wire. */
  readonly delay?: string
}

export function registerRelease(parent: Command, runtime: Runtime, go: Run<ReleaseOptions> = runRelease): void {
  const description = {
    summary: 'hand an event back, at once or until later; the attempt stays the same',
    examples: [
      ['event release orders/4711 01.02.00 --fence 41', 'another worker can start it'],
      ['event release orders/4711 01.02.00 --fence 41 --delay 30s', 'nobody can start it for 30 seconds'],
    ],
  } as const
  const command = eventCommand(parent, 'release').addOption(
    new Option('--delay <duration>', 'how long nobody can start it again').argParser(storedDuration('--delay')),
  )
  writes(command, runtime, description, parseEvent<ReleaseOptions>, go)
}

const runRelease: Run<ReleaseOptions> = async (options, runtime) => {
  const { event, delay } = options
  const operation = { op: 'release', event, ...defined({ delay }), ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'released', runtime)
}

export interface SetOptions extends EventOptions, AttributeFlags {
  readonly name?: string
  readonly msg?: string
}

export function registerSet(parent: Command, runtime: Runtime, go: Run<SetOptions> = runSet): void {
  const command = eventCommand(parent, 'set').addOption(
    new Option('--name <text>', 'name of the step').argParser(requiredText('--name')),
  )
  command.addOption(
    new Option('--msg <text>', 'message of the event, for people').argParser(storedText('--msg', 'msg')),
  )
  const description = {
    summary: 'change attributes of an event; an empty value removes one',
    examples: [
      ['event set orders/4711 01.02.00 --timeout 10m', 'more time'],
      ['event set orders/4711 01.02.00 --tag ""', 'remove the tag'],
      ['event set orders/4711 01.02.00 --msg "ask for Ada"', 'the text for people; -m says why, in the journal'],
    ],
  } as const
  writes(attributeFlags(command, { clearing: true }), runtime, description, parseEvent<SetOptions>, go)
}

const runSet: Run<SetOptions> = async (options, runtime) => {
  const { event } = options
  const attributes: SettableAttributes = Object.fromEntries(
    SETTABLE.flatMap(name => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
  if (Object.keys(attributes).length === 0)
    throw new UsageError('set needs an attribute', { hint: 'For example --timeout 10m.' })
  const operation = { op: 'set', event, attributes, ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'changed', runtime)
}

export interface StartCommandOptions extends ClaimOptions {
  readonly takeOver?: boolean
}

export function registerStart(parent: Command, runtime: Runtime, go: Run<StartCommandOptions> = runStart): void {
  const command = claimFlag(eventCommand(parent, 'start')).option(
    '--take-over',
    'claim it even if a program without claims may still be working on it',
  )
  const description = {
    summary: 'claim an event for a worker; prints the fencing token, which proves the claim',
    examples: [
      ['event start orders/4711 01.02.00 --owner worker-7', 'for 60 s; touch extends it'],
      ['event start orders/4711 01.02.00 -q', 'only the fencing token: fence=$(…)'],
    ],
  } as const
  writes(command, runtime, description, parseEvent<StartCommandOptions>, go)
}

const runStart: Run<StartCommandOptions> = async (options, runtime) => {
  const { changeOne } = await import('./event/run.ts')
  const { stream, event, fence, takeOver } = options
  return changeOne(
    {
      stream,
      options,
      operation: {
        op: 'start',
        event,
        owner: ownerOf(options, runtime),
        claimMs: claimMs(options),
        ...(fence === undefined ? {} : { fence }),
        ...(takeOver ? { takeOver } : {}),
      },
      word: 'started',
      purpose: `event start ${event}`,
      quietText: ({ result }) => (result.claim === undefined ? '' : `${result.claim.fence}\n`),
    },
    runtime,
  )
}

export type TouchCommandOptions = ClaimOptions

export function registerTouch(parent: Command, runtime: Runtime, go: Run<TouchCommandOptions> = runTouch): void {
  const command = claimFlag(eventCommand(parent, 'touch'))
  const description = {
    summary: 'send a heartbeat: extends the claim; -m is the progress',
    examples: [
      ['event touch orders/4711 01.02.00 --fence 41', 'another 60 s'],
      ['event touch orders/4711 01.02.00 --fence 41 -m "40 of 100"', 'with progress'],
    ],
  } as const
  writes(command, runtime, description, parseEvent<TouchCommandOptions>, go)
}

const runTouch: Run<TouchCommandOptions> = async (options, runtime) => {
  const { event } = options
  const operation = {
    op: 'touch',
    event,
    claimMs: claimMs(options),
    ...msgOf(options),
    ...claimantOf(options, runtime),
  } as const
  return changeEvent(options, operation, 'touched', runtime)
}

export function registerData(parent: Command, runtime: Runtime, go: Run<EventDataOptions> = runData): void {
  const command = parent
    .command('data')
    .argument('<STREAM>', 'name of the stream', streamName)
    .argument('<ID>', 'id of the event, such as 01.02.00', eventId)
    .option('--input', 'print the input of the event')
    .option('--result', 'print the result of the event')
  const description = {
    summary: 'list the data of an event and the results it works with, or print its input or result',
    examples: [
      ['event data orders/4711 01', 'its input and result, and the results of the branches that it joins'],
      ['event data orders/4711 01.00 --result > found.json', 'the bytes of its result'],
    ],
    formats: ['text', 'raw', 'json'],
  } as const
  reads(command, runtime, description, ['stream', 'event'], go)
}

const runData: Run<EventDataOptions> = async (...given) => (await import('./event/data.ts')).showEventData(...given)

/**
 * Changes an event for its worker, in the incarnation of the stream in which the claim was made.
 *
 * @param word past participle for the output: `completed`
 */
async function changeEvent(
  options: EventOptions,
  operation: Operation,
  word: string,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { changeOne } = await import('./event/run.ts')
  const { stream, event } = options
  const purpose = `event ${operation.op} ${event}`
  return changeOne({ stream, options, operation, life: lifeOf(options, runtime), word, purpose }, runtime)
}

async function dataGiven(flags: DataFlags & ResultFlags, runtime: Runtime) {
  const { readData } = await import('../cli/data.ts')
  return readData(flags, runtime)
}
