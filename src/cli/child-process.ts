import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Talker } from '../lab/worker-processes.ts'

/** What a process says on stderr is kept up to so many characters. */
const MOST_STDERR = 4_000

/** Starts a process that talks in lines. */
export function talkingProcess(command: string, args: readonly string[]): Talker {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-MOST_STDERR)
  })
  // It may be gone before it is told anything.
  child.stdin.on('error', () => {})
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve({ code, stderr }))
  })
  ended.catch(() => undefined)
  return {
    lines: createInterface({ input: child.stdout }),
    ended,
    say: line => void child.stdin.write(`${line}\n`),
    hush: () => void child.stdin.end(),
    kill: () => void child.kill('SIGKILL'),
  }
}
