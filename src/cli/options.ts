import { type Command, Option } from 'commander'
import type { TimeStyle } from '../formats/terminal/numbers.ts'
import type { ColourChoice } from '../formats/terminal/style.ts'
import type { WriteMode } from '../store/store.ts'
import {
  choice,
  commandId,
  contextName,
  contextNames,
  count,
  duration,
  givenTwice,
  leaseId,
  nonEmpty,
  once,
  repeatable,
  requiredText,
  storedText,
} from './values.ts'
import { VERSION } from './version.ts'

/** The flags of every command. */
export interface GlobalOptions {
  readonly store?: string
  readonly container?: string
  /** Name of a context. */
  readonly context?: string
  readonly output?: string
  readonly quiet?: boolean
  readonly verbose?: boolean
  readonly debug?: boolean
  readonly time?: TimeStyle
  readonly color?: ColourChoice
}

/** The flags of every command that changes a stream. */
export interface ChangeFlags {
  readonly reason?: string
  readonly by?: string
  readonly commandId?: string
  /** How long to wait for a lease held by another, ms. */
  readonly leaseWait?: number
  readonly leaseId?: string
  /** How other writers are excluded. */
  readonly write?: WriteMode
  readonly ifVersion?: number
}

/** Help heading of the global flags. */
export const EVERYWHERE = 'Global flags:'
const EVERY_CHANGE = 'Write flags:'

/** Created once: every command has them, and creating them takes a good part of the start. */
const WHERE = [
  new Option(
    '--store <address>',
    'address of the store: sqlite:PATH, azure:ACCOUNT/CONTAINER, azurite:CONTAINER, a URL',
  ).argParser(once('--store', nonEmpty('--store'))),
  new Option('--container <name>', 'container in the storage account of the environment').argParser(
    once('--container', nonEmpty('--container')),
  ),
].map(option => option.helpGroup(EVERYWHERE))
const CONTEXT = new Option('-c, --context <name>', 'use the store of this context')
  .argParser(once('-c', contextName('-c')))
  .helpGroup(EVERYWHERE)
const HOW = [
  new Option('-q, --quiet', 'suppress messages on stderr'),
  new Option('-v, --verbose', 'verbose messages on stderr, each attempt to get a lease among them'),
  new Option('--debug', 'print the stack of an error'),
  new Option('--time <style>', 'format of times: relative, local, utc, iso').argParser(
    choice('--time', ['relative', 'local', 'utc', 'iso']),
  ),
  new Option('--color <when>', 'when to use colours: auto, always, never').argParser(
    choice('--color', ['auto', 'always', 'never']),
  ),
].map(option => option.helpGroup(EVERYWHERE))

/** `-c` of a command that reads several stores at once. Its value is a list. */
export function severalContexts(): Option {
  return new Option('-c, --context <name>', 'use the store of this context; of several: A,B, or the flag repeated')
    .argParser(repeatable(contextNames))
    .helpGroup(EVERYWHERE)
}

/** Adds the global flags that the command does not have already. `formats` are the values of `-o`, the default first. */
export function everywhere(command: Command, formats: readonly string[] = []): Command {
  const output = new Option(
    '-o, --output <format>',
    formats.length === 0 ? 'format of the output' : `${formats.join(', ')} (default: ${formats[0]})`,
  )
  if (formats.length > 0) output.argParser(choice('-o', formats))
  const own = new Set(command.options.map(({ long }) => long))
  for (const option of [...WHERE, CONTEXT, output.helpGroup(EVERYWHERE), ...HOW])
    if (!own.has(option.long)) command.addOption(option)
  return command
    .optionsGroup(EVERYWHERE)
    .helpOption('-h, --help', 'show this help')
    .version(VERSION, '--version', 'print the version')
}

export const WRITE_MODES: readonly WriteMode[] = ['lease', 'optimistic']
const CHANGE = [
  new Option('-m, --reason <text>', 'why: kept in the journal').argParser(storedText('-m', 'reason')),
  new Option('--by <actor>', 'who makes the change (default: user@host)').argParser(requiredText('--by')),
  new Option('--command-id <id>', 'idempotency key: a change with the same id is applied once').argParser(commandId),
  new Option(
    '--lease-wait <duration>',
    'how long to wait for a lease held by another (default: 10s; 0s: do not wait)',
  ).argParser(duration('--lease-wait', { zero: true })),
  new Option('--lease-id <id>', 'write under this lease, which you already hold').argParser(leaseId('--lease-id')),
  new Option(
    '--write <how>',
    'lease: take the lease (default); optimistic: no lease, retry on ETag conflict',
  ).argParser(choice('--write', WRITE_MODES)),
  new Option('--if-version <n>', 'proceed only if the stream is at this version').argParser(count('--if-version', 0)),
].map(option => option.helpGroup(EVERY_CHANGE))

/** Commands whose reason is the message of an event too, which may be longer: the journal keeps its beginning. */
const WITH_MESSAGE: ReadonlySet<string> = new Set(['complete', 'fail', 'touch', 'skip', 'cancel', 'abort'])

/** Flags of every change that a command refuses to run without. */
const REQUIRED = ['ack --reason', 'suspend --reason', 'skip --reason', 'append --command-id', 'edit --lease-id']

/** Adds the flags of every change. */
export function everyChange(command: Command): Command {
  for (const option of CHANGE) command.addOption(ownOption(option, command.name()))
  return command
}

/** The flag as this command takes it. */
function ownOption(option: Option, command: string): Option {
  const isMessage = option.long === '--reason' && WITH_MESSAGE.has(command)
  const note = REQUIRED.includes(`${command} ${option.long}`) ? ' (required)' : ''
  if (!isMessage && note === '') return option
  const own = new Option(option.flags, `${option.description}${note}`).helpGroup(EVERY_CHANGE)
  return Object.assign(own, { parseArg: isMessage ? storedText('-m', 'msg') : option.parseArg })
}

/** Adds the flags of every change to a removal, except `--write`: it is always one request on the ETag. */
export function everyRemoval(command: Command): Command {
  for (const option of CHANGE) if (option.long !== '--write') command.addOption(option)
  return command
}

/** The flags of every change that apply to the break of a lease. */
const OF_BREAK: readonly (string | undefined)[] = ['--reason', '--by', '--command-id', '--lease-wait']

/** Adds the flags of every change that apply to the break of a lease, which is held by another. */
export function everyBreak(command: Command): Command {
  for (const option of CHANGE) if (OF_BREAK.includes(option.long ?? undefined)) command.addOption(option)
  return command
}

/** Flags for a single change; a worker makes many. */
const OF_ONE_CHANGE: readonly (string | undefined)[] = ['--command-id', '--lease-id', '--if-version']

/** Adds the flags of every change to a worker, except those for a single change. @param own the flag as this command takes it */
export function everyWorkerChange(command: Command, own = (option: Option) => option): Command {
  for (const option of CHANGE) if (!OF_ONE_CHANGE.includes(option.long ?? undefined)) command.addOption(own(option))
  return command
}

/** Refuses another value before the command than after it: `--store A ls --store B`. */
function refuseTwo(option: Option, chain: readonly Command[]): void {
  const values = chain.flatMap(part => part.opts()[option.attributeName()] ?? [])
  if (new Set(values).size > 1) throw givenTwice(option.long ?? option.flags)
}

/** The options of a command and of its parents; the nearest to the command wins, but stores must agree. */
export function optionsOf(command: Command): Record<string, unknown> {
  const chain: Command[] = []
  for (let at: Command | null = command; at !== null; at = at.parent) chain.unshift(at)
  const options = Object.assign({}, ...chain.map(part => part.opts()))
  for (const option of WHERE) refuseTwo(option, chain)
  // -o before the command was parsed without knowing the formats of the command
  const output = command.options.find(option => option.attributeName() === 'output')
  if (options.output !== undefined) output?.parseArg?.(options.output, undefined)
  return options
}
