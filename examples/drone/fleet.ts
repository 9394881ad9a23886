import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** Processes that are started again whenever they end: what systemd or Kubernetes does elsewhere. */
export class Fleet {
  readonly #running = new Map<string, ChildProcess>()
  readonly #log: number
  #isStopped = false
  /** Processes killed by `killOne`. */
  kills = 0

  /** @param log the file that their output goes to */
  constructor(log: string) {
    this.#log = openSync(log, 'a')
  }

  start(name: string, argv: readonly string[]): void {
    const [file = '', ...args] = argv
    const child = spawn(file, args, { stdio: ['ignore', this.#log, this.#log] })
    this.#running.set(name, child)
    child.on('error', error => console.error(`${name}: ${error.message}`))
    child.on('close', () => {
      if (this.#running.get(name) !== child) return
      if (this.#isStopped) this.#running.delete(name)
      else setTimeout(() => this.#isStopped || this.start(name, argv), RESTART_MS)
    })
  }

  /** Kills one of the processes with SIGKILL; `draw` is from 0 to 1. */
  killOne(draw: number): void {
    const alive = [...this.#running.values()].filter(child => child.exitCode === null && child.signalCode === null)
    if (alive[Math.floor(draw * alive.length)]?.kill('SIGKILL')) this.kills++
  }

  /** Ends all processes: workers report what they have under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const ended = [...this.#running.values()]
      .filter(child => child.exitCode === null && child.signalCode === null)
      .map(child => new Promise(resolve => child.on('close', resolve)))
    for (const child of this.#running.values()) child.kill('SIGTERM')
    await Promise.all(ended)
    closeSync(this.#log)
  }
}

const RESTART_MS = 100
