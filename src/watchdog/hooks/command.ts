import { type ChildProcess, spawn } from 'node:child_process'
import { RunningGroups, signalGroup } from '../../process/process-group.ts'
import type { Timing } from '../../util/clock.ts'
import { type Cut, type DeliveryAttempt, Excerpt, failureCode, whyCut } from './attempt.ts'
import type { CommandTarget } from './target.ts'

/** Limit for the kept output of a program, stdout and stderr together. */
const MAX_OUTPUT_BYTES = 16 * 1_024
/** Time from SIGTERM to SIGKILL, and from there until the program is abandoned. */
const GRACE_MS = 2_000

const running = new RunningGroups()

export interface CommandInput {
  /** Written to its standard input. */
  readonly text: string
  /** Its complete environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly timing: Timing
  /** Aborts the program. */
  readonly stop: AbortSignal
}

/**
 * Runs the program of a hook until it and all holders of its output have exited. On a timeout it is killed together
 * with its descendants. Never throws.
 */
export async function runCommand({ argv, timeoutMs }: CommandTarget, input: CommandInput): Promise<DeliveryAttempt> {
  const child = started(argv, input.environment)
  if (typeof child === 'string') return { kind: 'repeat', code: child, output: '' }
  running.add(child)
  try {
    return await attemptOf(child, timeoutMs, input)
  } finally {
    running.delete(child)
  }
}

async function attemptOf(child: ChildProcess, timeoutMs: number, input: CommandInput): Promise<DeliveryAttempt> {
  const output = new Excerpt(MAX_OUTPUT_BYTES)
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => output.add(chunk))
  const over = new AbortController()
  const ended = endOf(child).finally(() => over.abort())
  // A program need not read its input.
  child.stdin?.on('error', () => {})
  child.stdin?.end(input.text)
  await input.timing.pause(timeoutMs, AbortSignal.any([over.signal, input.stop]))
  const isCut = !over.signal.aborted
  if (isCut) await endGroup(child, over.signal, input.timing)
  const fault = isCut ? undefined : await ended
  return { ...verdict(child, fault, isCut && whyCut(input.stop)), output: output.text() }
}

/** The child process, or the code of the error that prevented it. */
function started([program, ...args]: CommandTarget['argv'], env: CommandInput['environment']): ChildProcess | string {
  try {
    // Own process group, so that the program can be killed with its descendants.
    return spawn(program, args, { cwd: '/', env, stdio: 'pipe', detached: true, shell: false })
  } catch (error) {
    return failureCode(error)
  }
}

/**
 * The code of the error that prevented the start; `undefined` once the program and all holders of its output have
 * exited.
 */
async function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise(resolve => {
    child.once('error', error => resolve(failureCode(error)))
    child.once('close', () => resolve(undefined))
  })
}

/** Sends SIGTERM to the group, and SIGKILL after the grace period. Processes that left the group are not waited for. */
async function endGroup(child: ChildProcess, over: AbortSignal, timing: Timing): Promise<void> {
  signalGroup(child, 'SIGTERM')
  await timing.pause(GRACE_MS, over)
  // Members of the group that closed the output may still run.
  if (over.aborted && signalGroup(child, 0)) await timing.pause(GRACE_MS, new AbortController().signal)
  signalGroup(child, 'SIGKILL')
  await timing.pause(GRACE_MS, over)
  for (const stream of child.stdio) stream?.destroy()
}

function verdict(
  { exitCode, signalCode }: ChildProcess,
  fault: string | undefined,
  cut: Cut | false,
): Omit<DeliveryAttempt, 'output'> {
  if (exitCode === 0) return { kind: 'delivered', code: 'exit-0' }
  if (cut !== false) return cut
  return { kind: 'repeat', code: fault ?? (signalCode === null ? `exit-${exitCode}` : `signal-${signalCode}`) }
}
