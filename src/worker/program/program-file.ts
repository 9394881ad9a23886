import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { InvalidValue } from '../../stream/errors.ts'
import { errorCode } from '../../util/errors.ts'

/** Whether anything has this path, a link included. */
export function existsWithoutLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/**
 * Reads a file that a program has written, at most one byte beyond the limit. It does not follow a link, and does not block
 * on a pipe, put in place of the file.
 *
 * @throws InvalidValue if it cannot be read
 */
export function readProgramFile(path: string, mostBytes: number): Uint8Array {
  const file = opened(path)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new InvalidValue('it is not a file any more')
    // Of a sparse or growing file only its size now, or the limit.
    const bytes = Buffer.alloc(Math.min(mostBytes, stat.size) + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got)
      got = readSync(file, bytes, length, bytes.length - length, null)
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** O_NONBLOCK, because opening a named pipe without a writer would block. */
function opened(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') throw new InvalidValue('it was removed')
    if (code === 'ELOOP') throw new InvalidValue('a link was put in its place')
    throw new InvalidValue(`it cannot be read (${code ?? ''})`)
  }
}
