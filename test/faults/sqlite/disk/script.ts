import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { COMPILED } from '../../../support/compiled.ts'

export interface Script {
  readonly process: ChildProcess
  /** After all its output was read: its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** Starts a separate program, `test/faults/sqlite/disk/NAME`. It ends with the test at the latest. */
export function startScript(
  name: string,
  args: readonly string[],
  { environment = {}, onLine }: ScriptOptions = {},
): Script {
  const script = fileURLToPath(new URL(`./${name}`, import.meta.url))
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...COMPILED, ...environment },
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
