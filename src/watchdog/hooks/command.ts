import { type ChildProcess, spawn } from 'node:child_process'
import { RunningGroups, signalGroup } from '../../process/process-group.ts'
import type { Timing } from '../../util/clock.ts'
import { type Cut, type DeliveryAttempt, Excerpt, failureCode, whyCut } from './attempt.ts'
import type { CommandTarget } from './target.ts'

/** So much of what a program prints is kept, of both its streams together. */
const MAX_OUTPUT_BYTES = 16 * 1_024
/** From asking a program to end to ending it, and from there to not waiting for it any more. */
const GRACE_MS = 2_000

const running = new RunningGroups()

export interface CommandInput {
  /** What it reads on standard input. */
  readonly text: string
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly timing: Timing
  /** Ends it before its time. */
  readonly stop: AbortSignal
}

/**
 * Runs the program of a hook to its end, which is when it and all that hold its output have ended. One that takes too long
 * is ended with all it started. Never throws.
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
  // a program need not read what it is told
  child.stdin?.on('error', () => {})
  child.stdin?.end(input.text)
  await input.timing.pause(timeoutMs, AbortSignal.any([over.signal, input.stop]))
  const isCut = !over.signal.aborted
  if (isCut) await endGroup(child, over.signal, input.timing)
  const fault = isCut ? undefined : await ended
  return { ...verdict(child, fault, isCut && whyCut(input.stop)), output: output.text() }
}

/** The child, or why there is none. */
function started([program, ...args]: CommandTarget['argv'], env: CommandInput['environment']): ChildProcess | string {
  try {
    // a group of its own, so that it can be ended with all it started
    return spawn(program, args, { cwd: '/', env, stdio: 'pipe', detached: true, shell: false })
  } catch (error) {
    return failureCode(error)
  }
}

/** Why it never began; `undefined` once it and all that hold its output have ended. */
async function endOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise(resolve => {
    child.once('error', error => resolve(failureCode(error)))
    child.once('close', () => resolve(undefined))
  })
}

/** Asks all of the group to end, and ends what has not after a while. Nobody waits for what has left the group. */
async function endGroup(child: ChildProcess, over: AbortSignal, timing: Timing): Promise<void> {
  signalGroup(child, 'SIGTERM')
  await timing.pause(GRACE_MS, over)
  // what holds no output of it any more may still be there
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
