import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { errorCode } from '../util/errors.ts'
import { openInputFile } from './input-file.ts'
import { type ErrorPipe, pumped, Tail } from './output.ts'
import { RunningGroups, type StopOptions, stopGroupOn } from './process-group.ts'

/** Length of the kept end of stderr, bytes. */
const TAIL_BYTES = 8 * 1_024

const running = new RunningGroups()

/** A program and its arguments. */
export type Argv = readonly [program: string, ...args: string[]]

export interface ProgramOptions {
  /** The complete environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Standard input: that of this process, nothing, or a text. */
  readonly stdin: 'inherit' | 'ignore' | { readonly text: string }
  /** Standard output: that of this process, the stderr of this process, nothing, or consumed by `stderr` too. */
  readonly stdout: 'inherit' | 'stderr' | 'ignore' | 'consumed'
  /** Consumes the stderr of the program; resolves when it accepts more. Never rejects. */
  readonly stderr: (chunk: Uint8Array) => Promise<void>
  /** A private folder for the text of stdin. Without it stdin is a socket, which a program cannot open as `/dev/stdin`. */
  readonly folder?: string
  /** The pipe for stderr. Without it stderr is a socket, which a program cannot open as `/dev/stderr`. */
  readonly errorPipe?: Promise<ErrorPipe | undefined>
  /** Ends the program and its group early. Its reason may name the first signal to send; default SIGTERM. */
  readonly signal: AbortSignal
  /** Time from the first signal to SIGKILL, ms. */
  readonly graceMs: number
  /** Default that of this process. */
  readonly cwd?: string
  /** Waits for all that hold its output too, and ends them with it. Default: processes that it leaves behind continue. */
  readonly withDescendants?: boolean
  /** Waits; tests pass their own. */
  readonly pause?: StopOptions['pause']
}

export type ProgramFate =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  /** It did not start. `reason` is the system's error code (`ENOENT` also if the interpreter of a script is missing) or a text. */
  | { readonly kind: 'not-started'; readonly reason: string }
  /** It did not start, because `signal` was aborted before. */
  | { readonly kind: 'stopped' }

/** End of a program. */
export interface ProgramEnd {
  readonly fate: ProgramFate
  /** The end of its stderr. */
  readonly tail: Tail
}

/**
 * Runs a program in its own process group until it ends. Processes that it leaves behind continue, as under a shell, and are
 * not waited for; only their stderr is closed. If `signal` aborts, the whole group is signaled, and killed after the grace
 * period. When this process exits, the group is killed. Never throws.
 */
export async function runProgram(argv: Argv, options: ProgramOptions): Promise<ProgramEnd> {
  const tail = new Tail(TAIL_BYTES)
  const pipe = await options.errorPipe
  const input = inputOf(options)
  const child = options.signal.aborted ? undefined : started(argv, options, input, pipe)
  if (typeof input === 'number') closeSync(input)
  pipe?.closeWriteEnd()
  if (child !== undefined && typeof child === 'object') return { fate: await fateOf(child, options, pipe, tail), tail }
  pipe?.discard()
  return { fate: child === undefined ? { kind: 'stopped' } : { kind: 'not-started', reason: child }, tail }
}

/** Standard input of the program; a number is an open file. */
function inputOf({ stdin, folder }: ProgramOptions): 'inherit' | 'ignore' | 'pipe' | number {
  if (typeof stdin !== 'object') return stdin
  return (folder === undefined ? undefined : openInputFile(stdin.text, folder)) ?? 'pipe'
}

/** The child process, or the reason why it did not start. */
function started(
  [program, ...args]: Argv,
  { env, stdout, cwd }: ProgramOptions,
  input: ReturnType<typeof inputOf>,
  pipe: ErrorPipe | undefined,
) {
  try {
    return spawn(program, args, {
      env,
      cwd,
      stdio: [input, stdout === 'stderr' ? 2 : stdout === 'consumed' ? 'pipe' : stdout, pipe?.writeEnd ?? 'pipe'],
      // Its own group, so that it can be ended together with its descendants.
      detached: true,
      shell: false,
    })
  } catch (error) {
    return errorCode(error)
  }
}

async function fateOf(
  child: ChildProcess,
  options: ProgramOptions,
  pipe: ErrorPipe | undefined,
  tail: Tail,
): Promise<ProgramFate> {
  const ended = endOf(child)
  running.add(child)
  const sources = [pipe?.source ?? child.stderr, child.stdout].filter(source => source !== null)
  const pumps = sources.map(source =>
    pumped(source, chunk => {
      tail.add(chunk)
      return options.stderr(chunk)
    }),
  )
  // The program may end without reading its input.
  child.stdin?.on('error', () => {})
  if (typeof options.stdin === 'object') child.stdin?.end(options.stdin.text)
  const { signal, graceMs, pause, withDescendants = false } = options
  const abandon = () => {
    for (const each of child.stdio) each?.destroy()
  }
  if (withDescendants) await stopGroupOn(signal, child, closeOf(child, ended), { graceMs, pause, abandon })
  else await stopGroupOn(signal, child, ended, { graceMs, pause })
  running.delete(child)
  child.stdin?.destroy()
  await Promise.all(pumps.map(pump => pump.drained()))
  return ended
}

/** Resolves when all that hold its output have ended, or it did not start. */
function closeOf(child: ChildProcess, ended: Promise<ProgramFate>): Promise<unknown> {
  const closed = new Promise(resolve => child.once('close', resolve))
  return ended.then(({ kind }) => (kind === 'not-started' ? undefined : closed))
}

/** Waits for the exit, not for the output: other processes may hold it open forever. */
function endOf(child: ChildProcess): Promise<ProgramFate> {
  return new Promise(resolve => {
    child.once('error', error => resolve({ kind: 'not-started', reason: errorCode(error) ?? String(error) }))
    child.once('exit', (code, signal) => {
      if (signal === null) resolve({ kind: 'exited', code: code ?? 0 })
      else resolve({ kind: 'killed', signal })
    })
  })
}
