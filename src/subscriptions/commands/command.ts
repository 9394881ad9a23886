import { hash, randomUUID } from 'node:crypto'
import { OPERATION_FIELDS } from '../../ops/operation-input.ts'
import { checkStreamName } from '../../store/names.ts'
import type { DataInput } from '../../stream/data-input.ts'
import { InvalidValue } from '../../stream/errors.ts'
import type { Claimant, EventSpec, Operation } from '../../stream/operations/operation.ts'
import {
  type AttributeChanges,
  type EventInput,
  NEW_STREAM,
  type NewStream,
  type NewStreamSpec,
  readEvent,
} from '../../stream/specs.ts'
import { COMMAND_ID_LENGTH, encodeForCommandId } from '../../stream/text.ts'
import {
  type Fields,
  flag,
  inField,
  isObject,
  objectOf,
  type Read,
  required,
  requiredText,
  storedText,
  whole,
  word,
  wrong,
} from '../../stream/values.ts'

/** The operations that a handler can send to streams. */
const COMMANDS = ['init', 'append', 'signal', 'cancel', 'abort', 'retry', 'complete', 'fail', 'set'] as const
type CommandName = (typeof COMMANDS)[number]

/** `fail`: a refused command fails the delivery, which is tried again. `ignore`: the delivery goes on without it. */
const IF_REFUSED = ['fail', 'ignore'] as const

/** What every command has. */
export interface StreamCommandOptions {
  /** The stream that it changes. */
  readonly stream: string
  /** Tells two commands of one delivery to the same stream apart. Default: the name of the stream. */
  readonly key?: string
  /** Why, for the history of the stream. */
  readonly why?: string
  /** What a refusal by the state of the stream means; a stream that is missing refuses too. Default `fail`. */
  readonly ifRefused?: 'fail' | 'ignore'
}

/** An event that a command ends, and who has claimed it. */
export interface EventEnd extends Claimant {
  readonly event: string
  readonly msg?: string
  readonly result?: DataInput
}

/**
 * A command of a handler: one operation on one stream. It is executed after the handler has succeeded, and once, however
 * often its delivery comes again: its command id is made of the delivery, `do` and `key`.
 */
export type StreamCommand = StreamCommandOptions &
  (
    | ({ readonly do: 'init' } & NewStream)
    | {
        readonly do: 'append'
        readonly step: EventInput
        /** The number of the step within its session, from 1: it is done after the one before it, even if that comes later. */
        readonly seq?: number
        /** No more steps follow. */
        readonly last?: boolean
        /** Makes the session if the stream is absent; `root` names its root, default `Session`. */
        readonly create?: boolean | { readonly root: string }
      }
    | { readonly do: 'signal'; readonly name: string; readonly data?: DataInput; readonly every?: boolean }
    /** Without an event: the whole stream. */
    | {
        readonly do: 'cancel' | 'abort'
        readonly event?: string
        readonly msg?: string
        readonly noCompensate?: boolean
      }
    /** Without an event: all failed leaves that can be retried. */
    | { readonly do: 'retry'; readonly event?: string; readonly canceled?: boolean }
    | ({ readonly do: 'complete' } & EventEnd)
    | ({ readonly do: 'fail'; readonly transient?: boolean; readonly retry?: string } & EventEnd)
    | ({ readonly do: 'set'; readonly event: string; readonly attributes: AttributeChanges } & Claimant)
  )

/** A command after validation. */
export interface SagaCommand extends StreamCommandOptions {
  readonly do: CommandName
  readonly operation: Operation
  /** For `append`: name of the root of the session that is made if the stream is absent. */
  readonly create?: string
}

const streamOf: Read<string> = (given, field) => {
  const one = 'A command changes one stream: send one command for each.'
  if (typeof given !== 'string') throw wrong(field, given, 'the name of the stream that the command changes', one)
  inField(field, () => checkStreamName(given))
  return given
}

const OPTIONS: Fields<StreamCommandOptions> = {
  stream: required(streamOf),
  key: requiredText,
  why: storedText('reason'),
  ifRefused: word(IF_REFUSED),
}

/** The root of the session to make; `''` if none is to be made. */
const sessionOf: Read<string> = (given, field) => {
  if (isObject(given)) return requiredText(given.root, `${field}.root`)
  return flag(given, field) ? 'Session' : ''
}

interface AppendSpec {
  readonly step: EventSpec
  readonly seq?: number
  readonly last?: boolean
  readonly create?: string
}

const { expired: _, ...FAIL } = OPERATION_FIELDS.fail
const { expired: __, ...ABORT } = OPERATION_FIELDS.abort

const READERS: { readonly [Name in CommandName]: Read<SagaCommand> } = {
  init: readerOf<NewStreamSpec>('init', NEW_STREAM, stream => ({
    operation: { op: 'init', root: { name: 'Start' }, forks: [], hold: false, ...stream, born: randomUUID() },
  })),
  append: readerOf<AppendSpec>(
    'append',
    { step: required(readEvent), seq: whole(1), last: flag, create: sessionOf },
    ({ create = '', ...appended }) => ({
      operation: { op: 'append', ...appended },
      ...(create === '' ? {} : { create }),
    }),
  ),
  signal: simple('signal', OPERATION_FIELDS.signal),
  cancel: simple('cancel', OPERATION_FIELDS.cancel),
  abort: simple('abort', ABORT),
  retry: simple('retry', OPERATION_FIELDS.retry),
  complete: simple('complete', OPERATION_FIELDS.complete),
  fail: simple('fail', FAIL),
  set: simple('set', OPERATION_FIELDS.set),
}

type OperationFields<Name> = Omit<Extract<Operation, { op: Name }>, 'op' | 'expired'>

function simple<Name extends CommandName>(name: Name, fields: Fields<OperationFields<Name>>): Read<SagaCommand> {
  return readerOf<OperationFields<Name>>(name, fields, given => ({ operation: { op: name, ...given } as Operation }))
}

function readerOf<Spec extends object>(
  name: CommandName,
  fields: Fields<Spec>,
  made: (spec: Spec) => Pick<SagaCommand, 'operation' | 'create'>,
): Read<SagaCommand> {
  const read = objectOf<StreamCommandOptions>({
    do: word([name]),
    ...OPTIONS,
    ...fields,
  } as Fields<StreamCommandOptions>)
  return (given, field) => {
    const { do: _, stream, key, why, ifRefused, ...spec } = read(given, field) as StreamCommandOptions & { do: string }
    const options = { stream, key, why, ifRefused }
    const present = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
    return { do: name, ...(present as unknown as StreamCommandOptions), ...made(spec as object as Spec) }
  }
}

/** Reads a command that a program gives. @throws InvalidValue */
export const readCommand: Read<SagaCommand> = (given, field) => {
  const isLine = field === 'options'
  if (!isObject(given) || Array.isArray(given)) {
    throw wrong(isLine ? 'a command' : field, given, 'an object with do, stream, …')
  }
  const name = isLine ? 'do' : `${field}.do`
  return READERS[word(COMMANDS)(given.do, name)](given, field)
}

/** The most commands of one delivery. */
const MOST_COMMANDS = 100

/**
 * Reads lines of JSON, each a command; empty lines are ignored.
 *
 * @throws InvalidValue with the number of the first wrong line
 */
export function parseCommandLines(lines: string): SagaCommand[] {
  const commands = lines.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    try {
      return [readCommand(parsedLine(line), 'options')]
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error
      throw new InvalidValue(`line ${at + 1}: ${error.message}`, {
        cause: error,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
      })
    }
  })
  checkNumber(commands)
  return commands
}

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new InvalidValue('not JSON', { cause: error, hint: 'Each line is one command: {"do":"init","stream":"…"}' })
  }
}

/** @throws InvalidValue for more than 100 commands in one delivery */
export function checkNumber(commands: readonly SagaCommand[]): void {
  if (commands.length <= MOST_COMMANDS) return
  throw new InvalidValue(`one delivery sends at most ${MOST_COMMANDS} commands, not ${commands.length}`)
}

/** The delivery that a command belongs to. */
export interface CommandOrigin {
  readonly subscription: string
  /** `{born}@{version}` */
  readonly id: string
}

/**
 * The command id: the same each time the delivery comes again. Characters that an id cannot have are percent-encoded; what
 * would be longer than 200 characters is hashed.
 */
export function commandIdOf({ subscription, id }: CommandOrigin, command: SagaCommand): string {
  const start = encodeForCommandId(`saga:${subscription}:${id}:${command.do}:`)
  const key = encodeForCommandId(command.key ?? command.stream)
  if (start.length + key.length <= COMMAND_ID_LENGTH) return start + key
  const tail = hash('sha256', `${start}${key}`, 'hex')
  return `${start.slice(0, COMMAND_ID_LENGTH - tail.length)}${tail}`
}
