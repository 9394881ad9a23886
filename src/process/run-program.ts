import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { errorCode } from '../util/errors.ts'
import { openInputFile } from './input-file.ts'
import { type ErrorPipe, pumped, Tail } from './output.ts'
import { RunningGroups, stopGroupOn } from './process-group.ts'

/** So much of the end of what a program writes to stderr is kept. */
const TAIL_BYTES = 8 * 1_024

const running = new RunningGroups()

/** A program and its arguments. */
export type Argv = readonly [program: string, ...args: string[]]

export interface ProgramOptions {
  /** All of its environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** What it reads: what this process reads, nothing, or a text. */
  readonly stdin: 'inherit' | 'ignore' | { readonly text: string }
  /** Where it writes: to what this process writes to, to its stderr, or nowhere. */
  readonly stdout: 'inherit' | 'stderr' | 'ignore'
  /** Takes what it writes to stderr; resolves when more may come. Never rejects. */
  readonly stderr: (chunk: Uint8Array) => Promise<void>
  /** A private folder for the text that is read. Without it that comes from a socket, which is no `/dev/stdin`. */
  readonly folder?: string
  /** For stderr. Without it that is a socket, which a program cannot open as `/dev/stderr`. */
  readonly errorPipe?: Promise<ErrorPipe | undefined>
  /** Ends it, and all of its group, before its end. Its reason may name the signal that is sent first; else it is SIGTERM. */
  readonly signal: AbortSignal
  /** From asking it to end to ending it, ms. */
  readonly graceMs: number
}

export type ProgramFate =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  /** It never began. `reason` is the system's code, `ENOENT` also where the interpreter of a script is missing, or a word. */
  | { readonly kind: 'not-started'; readonly reason: string }
  /** It never began, for it was to stop before. */
  | { readonly kind: 'stopped' }

/** How a program ended. */
export interface ProgramEnd {
  readonly fate: ProgramFate
  /** The end of what it wrote to stderr. */
  readonly tail: Tail
}

/**
 * Runs a program in a process group of its own until it ends. What it leaves running behind after an end of its own goes on,
 * as under a shell, and is not waited for; only its stderr leads nowhere then. If `signal` ended it, all of its group are
 * ended: first asked to, killed after the grace. When this process exits, the group is killed. Never throws.
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

/** What the program gets as standard input; a number is an open file. */
function inputOf({ stdin, folder }: ProgramOptions): 'inherit' | 'ignore' | 'pipe' | number {
  if (typeof stdin !== 'object') return stdin
  return (folder === undefined ? undefined : openInputFile(stdin.text, folder)) ?? 'pipe'
}

/** The child, or why there is none. */
function started(
  [program, ...args]: Argv,
  { env, stdout }: ProgramOptions,
  input: ReturnType<typeof inputOf>,
  pipe: ErrorPipe | undefined,
) {
  try {
    return spawn(program, args, {
      env,
      stdio: [input, stdout === 'stderr' ? 2 : stdout, pipe?.writeEnd ?? 'pipe'],
      // a group of its own, so that it can be ended with all it started
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
  const source = pipe?.source ?? child.stderr
  const pump =
    source &&
    pumped(source, chunk => {
      tail.add(chunk)
      return options.stderr(chunk)
    })
  // a program need not read what it is told
  child.stdin?.on('error', () => {})
  if (typeof options.stdin === 'object') child.stdin?.end(options.stdin.text)
  await stopGroupOn(options.signal, child, ended, options.graceMs)
  running.delete(child)
  child.stdin?.destroy()
  await pump?.drained()
  return ended
}

/** Others may hold its output for ever, so it is its own end that counts. */
function endOf(child: ChildProcess): Promise<ProgramFate> {
  return new Promise(resolve => {
    child.once('error', error => resolve({ kind: 'not-started', reason: errorCode(error) ?? String(error) }))
    child.once('exit', (code, signal) => {
      if (signal === null) resolve({ kind: 'exited', code: code ?? 0 })
      else resolve({ kind: 'killed', signal })
    })
  })
}
