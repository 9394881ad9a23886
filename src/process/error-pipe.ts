import { execFile } from 'node:child_process'
import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

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
