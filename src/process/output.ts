import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sleepUntilAborted } from '../util/concurrency.ts'

/** Who is silent for so long after the program has ended is one that it left behind, ms. */
const SILENCE_MS = 100
/** So often it is looked, at most: by then all that waited to be read has been, and who still talks is another. */
const MOST_LOOKS = 5
/** More than a pipe or socket holds: what comes after so much was written after the end of the program. */
const MOST_AFTER_BYTES = 1_024 * 1_024

/** Something that is read to its end, at the speed of who takes it. */
export interface Pump {
  /**
   * Called when the program has ended: resolves when all it wrote was taken. Others may hold its stderr for ever; they are not
   * waited for.
   */
  drained(): Promise<void>
}

/** @param take resolves when more may come; must not reject */
export function pumped(source: Readable, take: (chunk: Uint8Array) => Promise<void>): Pump {
  let taken = 0
  let pending = false
  let leftBytes = Number.POSITIVE_INFINITY
  const over = new AbortController()
  const reading = (async () => {
    for await (const chunk of source) {
      pending = true
      await take(chunk)
      pending = false
      taken += 1
      leftBytes -= chunk.length
      if (leftBytes <= 0) break
    }
  })()
    // cut off below, or by the system: what came was taken
    .catch(() => {})
    .finally(() => over.abort())
  return {
    async drained() {
      leftBytes = MOST_AFTER_BYTES
      for (let looks = 0; looks < MOST_LOOKS && !over.signal.aborted; ) {
        const before = taken
        await sleepUntilAborted(SILENCE_MS, over.signal)
        // a process that was kept waiting itself has not looked yet
        await setImmediate()
        if (pending) continue
        if (taken === before) break
        looks += 1
      }
      source.destroy()
      await reading
      if (!source.closed) await once(source, 'close')
    },
  }
}

/** A pipe of the system for what a program writes to stderr. */
export interface ErrorPipe {
  /** Handed to the program. */
  readonly writeEnd: number
  readonly source: Readable
  /** Once the program has the writing end: so that the pipe ends with its last writer. */
  closeWriteEnd(): void
  /** Without a program, both ends. */
  discard(): void
}

/**
 * Node connects programs by sockets, and `echo oops > /dev/stderr` of a shell cannot open a socket. So a named pipe is made,
 * and its name removed at once.
 *
 * @param folder a private one
 * @returns undefined where none can be made: a socket is better than nothing
 */
export async function openErrorPipe(folder: string): Promise<ErrorPipe | undefined> {
  const name = join(folder, 'stderr')
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', name])
    const readEnd = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
    const writeEnd = openSync(name, constants.O_WRONLY)
    unlinkSync(name)
    const source = new Socket({ fd: readEnd, readable: true, writable: false })
    let isOpen = true
    const closeWriteEnd = () => {
      if (isOpen) closeSync(writeEnd)
      isOpen = false
    }
    const discard = () => {
      closeWriteEnd()
      source.destroy()
    }
    return { writeEnd, source, closeWriteEnd, discard }
  } catch {
    return undefined
  }
}

/** The end of what somebody else writes, however much that is: it never takes more memory than this. */
export class Tail {
  readonly #limitBytes: number
  #kept = Buffer.alloc(0)
  #isCut = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Whether something stood in front of what is kept. */
  get isCut(): boolean {
    return this.#isCut
  }

  add(chunk: Uint8Array): void {
    const room = this.#limitBytes - Math.min(chunk.length, this.#limitBytes)
    if (chunk.length > this.#limitBytes || this.#kept.length > room) this.#isCut = true
    // copies: a slice would keep the whole chunk
    const before = room === 0 ? Buffer.alloc(0) : this.#kept.subarray(-room)
    this.#kept = Buffer.concat([before, chunk.subarray(-this.#limitBytes)])
  }

  bytes(): Uint8Array {
    return this.#kept
  }
}
