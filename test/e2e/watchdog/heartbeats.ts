import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programFolder, warmStart } from '../program.ts'
import type { LivesSetting, Signs } from './lives.ts'

const CHILD = fileURLToPath(new URL('./child-heartbeats.ts', import.meta.url))

/** The process that keeps the events of a play alive. */
export interface Heartbeats {
  /** The start of the play, epoch ms. */
  readonly startedMs: number
  /** No further heartbeat is sent. @returns the known facts of those that were */
  stop(): Promise<ReadonlyMap<string, Signs>>
  kill(): void
}

export async function startHeartbeats(address: string, setting: LivesSetting): Promise<Heartbeats> {
  const program = await programFolder()
  const library = join(program, 'dist', 'index.js')
  const child = spawn(process.execPath, [CHILD, library, address, JSON.stringify(setting)], {
    env: { ...process.env, ...warmStart(program) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  let rest = ''
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => (code === 0 ? resolve() : reject(new Error(`the heartbeats ended with ${code}`))))
  })
  ended.catch(() => {})
  const started = new Promise<{ startedMs: number }>((resolve, reject) => {
    ended.catch(reject)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      if (lines[0] !== undefined) resolve(JSON.parse(lines[0]))
    })
  })
  const { startedMs } = await started
  return {
    startedMs,
    async stop() {
      child.stdin.end('stop\n')
      await ended
      const all: readonly Signs[] = JSON.parse(lines[1] ?? '[]')
      return new Map(all.map(signs => [signs.stream, signs]))
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
