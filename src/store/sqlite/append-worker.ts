import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import type { ThreadAnswer, ThreadAppend, ThreadMessage } from './append-thread.ts'
import { appendBlock } from './appends.ts'
import { SqliteFile } from './file.ts'

/** For the locks of other programs, ms. Later the caller waits for them, and can be aborted. */
const LOCK_WAIT_MS = 1_000

/** The thread of `AppendThread`: blocks that have come meanwhile share a commit. */
class AppendWorker {
  readonly #port: MessagePort
  readonly #file: SqliteFile

  constructor(port: MessagePort, path: string) {
    this.#port = port
    this.#file = new SqliteFile(path, { random: Math.random })
    port.on('message', (first: ThreadAppend | 'close') => void this.#take(first))
    this.#say('ready')
  }

  async #take(first: ThreadAppend | 'close'): Promise<void> {
    const appends: ThreadAppend[] = []
    for (let message: ThreadAppend | 'close' | undefined = first; message !== undefined; message = this.#next()) {
      if (message === 'close') return this.#close()
      appends.push(message)
    }
    this.#say(await Promise.all(appends.map(append => this.#append(append))))
  }

  #next(): ThreadAppend | 'close' | undefined {
    return receiveMessageOnPort(this.#port)?.message
  }

  async #append({ id, log, block }: ThreadAppend): Promise<ThreadAnswer> {
    try {
      const outcome = await appendBlock(this.#file, log, block, { lockWaitMs: LOCK_WAIT_MS })
      return { id, outcome: outcome.kind === 'unknown' ? { kind: 'unknown', cause: String(outcome.cause) } : outcome }
    } catch {
      // The caller tries it over its own connection, which throws the error.
      return { id, outcome: { kind: 'failed' } }
    } finally {
      // Gives its memory back at once: next to no other objects are made here, so the collector hardly ever runs.
      if (block.buffer instanceof ArrayBuffer) block.buffer.transfer(0)
    }
  }

  /** Nothing is being appended any more. */
  #close(): void {
    this.#file.close()
    this.#port.close()
  }

  #say(message: ThreadMessage): void {
    this.#port.postMessage(message)
  }
}

if (parentPort !== null) new AppendWorker(parentPort, workerData)
