import { optionsOf } from '../cli/options.ts'
import { processRuntime } from '../cli/process-runtime.ts'
import type { Runtime } from '../cli/runtime.ts'
import { endProcess, exitCodeOf, quietExitCode, watchBrokenPipes, watchCrashes, watchSignals } from './exit.ts'
import { buildProgram } from './program.ts'

/** Runs the command line of this process and ends it with the exit code. */
export async function main(): Promise<void> {
  const interruption = new AbortController()
  const runtime = processRuntime(interruption.signal, runCommandLine)
  watchSignals(interruption, runtime)
  watchCrashes(runtime)
  watchBrokenPipes(runtime)
  endProcess(await runCommandLine(runtime))
}

/** Runs the runtime's arguments and returns the exit code. */
export async function runCommandLine(runtime: Runtime): Promise<number> {
  try {
    await parse(runtime)
    return quietExitCode(runtime)
  } catch (error) {
    return isHelp(error) ? 0 : await exitCodeOf(error, runtime)
  } finally {
    await runtime.close()
  }
}

async function parse(runtime: Runtime): Promise<void> {
  const written: string[] = []
  const program = buildProgram(runtime, text => written.push(text))
  try {
    await program.parseAsync([...runtime.argv], { from: 'user' })
  } catch (error) {
    if (codeOf(error) !== 'commander.help' || program.args.length > 0) throw error
    const { printShortHelp } = await import('./help/short-help.ts')
    await printShortHelp(optionsOf(program), runtime)
  } finally {
    for (const text of written) await runtime.stdout.write(text)
  }
}

/** Help and version are asked for, not errors. */
function isHelp(error: unknown): boolean {
  return codeOf(error) === 'commander.helpDisplayed' || codeOf(error) === 'commander.version'
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
