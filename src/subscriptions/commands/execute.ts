import { appendStep } from '../../ops/transact/append.ts'
import { checkOperation, type TransactOptions, type TransactOutcome, transact } from '../../ops/transact/transact.ts'
import { StoreFull, StoreUnreachable, StreamReplaced } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { LeasectlError } from '../../stream/errors.ts'
import { machineTiming, type Timing } from '../../util/clock.ts'
import type { Delivery, Handled } from '../types.ts'
import { checkNumber, commandIdOf, type SagaCommand } from './command.ts'

/** Two commands of one delivery have the same id. */
class AmbiguousCommand extends LeasectlError {
  readonly code = 'ambiguous-command'
}

/** What became of one command. */
export interface ExecutedCommand {
  readonly command: SagaCommand
  readonly commandId: string
  /** `already`: an earlier delivery had executed it. `ignored`: refused by the state of the stream, as `ifRefused` allows. */
  readonly outcome: 'done' | 'already' | 'ignored'
  /** Version of the stream, unless it refused. */
  readonly version?: number
}

export interface ExecuteCommandsOptions {
  /** Actor of the changes, `user@host`. */
  readonly by: string
  readonly signal: AbortSignal
  /** How long to wait for a lease held by another, ms. Default 10 000. */
  readonly leaseWaitMs?: number
  readonly timing?: Pick<Timing, 'pause'>
  /** Called for each command that is in its stream now. It must not throw. */
  readonly onCommand?: (executed: ExecutedCommand) => void
}

/** A command with its id. */
interface NamedCommand {
  readonly command: SagaCommand
  readonly commandId: string
}

type Problem = Exclude<Handled, { readonly kind: 'handled' }>

/**
 * Executes the commands of a delivery in their order. If the delivery comes again, those that were executed have no second
 * effect, because their ids are in the histories of their streams. Never throws.
 *
 * @returns `handled` when all are executed; `transient` if a stream is leased, the store is away or an outcome stays
 * unknown; `failed` if one is invalid, or refused by the state of its stream; `stopped` if `signal` aborted
 */
export async function executeCommands(
  store: StreamStore,
  delivery: Pick<Delivery, 'subscription' | 'id'>,
  commands: readonly SagaCommand[],
  options: ExecuteCommandsOptions,
): Promise<Handled> {
  let current: NamedCommand | undefined
  try {
    for (const named of checkedCommands(delivery, commands, options.by)) {
      current = named
      const problem = await executeOne(store, named, options)
      if (problem !== undefined) return problem
    }
    return { kind: 'handled' }
  } catch (error) {
    return problemOf(error, current, options.signal)
  }
}

/** All are checked before the first is executed. @throws InvalidValue; AmbiguousCommand */
function checkedCommands(
  delivery: Pick<Delivery, 'subscription' | 'id'>,
  commands: readonly SagaCommand[],
  by: string,
): NamedCommand[] {
  checkNumber(commands)
  const named = commands.map(command => ({ command, commandId: commandIdOf(delivery, command) }))
  const seen = new Set<string>()
  for (const { command, commandId } of named) {
    if (seen.has(commandId)) throw ambiguous(command)
    seen.add(commandId)
    checkOperation(command.stream, command.operation, authorshipOf({ command, commandId }, by))
  }
  return named
}

function ambiguous({ do: name, stream, key }: SagaCommand): AmbiguousCommand {
  const same = key === undefined ? '' : ` with the key ${JSON.stringify(key)}`
  const what = `two commands of one delivery are ${name} ${stream}${same}`
  return new AmbiguousCommand(what, { hint: 'Give each a key of its own.' })
}

function authorshipOf({ command: { why }, commandId }: NamedCommand, by: string) {
  return { commandId, by, ...(why === undefined ? {} : { why }) }
}

/** Attempts to learn an unknown outcome; after them the delivery comes again. */
const MOST_ATTEMPTS = 5
const FIRST_PAUSE_MS = 500

/** `undefined`: it is executed, or its refusal is ignored. @throws the store's faults */
async function executeOne(
  store: StreamStore,
  named: NamedCommand,
  options: ExecuteCommandsOptions,
): Promise<Problem | undefined> {
  const { signal, timing = machineTiming } = options
  for (let attempt = 1; ; attempt += 1) {
    if (signal.aborted) return { kind: 'stopped' }
    const outcome = await send(store, named, options)
    if (outcome.kind !== 'unknown') return settled(outcome, named, options)
    if (outcome.cause instanceof StreamReplaced) {
      return { kind: 'failed', why: whyOf(named, outcome.cause.message), hopeless: true }
    }
    if (attempt === MOST_ATTEMPTS) return { kind: 'transient', why: whyOf(named, 'its outcome is unknown') }
    await timing.pause(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal)
  }
}

function send(store: StreamStore, named: NamedCommand, options: ExecuteCommandsOptions): Promise<TransactOutcome> {
  const { stream, operation, create } = named.command
  const { by, signal, leaseWaitMs } = options
  const given: TransactOptions = {
    ...authorshipOf(named, by),
    purpose: `${operation.op} of a saga`,
    signal,
    ...(leaseWaitMs === undefined ? {} : { leaseWaitMs }),
  }
  if (operation.op !== 'append') return transact(store, stream, operation, given)
  return appendStep(store, stream, { ...operation, ...(create === undefined ? {} : { create }) }, given)
}

function settled(
  outcome: Exclude<TransactOutcome, { readonly kind: 'unknown' }>,
  named: NamedCommand,
  { onCommand }: ExecuteCommandsOptions,
): Problem | undefined {
  switch (outcome.kind) {
    case 'done': {
      const { duplicate, outcome: told, version } = outcome.result
      onCommand?.({ ...named, outcome: duplicate || told === 'already' ? 'already' : 'done', version })
      return undefined
    }
    case 'refused':
    case 'missing':
      return refused(outcome, named, onCommand)
    case 'held':
      return { kind: 'transient', why: whyOf(named, 'the stream is leased by another') }
    case 'lost':
      return { kind: 'transient', why: whyOf(named, outcome.code) }
    default:
      return outcome satisfies never
  }
}

function refused(
  outcome: Extract<TransactOutcome, { readonly kind: 'refused' | 'missing' }>,
  named: NamedCommand,
  onCommand: ExecuteCommandsOptions['onCommand'],
): Problem | undefined {
  const { code, message } =
    outcome.kind === 'missing' ? { code: 'stream-not-found', message: 'there is no such stream' } : outcome.refusal
  // An id that belongs to another command is no state of the stream.
  if (named.command.ifRefused !== 'ignore' || code === 'command-id-reused') {
    return { kind: 'failed', why: whyOf(named, `${message} [${code}]`) }
  }
  onCommand?.({ ...named, outcome: 'ignored' })
  return undefined
}

function problemOf(error: unknown, named: NamedCommand | undefined, signal: AbortSignal): Problem {
  if (signal.aborted) return { kind: 'stopped' }
  const why = whyOf(named, reasonOf(error))
  const isPassing = error instanceof StoreUnreachable || error instanceof StoreFull
  return { kind: isPassing ? 'transient' : 'failed', why }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof LeasectlError)) return error instanceof Error ? error.message : String(error)
  return `${error.message} [${error.code}]${error.hint === undefined ? '' : ` ${error.hint}`}`
}

/** `init invoices/1: …` */
function whyOf(named: NamedCommand | undefined, what: string): string {
  return named === undefined ? what : `${named.command.do} ${named.command.stream}: ${what}`
}
