import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { callsOf, type HistoryLine, readHistory } from '../history/history.ts'
import type { AzuritePlace, ChildOrders } from './crew-orders.ts'
import type { OpenChange } from './load.ts'

const CHILD = fileURLToPath(new URL('./child-load.ts', import.meta.url))

export interface CrewOptions extends AzuritePlace {
  readonly processes: number
  readonly workersEach: number
  readonly streams: readonly string[]
  readonly shortLived: readonly string[]
  readonly seed: number
  readonly random: () => number
  /** Until so many changes were made. */
  readonly changes: number
  /** One process each time is killed and replaced, or stopped for a while. */
  readonly everyMs: number
}

export interface CrewReport {
  readonly lines: readonly HistoryLine[]
  readonly kills: number
  readonly stops: number
}

/** Processes full of workers, some of which are killed or stopped while they work. */
export async function runCrew(options: CrewOptions): Promise<CrewReport> {
  const crew = new Crew(options)
  try {
    return await crew.run()
  } finally {
    crew.leave()
  }
}

interface Member {
  readonly at: number
  readonly child: ChildProcess
  readonly path: string
  readonly ended: Promise<void>
}

class Crew {
  readonly #options: CrewOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'leasectl-crew-'))
  readonly #paths: string[] = []
  readonly #members: Member[] = []
  #made = 0
  #kills = 0
  #stops = 0
  #stderr = ''
  #failure: Error | undefined

  constructor(options: CrewOptions) {
    this.#options = options
  }

  async run(): Promise<CrewReport> {
    for (let at = 0; at < this.#options.processes; at++) this.#members[at] = this.#hire(at, [])
    while (this.#made < this.#options.changes) {
      await sleep(this.#options.everyMs)
      await this.#disturb()
      if (this.#failure !== undefined) throw this.#failure
    }
    for (const { child } of this.#members) if (child.connected) child.send('over')
    await Promise.all(this.#members.map(({ ended }) => ended))
    if (this.#failure !== undefined) throw this.#failure
    const lines = this.#paths.flatMap(path => (existsSync(path) ? readHistory(path) : []))
    return { lines, kills: this.#kills, stops: this.#stops }
  }

  leave(): void {
    for (const { child } of this.#members) child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #hire(at: number, open: readonly OpenChange[]): Member {
    const { port, container, workersEach, streams, shortLived, seed } = this.#options
    const who = `p${at}n${this.#paths.length}`
    const path = join(this.#folder, `${who}.jsonl`)
    this.#paths.push(path)
    const about = { who, workers: workersEach, path, seed: seed + 100 * this.#paths.length, open }
    const orders: ChildOrders = { port, container, streams, shortLived, ...about }
    const child = spawn(process.execPath, [CHILD, JSON.stringify(orders)], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      // They start often, and begin to work sooner with it.
      env: { ...process.env, NODE_COMPILE_CACHE: join(this.#folder, 'cache') },
    })
    child.on('message', () => (this.#made += 1))
    child.stderr?.setEncoding('utf8').on('data', text => (this.#stderr += text))
    const ended = new Promise<void>(resolve => {
      child.once('close', (code, signal) => {
        if (code !== 0 && signal !== 'SIGKILL')
          this.#failure = new Error(`${who} ended with ${code ?? signal}: ${this.#stderr}`)
        resolve()
      })
    })
    return { at, child, path, ended }
  }

  async #disturb(): Promise<void> {
    const { random, processes } = this.#options
    const member = this.#members[Math.floor(random() * processes)]
    if (member === undefined) return
    // One that has not begun yet has nothing to lose.
    if (!existsSync(member.path)) return
    if (random() < 0.3) await this.#stop(member)
    else await this.#replace(member)
  }

  async #stop({ child }: Member): Promise<void> {
    child.kill('SIGSTOP')
    this.#stops += 1
    await sleep(this.#options.everyMs)
    child.kill('SIGCONT')
  }

  async #replace({ at, child, path, ended }: Member): Promise<void> {
    child.kill('SIGKILL')
    this.#kills += 1
    await ended
    this.#members[at] = this.#hire(at, openChanges(readHistory(path)))
  }
}

/** What a worker that was killed cannot know. */
export function openChanges(lines: readonly HistoryLine[]): OpenChange[] {
  return callsOf(lines).flatMap(({ stream, asked, told }) => {
    const isOpen = told === undefined || told.kind === 'unknown'
    return asked.what === 'change' && isOpen ? [{ stream, id: asked.id, born: asked.born }] : []
  })
}
