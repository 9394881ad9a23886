import { Worker } from 'node:worker_threads'
import type { AppendOutcome } from '../../block-log.ts'

/** A block for the thread. */
export interface ThreadAppend {
  readonly id: number
  readonly log: string
  readonly block: Uint8Array<ArrayBuffer>
}

/** What became of it; `failed`: nothing was appended. */
export interface ThreadAnswer {
  readonly id: number
  readonly outcome: AppendOutcome | { readonly kind: 'failed' }
}

/** What the thread says: that it can take blocks, or what became of some. */
export type ThreadMessage = 'ready' | readonly ThreadAnswer[]

type Waiting = PromiseWithResolvers<AppendOutcome | undefined>

/** `undefined` if this process may start no thread. */
export function startAppendThread(path: string): AppendThread | undefined {
  try {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const main = new URL(`./thread-main.${extension}`, import.meta.url)
    return new AppendThread(new Worker(main, { workerData: path }))
  } catch {
    return undefined
  }
}

/**
 * Appends blocks in a thread, over a connection of its own: the thread waits for the disk while this one reads the next
 * records. If it does not start, as in a single executable, or ends, the caller has to append them.
 */
export class AppendThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #ended: Promise<void>
  #isReady = false
  #lastId = 0

  constructor(worker: Worker) {
    this.#worker = worker
    worker.unref()
    worker.on('message', (message: ThreadMessage) => this.#answered(message))
    // It ends then.
    worker.on('error', () => {})
    this.#ended = new Promise(resolve => {
      worker.once('exit', () => resolve(this.#end()))
    })
  }

  /** `undefined` if the thread cannot do it, now or at all, and nothing was appended. */
  append(log: string, block: Uint8Array): Promise<AppendOutcome | undefined> | undefined {
    if (!this.#isReady) return undefined
    const id = ++this.#lastId
    try {
      // The caller may need its own to append it again.
      const copy = new Uint8Array(block)
      this.#worker.postMessage({ id, log, block: copy } satisfies ThreadAppend, [copy.buffer])
    } catch {
      // No memory for it.
      return undefined
    }
    const waiting: Waiting = Promise.withResolvers()
    if (this.#waiting.size === 0) this.#worker.ref()
    this.#waiting.set(id, waiting)
    return waiting.promise
  }

  /** Waits for what is being appended, and ends the thread with its connection closed. */
  async close(): Promise<void> {
    const wasReady = this.#isReady
    this.#isReady = false
    await Promise.all([...this.#waiting.values()].map(({ promise }) => promise))
    this.#worker.ref()
    if (wasReady) this.#worker.postMessage('close')
    else void this.#worker.terminate()
    await this.#ended
  }

  #answered(message: ThreadMessage): void {
    if (message === 'ready') this.#isReady = true
    else for (const { id, outcome } of message) this.#settle(id, outcome.kind === 'failed' ? undefined : outcome)
  }

  #settle(id: number, outcome: AppendOutcome | undefined): void {
    this.#waiting.get(id)?.resolve(outcome)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#worker.unref()
  }

  #end(): void {
    this.#isReady = false
    const cause = new Error('the thread that appends blocks ended')
    for (const id of [...this.#waiting.keys()]) this.#settle(id, { kind: 'unknown', cause })
  }
}
