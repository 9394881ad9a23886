import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** What a process says on stderr is kept up to so many characters. */
const MOST_STDERR = 4_000

/** Another process, which talks with this one in lines. */
export interface LineChannel {
  /** What it writes to stdout, line by line; ends when the process does. */
  readonly lines: AsyncIterable<string>
  /** Resolves when the process has ended, however. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
  /** A line to its standard input. */
  say(line: string): void
  /** Ends its standard input: it stops after what is under way. */
  hush(): void
  /** Ends it at once. */
  kill(): void
}

/** Starts a process that talks in lines. */
export function startLineProcess(command: string, args: readonly string[]): LineChannel {
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
