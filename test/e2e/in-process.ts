import type { Terminal } from '../../src/cli/runtime.ts'
import { programRuntime, runCommandLine } from '../../src/commands/main.ts'
import type { Ended, User } from './program.ts'

/** A command line of the user, run in this process from the sources, without a terminal: a start costs ten times as much. */
export async function runInProcess(
  user: User,
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  const runtime = runtimeIn({ ...user.env, ...env })
  const code = await runCommandLine(
    Object.create(runtime, {
      argv: { value: argv },
      stdin: { value: { ...runtime.stdin, isTty: false, canAsk: false } },
      stdout: { value: sink(text => (written.stdout += text)) },
      stderr: { value: sink(text => (written.stderr += text)) },
    }),
  )
  return { code, signal: null, ...written }
}

/** The runtime reads the environment of this process once, when it is created. */
function runtimeIn(env: Record<string, string>) {
  const own = process.env
  process.env = env
  try {
    return programRuntime(new AbortController().signal)
  } finally {
    process.env = own
  }
}

function sink(take: (text: string) => void): Terminal {
  return { isTty: false, columns: undefined, write: async chunk => take(Buffer.from(chunk).toString('utf8')) }
}
