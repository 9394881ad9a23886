import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { sleepUntilAborted } from '../util/concurrency.ts'

/** Without output for this long after the end of the program, only processes that it left behind hold its stderr, ms. */
const SILENCE_MS = 100
/** Maximum number of checks: by then all buffered output has been read, and further output comes from another process. */
const MOST_CHECKS = 5
/** More than a pipe or socket buffers: output beyond it was written after the end of the program. */
const MOST_AFTER_BYTES = 1_024 * 1_024

/** A stream that is read to its end, at the speed of its consumer. */
export interface Pump {
  /**
   * Call when the program has ended: resolves when all its output was consumed. It does not wait for other processes, which may
   * hold stderr open forever.
   */
  drained(): Promise<void>
}

/** @param take resolves when it accepts more; must not reject */
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
    // Destroyed below, or by the system: everything that arrived was consumed.
    .catch(() => {})
    .finally(() => over.abort())
  return {
    async drained() {
      leftBytes = MOST_AFTER_BYTES
      for (let checks = 0; checks < MOST_CHECKS && !over.signal.aborted; ) {
        const before = taken
        await sleepUntilAborted(SILENCE_MS, over.signal)
        // If this process was suspended, it has not read yet.
        await setImmediate()
        if (pending) continue
        if (taken === before) break
        checks += 1
      }
      source.destroy()
      await reading
      if (!source.closed) await once(source, 'close')
    },
  }
}

/** A named pipe for the stderr of a program. */
export interface ErrorPipe {
  /** Passed to the program. */
  readonly writeEnd: number
  readonly source: Readable
  /** Call after the program was started, so that the pipe ends with its last writer. */
  closeWriteEnd(): void
  /** Closes both ends, if no program was started. */
  discard(): void
}

/**
 * Creates a named pipe and removes its name at once. Node would connect a program by a socket, which
 * `echo oops > /dev/stderr` in a shell cannot open.
 *
 * @param folder a private folder
 * @returns undefined if it cannot be created: use a socket instead
 */
export async function openErrorPipe(folder: string): Promise<ErrorPipe | undefined> {
  const name = join(folder, 'stderr')
  try {
    // Without pipes for its output: they would cost more than it does.
    await once(spawn('mkfifo', ['-m', '600', name], { stdio: 'ignore' }), 'exit')
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

/** Keeps the end of an output of any length, in bounded memory. */
export class Tail {
  readonly #limitBytes: number
  #kept = Buffer.alloc(0)
  #isCut = false

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Whether output before the kept end was dropped. */
  get isCut(): boolean {
    return this.#isCut
  }

  add(chunk: Uint8Array): void {
    const room = this.#limitBytes - Math.min(chunk.length, this.#limitBytes)
    if (chunk.length > this.#limitBytes || this.#kept.length > room) this.#isCut = true
    // Copies: a slice would keep the whole chunk in memory.
    const before = room === 0 ? Buffer.alloc(0) : this.#kept.subarray(-room)
    this.#kept = Buffer.concat([before, chunk.subarray(-this.#limitBytes)])
  }

  bytes(): Uint8Array {
    return this.#kept
  }
}
