import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { callsOf, type HistoryLine, isOpen, readHistory } from '../history/history.ts'
import type { AzuritePlace, ChildOrders } from './crew-orders.ts'
import type { CrewProgram } from './crew-program.ts'
import type { OpenChange } from './load.ts'

export interface CrewOptions extends AzuritePlace {
  readonly program: CrewProgram
  readonly processes: number
  readonly workersEach: number
  readonly streams: readonly string[]
  readonly shortLived: readonly string[]
  readonly seed: number
  readonly random: () => number
  /** Until this number of changes was made, and at least one process was killed and one paused. */
  readonly changes: number
  /** Each time one process is killed and replaced, and another one is paused until the next time. */
  readonly everyMs: number
  /** But not before this number of changes since the last time: on a slow machine no work would get done. */
  readonly everyChanges: number
}

export interface CrewReport {
  readonly lines: readonly HistoryLine[]
  /** The number of times one was killed and another paused. */
  readonly ticks: number
  readonly kills: number
  readonly stops: number
}

/** Processes full of workers, some of which are killed or paused during their work. */
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
  readonly #over = new AbortController()
  #made = 0
  #ticks = 0
  /** Changes until the last kill. */
  #madeBefore = 0
  #kills = 0
  #stops = 0
  #stderr = ''
  #failure: Error | undefined

  constructor(options: CrewOptions) {
    this.#options = options
  }

  async run(): Promise<CrewReport> {
    for (let at = 0; at < this.#options.processes; at++) this.#members[at] = this.#hire(at, [])
    while (!this.#over.signal.aborted) {
      const next = sleep(this.#options.everyMs, undefined, { signal: this.#over.signal }).catch(() => {})
      const stopped = await this.#disturb()
      await next
      stopped?.child.kill('SIGCONT')
    }
    for (const { child } of this.#members) if (child.connected) child.send('over')
    await Promise.all(this.#members.map(({ ended }) => ended))
    if (this.#failure !== undefined) throw this.#failure
    const lines = this.#paths.flatMap(path => (existsSync(path) ? readHistory(path) : []))
    return { lines, ticks: this.#ticks, kills: this.#kills, stops: this.#stops }
  }

  leave(): void {
    for (const { child } of this.#members) child.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #hire(at: number, open: readonly OpenChange[]): Member {
    const { program, port, container, workersEach, streams, shortLived, seed } = this.#options
    const who = `p${at}n${this.#paths.length}`
    const path = join(this.#folder, `${who}.jsonl`)
    this.#paths.push(path)
    const about = { who, workers: workersEach, path, seed: seed + 100 * this.#paths.length, open }
    const orders: ChildOrders = { port, container, streams, shortLived, ...about }
    const child = spawn(process.execPath, [program.path, JSON.stringify(orders)], {
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
      env: { ...process.env, NODE_COMPILE_CACHE: program.cache },
    })
    child.on('message', () => {
      this.#made += 1
      this.#look()
    })
    child.stderr?.setEncoding('utf8').on('data', text => (this.#stderr += text))
    const ended = new Promise<void>(resolve => {
      child.once('close', (code, signal) => {
        if (code !== 0 && signal !== 'SIGKILL')
          this.#failure = new Error(`${who} ended with ${code ?? signal}: ${this.#stderr}`)
        this.#look()
        resolve()
      })
    })
    return { at, child, path, ended }
  }

  /** Whether it is over. */
  #look(): void {
    const isEnough = this.#made >= this.#options.changes && this.#kills > 0 && this.#stops > 0
    if (isEnough || this.#failure !== undefined) this.#over.abort()
  }

  /** Kills and replaces a working process. @returns another one, which is paused from now on */
  async #disturb(): Promise<Member | undefined> {
    this.#ticks += 1
    if (this.#made < this.#madeBefore + this.#options.everyChanges) return undefined
    // A process that has not begun yet has nothing to lose.
    const working = this.#members.filter(({ path }) => existsSync(path))
    const [killed, stopped] = this.#drawn(working)
    if (killed === undefined || stopped === undefined) return undefined
    if (stopped.child.kill('SIGSTOP')) this.#stops += 1
    this.#madeBefore = this.#made
    await this.#replace(killed)
    this.#look()
    return stopped
  }

  /** In random order. */
  #drawn(members: readonly Member[]): Member[] {
    return members
      .map(member => ({ member, place: this.#options.random() }))
      .toSorted((one, other) => one.place - other.place)
      .map(({ member }) => member)
  }

  async #replace({ at, child, path, ended }: Member): Promise<void> {
    child.kill('SIGKILL')
    this.#kills += 1
    await ended
    this.#members[at] = this.#hire(at, openChanges(readHistory(path)))
  }
}

/** Values that a killed worker could not report. */
function openChanges(lines: readonly HistoryLine[]): OpenChange[] {
  const open = callsOf(lines).filter(isOpen)
  return open.flatMap(({ stream, asked }) =>
    asked.what === 'change' ? [{ stream, id: asked.id, born: asked.born }] : [],
  )
}
