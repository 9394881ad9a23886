import { Worker } from 'node:worker_threads'
import type { AppendOutcome } from '../block-log.ts'

/** A block for the thread. */
export interface ThreadAppend {
  readonly id: number
  readonly log: string
  readonly block: Uint8Array
}

/** What became of it; `failed`: nothing was appended. */
export interface ThreadAnswer {
  readonly id: number
  readonly outcome: AppendOutcome | { readonly kind: 'failed' }
}

/** What the thread says: that it can take blocks, or what became of some. */
export type ThreadMessage = 'ready' | readonly ThreadAnswer[]

type Waiting = PromiseWithResolvers<AppendOutcome | undefined>

/**
 * Appends blocks over a connection of its own in a thread of its own: the disk is waited for there, while this one reads the
 * next records. Where no thread can start, as in a single executable, all is left to the caller.
 */
export class AppendThread {
  /** `undefined` if this process may start none. */
  readonly #worker: Worker | undefined
  readonly #waiting = new Map<number, Waiting>()
  readonly #ended: Promise<void>
  #state: 'starting' | 'ready' | 'ended' = 'starting'
  #lastId = 0
  #idle: PromiseWithResolvers<void> | undefined

  constructor(path: string) {
    const worker = startWorker(path)
    this.#worker = worker
    this.#ended = new Promise(resolve => {
      if (worker === undefined) return resolve(this.#end())
      worker.unref()
      worker.on('message', (message: ThreadMessage) => this.#answered(message))
      // It ends then.
      worker.on('error', () => {})
      worker.once('exit', () => resolve(this.#end()))
    })
  }

  /** `undefined` if the thread cannot do it, now or at all, and nothing was appended. */
  append(log: string, block: Uint8Array): Promise<AppendOutcome | undefined> | undefined {
    if (this.#state !== 'ready') return undefined
    this.#lastId += 1
    if (!this.#send({ id: this.#lastId, log, block })) return undefined
    const waiting: Waiting = Promise.withResolvers()
    if (this.#waiting.size === 0) this.#worker?.ref()
    this.#waiting.set(this.#lastId, waiting)
    return waiting.promise
  }

  /** Waits for what is being appended, and ends the thread with its connection closed. */
  async close(): Promise<void> {
    const wasReady = this.#state === 'ready'
    this.#state = 'ended'
    if (this.#waiting.size > 0) {
      this.#idle ??= Promise.withResolvers()
      await this.#idle.promise
    }
    this.#worker?.ref()
    if (wasReady) this.#worker?.postMessage('close')
    else void this.#worker?.terminate()
    await this.#ended
  }

  /** A copy is handed over: the caller may append the block again. `false` without the memory for it. */
  #send(append: ThreadAppend): boolean {
    try {
      const block = new Uint8Array(append.block)
      this.#worker?.postMessage({ ...append, block }, [block.buffer])
      return true
    } catch {
      return false
    }
  }

  #answered(message: ThreadMessage): void {
    if (message === 'ready') {
      if (this.#state === 'starting') this.#state = 'ready'
      return
    }
    for (const { id, outcome } of message) this.#settle(id, outcome.kind === 'failed' ? undefined : outcome)
  }

  #settle(id: number, outcome: AppendOutcome | undefined): void {
    this.#waiting.get(id)?.resolve(outcome)
    this.#waiting.delete(id)
    if (this.#waiting.size > 0) return
    this.#worker?.unref()
    this.#idle?.resolve()
  }

  #end(): void {
    this.#state = 'ended'
    const cause = new Error('the thread that appends blocks ended')
    for (const id of [...this.#waiting.keys()]) this.#settle(id, { kind: 'unknown', cause })
  }
}

function startWorker(path: string): Worker | undefined {
  try {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    return new Worker(new URL(`./append-worker.${extension}`, import.meta.url), { workerData: path })
  } catch {
    return undefined
  }
}
