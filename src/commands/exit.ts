import { ownWords, valuesIn } from '../cli/argv.ts'
import { type ColourChoice, hasColour, paintFor } from '../cli/color.ts'
import { errorProblem, interruptedProblem, withoutSecrets } from '../cli/error-problem.ts'
import { EndsWith, type Problem } from '../cli/problem.ts'
import type { Runtime } from '../cli/runtime.ts'
import { failureFormat } from './program.ts'

/** Tells why a command failed, in the format the arguments ask for, and returns the exit code. */
export async function exitCodeOf(error: unknown, runtime: Runtime): Promise<number> {
  if (error instanceof EndsWith) return error.exit
  const what = await explained(errorProblem(error, runtime), runtime)
  const format = failureFormat(runtime.argv)
  if (format === undefined) await tell(what, runtime)
  else await format.print(what, runtime)
  if (ownWords(runtime.argv).includes('--debug') && what.cause !== undefined)
    await runtime.stderr.write(`${await stackText(what)}\n`)
  return codeHere(what.exit, runtime)
}

async function tell(what: Problem, runtime: Runtime): Promise<void> {
  const { problemJsonLine, problemLines } = await import('../cli/problem-text.ts')
  if (asksFor(runtime.argv, '-o', '--output', /^(nd)?json$/)) return runtime.stderr.write(problemJsonLine(what))
  const paint = await paintFor(hasColour(colourChoice(runtime.argv), runtime.env, runtime.stderr.isTty))
  await runtime.stderr.write(`${problemLines(what, runtime.nowMs(), paint, runtime.stderr.columns).join('\n')}\n`)
}

/** The exit code for this one, which the command may have replaced. */
function codeHere(code: number, { argv }: Runtime): number {
  return failureFormat(argv)?.exit ?? code
}

async function explained(what: Problem, { opened }: Runtime): Promise<Problem> {
  if (what.code !== 'stream-not-found') return what
  const { withMissingFile } = await import('../cli/store.ts')
  return withMissingFile(what, opened?.store.address)
}

/** 0, or 130 and 143 for a command that was stopped by a signal without a fault of its own. */
export function quietExitCode(runtime: Runtime): number {
  return runtime.signal.aborted ? interruptedProblem(runtime.signal).exit : 0
}

/** The arguments are searched as they are: an error may stand in front of the parser. */
function asksFor(argv: readonly string[], short: string, long: string, value: RegExp): boolean {
  return valuesIn(argv, short, long).some(given => value.test(given))
}

function colourChoice(argv: readonly string[]): ColourChoice {
  if (asksFor(argv, '--color', '--color', /^always$/)) return 'always'
  return asksFor(argv, '--color', '--color', /^never$/) ? 'never' : 'auto'
}

/** The stack with the causes, without what `util.inspect` would add: an SDK's error carries addresses with secrets. */
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

/** Ends the process once everything written has gone out. The only place that does. */
export function endProcess(code: number): void {
  process.exitCode = code
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))
}

/**
 * An error that nobody caught is a bug, and told as one: Node itself would print all that hangs on it, of an SDK's error the
 * request with what signs it. The second ends the process at once.
 */
export function watchCrashes(runtime: Runtime): void {
  let isEnding = false
  process.on('uncaughtException', error => {
    if (isEnding) process.exit(codeHere(1, runtime))
    isEnding = true
    exitCodeOf(error, runtime).then(endProcess, () => process.exit(codeHere(1, runtime)))
  })
}

/** The first signal lets what is in flight finish and stops the rest; the second ends the process at once. */
export function watchSignals(controller: AbortController, runtime: Runtime): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(codeHere(code, runtime))
      controller.abort(signal)
      if (runtime.kind === 'writes' && runtime.stderr.isTty) {
        void runtime.stderr.write('finishing what is in flight; once more stops at once\n')
      }
    })
  }
}

/**
 * The reader of stdout went away (`| head`): a reading command ends quietly, a changing one goes on in silence. A file that
 * takes no more, on a full disk for example, is told; a change that was made keeps its code all the same.
 */
export function watchBrokenPipes(runtime: Runtime): void {
  let told = false
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    const readerGone = error.code === 'EPIPE'
    if (!readerGone && !told) process.stderr.write(`error: standard output cannot be written (${error.code})\n`)
    told = true
    if (runtime.kind === 'reads') process.exit(codeHere(readerGone ? 0 : 1, runtime))
  })
  process.stderr.on('error', () => {})
}
