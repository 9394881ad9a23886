import { type Command, Option } from 'commander'
import { describeGroup, type Run, writes } from '../cli/command.ts'
import { type Problem, UsageError } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { requiredText } from '../cli/values.ts'
import { type Operation, SETTABLE, type SettableAttributes } from '../stream/operations/operation.ts'
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
  lifeOf,
  msgOf,
  ownerOf,
  parseEvent,
  successorFlags,
} from './event/flags.ts'

/** `event …`: the worker operations, for scripts. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('event').usage('COMMAND STREAM ID')
  describeGroup(group, runtime, {
    summary: 'run worker operations on an event: start, touch, release, advance, complete, fail, set',
    description:
      'Run worker operations on an event, for scripts. Every command writes: it takes the lease for one change.',
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
    registerComplete,
    registerFail,
    registerSet,
  ])
    registerIn(group, runtime)
}

export interface AdvanceCommandOptions extends EventOptions, AttributeFlags {
  readonly next?: string
  readonly fork?: readonly string[]
  readonly join?: string
  readonly more?: boolean
}

export function registerAdvance(parent: Command, runtime: Runtime, go: Run<AdvanceCommandOptions> = runAdvance): void {
  const command = successorFlags(eventCommand(parent, 'advance')).option(
    '--more',
    'advance an event that is already advanced',
  )
  const description = {
    summary: 'finish the work of an event and add its next step or a fork; attributes go to the new events',
    examples: [
      ['event advance orders/4711 01.00 --fence 7 --next SearchDone', 'with a next step'],
      ['event advance orders/4711 01.01 --fork Search,Search --join SearchDone', 'two threads and a join'],
    ],
  } as const
  writes(attributeFlags(command), runtime, description, parseEvent<AdvanceCommandOptions>, go)
}

const runAdvance: Run<AdvanceCommandOptions> = async (options, runtime) => {
  const { event, next, fork = [], join, more } = options
  if (next === undefined && fork.length === 0) {
    throw new UsageError('advance needs a successor', { hint: '--next NAME, or --fork A,B,C' })
  }
  if (join !== undefined && fork.length === 0)
    throw new UsageError('--join needs --fork', { hint: `--fork A,B --join ${join}` })
  const attributes = attributesOf(options)
  const operation = {
    op: 'advance',
    event,
    forks: fork.map(name => ({ ...attributes, name })),
    ...(next === undefined ? {} : { next: { ...attributes, name: next } }),
    ...(join === undefined ? {} : { join: { ...attributes, name: join } }),
    ...(more ? { more } : {}),
    ...claimantOf(options, runtime),
  } as const
  return changeEvent(options, operation, 'advanced', runtime)
}

export type CompleteOptions = EventOptions

export function registerComplete(parent: Command, runtime: Runtime, go: Run<CompleteOptions> = runComplete): void {
  const description = {
    summary: 'complete an event; ancestors with nothing else open are closed too',
    examples: [
      ['event complete orders/4711 01.02.00 --fence 41 -m "12 results"', 'with a result'],
      ['event complete orders/4711 01.02.00 --owner worker-7', 'by owner'],
    ],
  } as const
  writes(eventCommand(parent, 'complete'), runtime, description, parseEvent<CompleteOptions>, go)
}

const runComplete: Run<CompleteOptions> = async (options, runtime) => {
  const { event } = options
  const operation = { op: 'complete', event, ...msgOf(options), ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'completed', runtime)
}

export type FailOptions = EventOptions

export function registerFail(parent: Command, runtime: Runtime, go: Run<FailOptions> = runFail): void {
  const description = {
    summary: 'fail an event (aborted) with a message; open events below it become canceled',
    examples: [
      ['event fail orders/4711 01.02.00 --fence 41 -m "no answer from the shop"', 'with the error'],
      ['event fail orders/4711 01.02.00 --owner worker-7', 'by owner'],
    ],
  } as const
  writes(eventCommand(parent, 'fail'), runtime, description, parseEvent<FailOptions>, go)
}

const runFail: Run<FailOptions> = async (options, runtime) => {
  const { event } = options
  const operation = { op: 'fail', event, ...msgOf(options), ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'failed', runtime)
}

export type ReleaseOptions = EventOptions

export function registerRelease(parent: Command, runtime: Runtime, go: Run<ReleaseOptions> = runRelease): void {
  const description = {
    summary: 'hand an event back: its status is init again, the attempt stays the same',
    examples: [
      ['event release orders/4711 01.02.00 --fence 41', 'another worker can start it'],
      ['event release orders/4711 01.02.00 --owner worker-7', 'by owner'],
    ],
  } as const
  writes(eventCommand(parent, 'release'), runtime, description, parseEvent<ReleaseOptions>, go)
}

const runRelease: Run<ReleaseOptions> = async (options, runtime) => {
  const { event } = options
  const operation = { op: 'release', event, ...claimantOf(options, runtime) } as const
  return changeEvent(options, operation, 'released', runtime)
}

export interface SetOptions extends EventOptions, AttributeFlags {
  readonly name?: string
}

export function registerSet(parent: Command, runtime: Runtime, go: Run<SetOptions> = runSet): void {
  const command = eventCommand(parent, 'set').addOption(
    new Option('--name <text>', 'name of the step').argParser(requiredText('--name')),
  )
  const description = {
    summary: 'change attributes of an event; an empty value removes one',
    examples: [
      ['event set orders/4711 01.02.00 --timeout 10m', 'more time'],
      ['event set orders/4711 01.02.00 --tag ""', 'remove the tag'],
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
    'claim it even if another program may still be working on it',
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
