import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { SqliteFile } from '../file.ts'
import { appendBlock } from './appends.ts'
import type { ThreadAnswer, ThreadAppend, ThreadMessage } from './thread.ts'

/** How long the thread waits for locks of other programs, ms. Then the caller does, where it can be aborted. */
const LOCK_WAIT_MS = 1_000

/** What runs in an `AppendThread`. Blocks that have come meanwhile share a commit. */
class ThreadMain {
  readonly #port: MessagePort
  readonly #file: SqliteFile

  constructor(port: MessagePort, path: string) {
    this.#port = port
    this.#file = new SqliteFile(path, { random: Math.random })
    // It is closed only when all blocks are answered, so that message comes alone.
    port.on(
      'message',
      (message: ThreadAppend | 'close') => void (message === 'close' ? this.#close() : this.#take(message)),
    )
    this.#say('ready')
  }

  async #take(first: ThreadAppend): Promise<void> {
    const appends = [first]
    for (let next = this.#next(); next !== undefined; next = this.#next()) appends.push(next)
    this.#say(await Promise.all(appends.map(append => this.#append(append))))
  }

  #next(): ThreadAppend | undefined {
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
      // Frees its memory: so little else is allocated here that the collector hardly ever runs.
      block.buffer.transfer(0)
    }
  }

  #close(): void {
    this.#file.close()
    this.#port.close()
  }

  #say(message: ThreadMessage): void {
    this.#port.postMessage(message)
  }
}

if (parentPort !== null) new ThreadMain(parentPort, workerData)
