import { ownWords, valuesIn } from '../cli/argv.ts'
import { errorProblem, interruptedProblem, withoutSecrets } from '../cli/error-problem.ts'
import { EndsWith, type Problem } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { type ColourChoice, hasColour, paintFor } from '../formats/terminal/style.ts'
import { failureFormat } from './program.ts'

/** Prints why a command failed, in the format that the arguments request, and returns the exit code. */
export async function exitCodeOf(error: unknown, runtime: Runtime): Promise<number> {
  if (error instanceof EndsWith) return error.exit
  const what = await explained(errorProblem(error, runtime), runtime)
  const format = failureFormat(runtime.argv)
  await (format?.print(what, runtime) ?? print(what, runtime))
  if (ownWords(runtime.argv).includes('--debug') && what.cause !== undefined)
    await runtime.stderr.write(`${await stackText(what)}\n`)
  return codeHere(what.exit, runtime)
}

async function print(what: Problem, runtime: Runtime): Promise<void> {
  const { problemJsonLine, problemLines } = await import('../cli/problem-text.ts')
  if (asksFor(runtime.argv, '-o', '--output', /^(nd)?json$/)) return runtime.stderr.write(problemJsonLine(what))
  const paint = await paintFor(hasColour(colourChoice(runtime.argv), runtime.env, runtime.stderr.isTty))
  await runtime.stderr.write(`${problemLines(what, runtime.nowMs(), paint, runtime.stderr.columns).join('\n')}\n`)
}

/** The exit code of this process: a command may replace the code of every failure. */
function codeHere(code: number, { argv }: Runtime): number {
  return failureFormat(argv)?.exit ?? code
}

async function explained(what: Problem, { opened }: Runtime): Promise<Problem> {
  if (what.code !== 'stream-not-found') return what
  const { withStore } = await import('../cli/store.ts')
  return withStore(what, opened?.store.address)
}

/** 0, or 130 or 143 if a signal stopped a command that has not failed. */
export function quietExitCode(runtime: Runtime): number {
  return runtime.signal.aborted ? interruptedProblem(runtime.signal).exit : 0
}

/** Searches the raw arguments: an error can occur before they are parsed. */
function asksFor(argv: readonly string[], short: string, long: string, value: RegExp): boolean {
  return valuesIn(argv, short, long).some(given => value.test(given))
}

function colourChoice(argv: readonly string[]): ColourChoice {
  if (asksFor(argv, '--color', '--color', /^always$/)) return 'always'
  return asksFor(argv, '--color', '--color', /^never$/) ? 'never' : 'auto'
}

/** The stack with its causes, without the fields that `util.inspect` adds: errors of an SDK carry addresses with secrets. */
async function stackText(what: Problem): Promise<string> {
  const { visibleText } = await import('../util/visible-text.ts')
  const lines: string[] = []
  let error: unknown = what.cause
  for (let depth = 0; error instanceof Error && depth < 5; depth++) {
    const stack = error.stack ?? `${error.name}: ${error.message}`
    lines.push(...`${depth === 0 ? '' : 'caused by '}${stack}`.split('\n').map(visibleText))
    error = error.cause
  }
  return withoutSecrets(lines.join('\n'))
}

/** Ends the process once all output is flushed. No other code ends it. */
export function endProcess(code: number): void {
  process.exitCode = code
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

/**
 * Reports an uncaught error as a bug. Node would print all fields of the error; those of an SDK hold the request with its
 * signature. A second uncaught error ends the process at once.
 */
export function watchCrashes(runtime: Runtime): void {
  let isEnding = false
  process.on('uncaughtException', error => {
    if (isEnding) process.exit(codeHere(1, runtime))
    isEnding = true
    exitCodeOf(error, runtime).then(endProcess, () => process.exit(codeHere(1, runtime)))
  })
}

/** The first signal lets changes in flight finish and starts no more; the second ends the process at once. */
export function watchSignals(controller: AbortController, runtime: Runtime): void {
  for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(codeHere(code, runtime))
      controller.abort(signal)
      if (runtime.kind === 'writes' && runtime.stderr.isTty)
        void runtime.stderr.write('finishing changes in flight; Ctrl-C again stops at once\n')
    })
  }
}

/**
 * Handles errors of stdout. If its reader is gone (`| head`), a reading command exits quietly and a writing one continues
 * without output. Any other error, such as a full disk, is reported; a change that was made keeps its exit code.
 */
export function watchBrokenPipes(runtime: Runtime): void {
  let isReported = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    const readerGone = error.code === 'EPIPE'
    if (!readerGone && !isReported) process.stderr.write(`error: standard output cannot be written (${error.code})\n`)
    isReported = true
    if (runtime.kind === 'reads') process.exit(codeHere(readerGone ? 0 : 9, runtime))
  })
  process.stderr.on('error', () => {})
}
