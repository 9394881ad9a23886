import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Length of the kept end of stderr, characters. */
const MOST_STDERR = 4_000

/** A child process that exchanges lines with this one over stdin and stdout. */
export interface LineChannel {
  /** Its stdout, line by line; ends with the process. */
  readonly lines: AsyncIterable<string>
  /** Resolves when the process has ended for any reason; rejects if it could not be started. */
  readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>
  /** Writes a line to its stdin. */
  say(line: string): void
  /** Closes its stdin: it stops after its current work. */
  hush(): void
  /** Kills it. */
  kill(): void
}

/** Starts a child process that exchanges lines with this one. */
export function startLineProcess(command: string, args: readonly string[]): LineChannel {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-MOST_STDERR)
  })
  // It may have ended before the first line is written.
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
