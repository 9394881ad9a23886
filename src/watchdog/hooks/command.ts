import { type ProgramFate, runProgram } from '../../process/run-program.ts'
import type { Timing } from '../../util/clock.ts'
import { type DeliveryAttempt, Excerpt, whyCut } from './attempt.ts'
import type { CommandTarget } from './target.ts'

/** Limit for the kept output of a program, stdout and stderr together. */
const MAX_OUTPUT_BYTES = 16 * 1_024
/** Time from SIGTERM to SIGKILL, and from there until the program is abandoned. */
const GRACE_MS = 2_000

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
  const { text, environment: env, timing, stop } = input
  const output = new Excerpt(MAX_OUTPUT_BYTES)
  const over = new AbortController()
  const cut = new AbortController()
  void timing.pause(timeoutMs, AbortSignal.any([over.signal, stop])).then(() => cut.abort())
  const { fate } = await runProgram(argv, {
    ...{ env, cwd: '/', stdin: { text }, stdout: 'consumed', withDescendants: true },
    stderr: async chunk => output.add(chunk),
    signal: cut.signal,
    graceMs: GRACE_MS,
    pause: (ms, signal) => timing.pause(ms, signal),
  })
  const isCut = cut.signal.aborted
  over.abort()
  return { ...(isCut && !isSuccess(fate) ? whyCut(stop) : verdict(fate)), output: output.text() }
}

function isSuccess(fate: ProgramFate): boolean {
  return fate.kind === 'exited' && fate.code === 0
}

function verdict(fate: ProgramFate): Pick<DeliveryAttempt, 'kind' | 'code'> {
  if (isSuccess(fate)) return { kind: 'delivered', code: 'exit-0' }
  switch (fate.kind) {
    case 'exited':
      return { kind: 'repeat', code: `exit-${fate.code}` }
    case 'killed':
      return { kind: 'repeat', code: `signal-${fate.signal}` }
    case 'not-started':
      return { kind: 'repeat', code: fate.reason }
    case 'stopped':
      return { kind: 'stopped', code: fate.kind }
    default:
      return fate satisfies never
  }
}
