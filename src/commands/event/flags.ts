import { type Command, Option } from 'commander'
import { parsed } from '../../cli/command.ts'
import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import type { Runtime } from '../../cli/runtime.ts'
import {
  choice,
  claimDuration,
  count,
  eventId,
  names,
  requiredText,
  storedDuration,
  storedText,
  storedTime,
  streamName,
  timeout,
  withWords,
} from '../../cli/values.ts'
import { type Claimant, type EventSpec, ON_DUE, type OnDue } from '../../stream/operations/operation.ts'
import { defined } from '../../util/defined.ts'

/** Options of all `event` commands. */
export interface EventOptions extends GlobalOptions, ChangeFlags {
  readonly stream: string
  readonly event: string
  readonly owner?: string
  readonly fence?: number
}

export interface ClaimOptions extends EventOptions {
  /** Duration of the claim, ms. */
  readonly claim?: number
}

const DEFAULT_CLAIM_MS = 60_000

/** Declares `event NAME STREAM ID`, with the flags that prove a claim. */
export function eventCommand(parent: Command, name: string): Command {
  const command = parent
    .command(name)
    .argument('<STREAM>', 'name of the stream', streamName)
    .argument('<ID>', 'id of the event, such as 01.02.00', eventId)
  return ownerFlag(command).addOption(
    new Option(
      '--fence <n>',
      'fencing token from start, which proves the claim (default: LEASECTL_FENCE under exec)',
    ).argParser(count('--fence', 0)),
  )
}

/** Adds `--owner`. */
export function ownerFlag(command: Command): Command {
  return command.addOption(
    new Option('--owner <name>', 'the worker (default: LEASECTL_OWNER, else --by)').argParser(requiredText('--owner')),
  )
}

/** Help of `--fork`. */
export const FORK_HELP =
  'parallel threads: A,B,C; with attributes of their own, as in a template: Search:key=a,Search:key=b; or @FILE, a YAML list'

/** Adds the flags for successors of an event: `--next`, `--fork`, `--join`. */
export function successorFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--next <name>', 'name of the next step in the same thread').argParser(requiredText('--next')),
    )
    .addOption(new Option('--fork <names>', FORK_HELP).argParser(names('--fork')))
    .addOption(
      new Option('--join <name>', 'name of a step that starts once all threads have ended').argParser(
        requiredText('--join'),
      ),
    )
}

/** Adds `--steps`. */
export function stepsFlag(command: Command): Command {
  return command.addOption(
    new Option('--steps <names>', 'names of steps in a new thread, each after the one before: A,B,C').argParser(
      names('--steps'),
    ),
  )
}

/** When new events can begin. */
export interface GateFlags {
  readonly after?: readonly string[]
  readonly waitFor?: string
  /** As written on the wire. */
  readonly delay?: string
  readonly at?: string
  readonly auto?: boolean
}

/** Adds the flags for what new events wait for: `--wait-for`, `--delay`, `--at`, `--auto`. */
export function gateFlags(command: Command): Command {
  return command
    .addOption(new Option('--wait-for <signal>', 'begin when this signal comes').argParser(requiredText('--wait-for')))
    .addOption(
      new Option('--delay <duration>', 'begin so long after everything else').argParser(storedDuration('--delay')),
    )
    .addOption(
      new Option('--at <date-time>', 'begin at this time: a date-time with zone').argParser(storedTime('--at')),
    )
    .option('--auto', 'no worker is needed: the event is completed as soon as it could begin')
}

/** The given conditions, for a new event. */
export function gateOf({ after, waitFor: signal, delay, at, auto }: GateFlags): Partial<EventSpec> {
  return defined({ after, signal, delay, wake: at, auto })
}

/** Adds `--claim`. */
export function claimFlag(command: Command): Command {
  return command.addOption(
    new Option(
      '--claim <duration>',
      'how long the claim lasts without a heartbeat, 100ms to 7d (default: 60s)',
    ).argParser(claimDuration),
  )
}

export function parseEvent<Options extends EventOptions>(command: Command): Options {
  return parsed<Options>(command, ['stream', 'event'])
}

/** The worker's name. */
export function ownerOf({ owner, by }: EventOptions, runtime: Runtime): string {
  return owner ?? (runtime.env.LEASECTL_OWNER || undefined) ?? by ?? runtime.actor
}

/** Proof of the claim. With a fence, only an explicit owner is checked, as the event may have another owner name. */
export function claimantOf(options: EventOptions, runtime: Runtime): Claimant {
  const fence = options.fence ?? inheritedFence(options, runtime)
  if (fence === undefined) return { owner: ownerOf(options, runtime) }
  return options.owner === undefined ? { fence } : { owner: options.owner, fence }
}

/** The incarnation of the stream in which the claim was made. Another incarnation may use the same fence again. */
export function lifeOf(options: EventOptions, runtime: Runtime): string | undefined {
  const fence = inheritedFence(options, runtime)
  const isProved = fence !== undefined && (options.fence ?? fence) === fence
  return isProved ? runtime.env.LEASECTL_BORN || undefined : undefined
}

/** The fence in the environment of a program that `exec` or `work` runs. It counts only for the program's own event. */
function inheritedFence(options: EventOptions, { env }: Runtime): number | undefined {
  const { stream, event, owner, store, container, context } = options
  const namesAnother = [owner, store, container, context].some(given => given !== undefined)
  if (namesAnother || stream !== env.LEASECTL_STREAM || event !== env.LEASECTL_EVENT) return undefined
  return /^\d{1,15}$/.test(env.LEASECTL_FENCE ?? '') ? Number(env.LEASECTL_FENCE) : undefined
}

export function claimMs({ claim }: ClaimOptions): number {
  return claim ?? DEFAULT_CLAIM_MS
}

/** The reason also becomes the event's message. */
export function msgOf({ reason }: ChangeFlags): { readonly msg?: string } {
  return reason === undefined ? {} : { msg: reason }
}

/** Attributes that the application may use freely. */
export interface AttributeFlags {
  readonly topic?: string
  readonly key?: string
  readonly tag?: string
  readonly ref?: string
  readonly trackingId?: string
  /** As written on the wire. */
  readonly timeout?: string
  readonly onDue?: OnDue | ''
}

/** Adds the attribute flags. With `clearing`, an empty value removes the attribute. */
export function attributeFlags(command: Command, { clearing = false } = {}): Command {
  const text = (flag: string) => storedText(flag)
  const orEmpty = (parse: (value: string) => string) => (value: string) =>
    clearing && value === '' ? '' : parse(value)
  return command
    .addOption(new Option('--topic <text>', 'message topic').argParser(text('--topic')))
    .addOption(new Option('--key <text>', 'business key').argParser(text('--key')))
    .addOption(new Option('--tag <text>', 'label').argParser(text('--tag')))
    .addOption(new Option('--ref <text>', 'reference').argParser(text('--ref')))
    .addOption(new Option('--tracking-id <text>', 'correlation id').argParser(text('--tracking-id')))
    .addOption(
      new Option('--timeout <duration>', 'time limit: 30s, 5m, 1h30m, or a date-time with zone').argParser(
        orEmpty(timeout),
      ),
    )
    .addOption(
      new Option('--on-due <what>', `what the watchdog does when the timeout expires: ${ON_DUE.join(', ')}`).argParser(
        withWords(ON_DUE, orEmpty(choice('--on-due', ON_DUE))),
      ),
    )
}

/** The given attributes, for a new event. */
export function attributesOf({
  topic,
  key,
  tag,
  ref,
  trackingId,
  timeout: limit,
  onDue,
}: AttributeFlags): Omit<EventSpec, 'name'> {
  return {
    ...defined({ topic, key, tag, ref, trackingId, timeout: limit }),
    ...(onDue === undefined || onDue === '' ? {} : { onDue }),
  }
}
