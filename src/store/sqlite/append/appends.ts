import type { AppendOutcome } from '../../block-log.ts'
import { ContainerMissing } from '../../errors.ts'
import { CommitFault } from '../connection.ts'
import type { SqliteCallOptions, SqliteFile } from '../file.ts'
import { type AppendThread, startAppendThread } from './thread.ts'

/** Appended bytes after which a store starts a thread: fewer are appended sooner than it starts. */
const THREAD_FROM_BYTES = 1024 * 1024

const INSERT = 'INSERT INTO blocks (log, lines) VALUES (?, ?)'

/** Appends to the logs of a store: at first over its own connection, and in a thread once there is enough for it to pay. */
export class Appends {
  readonly #file: SqliteFile
  readonly #path: string
  readonly #fromBytes: number
  #bytes = 0
  #thread: AppendThread | undefined

  constructor(file: SqliteFile, path: string, fromBytes = THREAD_FROM_BYTES) {
    this.#file = file
    this.#path = path
    this.#fromBytes = fromBytes
  }

  /** @throws the store's faults */
  async append(log: string, block: Uint8Array, signal: AbortSignal | undefined): Promise<AppendOutcome> {
    signal?.throwIfAborted()
    const before = this.#bytes
    this.#bytes += block.length
    const isDue = before < this.#fromBytes && this.#bytes >= this.#fromBytes
    if (isDue && !this.#file.isClosed) this.#thread = startAppendThread(this.#path)
    return (await this.#thread?.append(log, block)) ?? appendBlock(this.#file, log, block, { signal })
  }

  /** Waits for what the thread appends. The file is closed before. */
  async close(): Promise<void> {
    await this.#thread?.close()
  }
}

/** Appends a block over a connection of this thread. @throws the store's faults */
export async function appendBlock(
  file: SqliteFile,
  log: string,
  block: Uint8Array,
  options: SqliteCallOptions,
): Promise<AppendOutcome> {
  try {
    const id = await file.write(connection => connection.run(INSERT, log, block), options)
    // Creating it would hide that what holds the log is gone.
    if (id === undefined) throw new ContainerMissing('there is no store: the file does not exist')
    return { kind: 'appended' }
  } catch (error) {
    if (error instanceof CommitFault) return { kind: 'unknown', cause: error.cause }
    throw error
  }
}
