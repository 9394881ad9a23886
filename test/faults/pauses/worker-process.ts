import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { eventually } from '../../e2e/watchdog/poll.ts'
import type { WorkerOrders, WorkerWord } from './orders.ts'

const CHILD = fileURLToPath(new URL('./child-worker.ts', import.meta.url))
const PATIENCE = { withinMs: 60_000, everyMs: 20 } as const

/** A worker process that the test can pause and continue. */
export class WorkerProcess {
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  readonly #words: WorkerWord[] = []
  #stderr = ''
  #hasEnded = false

  constructor(orders: WorkerOrders, env: Readonly<Record<string, string>>) {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(orders)], {
      env: { PATH: process.env.PATH, ...env },
      stdio: 'pipe',
    })
    this.#child = child
    createInterface({ input: child.stdout }).on('line', line => this.#words.push(JSON.parse(line)))
    child.stderr.setEncoding('utf8').on('data', text => {
      this.#stderr += text
    })
    this.ended = new Promise(resolve => {
      child.once('close', () => {
        this.#hasEnded = true
        resolve()
      })
    })
  }

  /** The word, as soon as it was printed. @throws when the process ends before */
  said<Kind extends WorkerWord['kind']>(...kinds: readonly Kind[]): Promise<Extract<WorkerWord, { kind: Kind }>> {
    const isWanted = (word: WorkerWord): word is Extract<WorkerWord, { kind: Kind }> =>
      (kinds as readonly string[]).includes(word.kind)
    const look = () => {
      const found = this.#words.find(isWanted)
      if (found === undefined && this.#hasEnded) throw new Error(`it ended: ${this.#told()}`)
      return found
    }
    return eventually(`the worker says ${kinds}: ${this.#told()}`, look, PATIENCE)
  }

  /** The work is over: it may end its event. */
  endsItsWork(): void {
    this.#child.stdin?.write('go\n')
  }

  /** Pauses it; resolves when all its threads are stopped. */
  async stop(): Promise<void> {
    this.#child.kill('SIGSTOP')
    await this.isStopped()
  }

  async isStopped(): Promise<void> {
    await eventually('the worker is stopped', () => this.#state() === 'T' || undefined, PATIENCE)
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #told(): string {
    return `${JSON.stringify(this.#words)} ${this.#stderr}`
  }

  /** One letter, as `ps` has it. */
  #state(): string | undefined {
    if (this.#hasEnded) throw new Error(`it ended: ${this.#told()}`)
    return readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]?.[0]
  }
}
