import { CommanderError } from 'commander'
import { optionsOf } from '../cli/options.ts'
import { processRuntime } from '../cli/process-runtime.ts'
import { endProcess, exitCodeOf, quietExitCode, watchBrokenPipes, watchCrashes, watchSignals } from './exit.ts'
import { buildProgram } from './program.ts'
import type { ProgramRuntime } from './top/dashboard.ts'

/** Runs the command line of this process and ends it with the exit code. */
export async function main(): Promise<void> {
  const interruption = new AbortController()
  const runtime = programRuntime(interruption.signal)
  watchSignals(interruption, runtime)
  watchCrashes(runtime)
  watchBrokenPipes(runtime)
  endProcess(await runCommandLine(runtime))
}

/** The runtime of this process, with the parts that draw on its terminal. */
export function programRuntime(signal: AbortSignal): ProgramRuntime {
  const runtime = processRuntime(signal, async () => {
    const { openLiveView } = await import('../tui/live-view.ts')
    return openLiveView(process.stdout)
  })
  const openDashboard: ProgramRuntime['openDashboard'] = async options => {
    const tui = await import('../tui/launch.ts')
    return tui.openDashboard(options, { stdin: process.stdin, stdout: process.stdout, env: runtime.env, signal })
  }
  return Object.assign(runtime, { openDashboard, runCommand: runCommandLine })
}

/** Runs the command line of the runtime and returns the exit code. */
export async function runCommandLine(runtime: ProgramRuntime): Promise<number> {
  try {
    await parse(runtime)
    return quietExitCode(runtime)
  } catch (error) {
    return isHelp(error) ? 0 : await exitCodeOf(error, runtime)
  } finally {
    await runtime.close()
  }
}

async function parse(runtime: ProgramRuntime): Promise<void> {
  const written: string[] = []
  const program = await buildProgram(runtime, text => written.push(text))
  try {
    await program.parseAsync([...runtime.argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError) || isHelp(error)) throw error
    if (error.code !== 'commander.help' || program.args.length > 0) {
      const { parserError } = await import('./help/parser-error.ts')
      throw parserError(error, program, runtime)
    }
    const { printShortHelp } = await import('./help/short-help.ts')
    await printShortHelp(optionsOf(program), runtime)
  } finally {
    for (const text of written) await runtime.stdout.write(text)
  }
}

/** commander throws for help and --version too, with exit code 0. */
function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0
}
