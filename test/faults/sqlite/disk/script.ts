import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** Where Node keeps what it compiled: these programs are started often. */
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/leasectl-tests', import.meta.url))

export interface Script {
  readonly process: ChildProcess
  /** When all it has printed was seen: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** Starts a program beside the tests, `test/faults/sqlite/disk/NAME`. It does not outlive the test. */
export function startScript(
  name: string,
  args: readonly string[],
  { environment = {}, onLine }: ScriptOptions = {},
): Script {
  const script = fileURLToPath(new URL(`./${name}`, import.meta.url))
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  createInterface({ input: child.stdout }).on('line', line => onLine?.(line))
  const ended = new Promise<number | string>(resolve => {
    child.on('close', (code, signal) => resolve(signal ?? code ?? ''))
  })
  return { process: child, ended }
}

export interface ScriptOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly onLine?: (line: string) => void
}
