import { transactionJson } from '../../formats/journal.ts'
import { jsonLine } from '../../formats/json.ts'
import { type Argv, type ProgramFate, runProgram } from '../../process/run-program.ts'
import type { StreamStore } from '../../store/store.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { parseCommandLines } from '../../subscriptions/commands/command.ts'
import { type ExecutedCommand, executeCommands } from '../../subscriptions/commands/execute.ts'
import type { Delivery, Handled, Handler } from '../../subscriptions/types.ts'
import { MAX_TIMER_MS } from '../../util/concurrency.ts'
import { outputFile } from '../../worker/program/output-file.ts'
import { readProgramFile } from '../../worker/program/program-file.ts'
import { fateText, lastLines } from '../../worker/program/result.ts'
import { absoluteAddress } from '../../worker/program/run.ts'

/** The exit code of a failure that passes: https://man.openbsd.org/sysexits.3 */
const EX_TEMPFAIL = 75
/** Maximum size of the file of commands, bytes. */
const MOST_BYTES = 32 * 1_024 * 1_024

export interface ProgramHandlerOptions {
  readonly store: StreamStore
  /** The complete environment, to which the variables of the delivery are added. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Standard output of the program. */
  readonly stdout: 'inherit' | 'stderr'
  /** Consumes the stderr of the program. */
  readonly stderr: (chunk: Uint8Array) => Promise<void>
  /** Limit of one run, ms. */
  readonly timeoutMs: number
  readonly graceMs: number
  /** Actor of the commands. */
  readonly by: string
  readonly leaseWaitMs?: number
  /** Called before the program is started. */
  readonly started?: (delivery: Delivery) => void
  /** Called with the end of the program, before its commands are executed. */
  readonly ended?: (delivery: Delivery, fate: ProgramFate) => void
  /** Called for each command that was executed. */
  readonly executed?: (delivery: Delivery, command: ExecutedCommand) => void
}

/**
 * A handler that runs a program for each transaction, which it gets as JSON on stdin. Exit code 0 is success: then the
 * commands in the file `LEASECTL_COMMANDS` are executed, unless it was asked to stop. 75 puts the transaction off; any other end
 * has failed.
 */
export function programHandler(argv: Argv, options: ProgramHandlerOptions): Handler {
  return async (delivery, signal) => {
    const files = outputFile()
    if (files === undefined) return { kind: 'transient', why: 'no temporary file can be created for LEASECTL_COMMANDS' }
    const { path: commands } = files
    const timeout = AbortSignal.timeout(Math.min(options.timeoutMs, MAX_TIMER_MS))
    options.started?.(delivery)
    try {
      const { fate, tail } = await runProgram(argv, {
        env: { ...options.env, ...variablesOf(delivery, commands, options) },
        stdin: { text: inputOf(delivery) },
        stdout: options.stdout,
        stderr: options.stderr,
        folder: files.folder,
        errorPipe: files.errorPipe,
        signal: AbortSignal.any([signal, timeout]),
        graceMs: options.graceMs,
      })
      options.ended?.(delivery, fate)
      if (signal.aborted) return { kind: 'stopped' }
      // On a busy machine its time may be over before it has begun.
      if (timeout.aborted) return { kind: 'failed', why: `stopped: it ran longer than ${options.timeoutMs / 1_000} s` }
      if (fate.kind === 'exited' && fate.code === 0) return await execute(delivery, commands, options, signal)
      return failed(fate, lastLines(tail.bytes(), tail.isCut))
    } finally {
      files.remove()
    }
  }
}

function failed(fate: ProgramFate, lines: string): Handled {
  const why = lines === '' ? fateText(fate) : `${fateText(fate)}: ${lines}`
  const isTransient = fate.kind === 'not-started' || (fate.kind === 'exited' && fate.code === EX_TEMPFAIL)
  return { kind: isTransient ? 'transient' : 'failed', why }
}

async function execute(
  delivery: Delivery,
  path: string,
  { store, by, leaseWaitMs, executed }: ProgramHandlerOptions,
  signal: AbortSignal,
): Promise<Handled> {
  try {
    const commands = parseCommandLines(textIn(path))
    if (commands.length === 0) return { kind: 'handled' }
    return await executeCommands(store, delivery, commands, {
      by,
      signal,
      ...(leaseWaitMs === undefined ? {} : { leaseWaitMs }),
      onCommand: command => executed?.(delivery, command),
    })
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    const hint = error.hint === undefined ? '' : ` (${error.hint})`
    return { kind: 'failed', why: `LEASECTL_COMMANDS cannot be used: ${error.message}${hint}` }
  }
}

/** @throws InvalidValue */
function textIn(path: string): string {
  const bytes = readProgramFile(path, MOST_BYTES)
  if (bytes.length > MOST_BYTES) throw new InvalidValue(`it has more than ${MOST_BYTES / 1_024 / 1_024} MiB`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new InvalidValue('it is not UTF-8', { cause })
  }
}

/** One line, as `tail -o ndjson` prints it. */
function inputOf({ stream, transaction }: Delivery): string {
  return jsonLine(transactionJson(stream, transaction, transaction.provisional))
}

function variablesOf(delivery: Delivery, commands: string, { store }: ProgramHandlerOptions) {
  const { subscription, id, stream, transaction, attempt, born } = delivery
  return {
    LEASECTL_STORE: absoluteAddress(store.address),
    LEASECTL_SUBSCRIPTION: subscription,
    LEASECTL_STREAM: stream,
    LEASECTL_BORN: born,
    LEASECTL_VERSION: String(transaction.version),
    LEASECTL_DELIVERY_ID: id,
    LEASECTL_OP: transaction.op,
    LEASECTL_COMMAND_ID: transaction.commandId,
    LEASECTL_ATTEMPT: String(attempt),
    LEASECTL_DONE: delivery.done ? 'yes' : 'no',
    LEASECTL_COMMANDS: commands,
  }
}
