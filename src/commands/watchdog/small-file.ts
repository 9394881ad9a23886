import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { UsageError } from '../../cli/problem.ts'
import { errorCode } from '../transfer/files.ts'

export interface SmallFile {
  readonly text: string
  /** Rights and kind, as `stat` has them. */
  readonly mode: number
}

/**
 * The text of a file that somebody named in the settings.
 * @param called what it is and its path, for messages
 * @throws UsageError for what is no file, cannot be read, is too long or no UTF-8; what it holds is never repeated
 */
export async function readSmallFile(path: string, called: string, maxBytes: number): Promise<SmallFile> {
  try {
    // a pipe that nobody writes to is not waited for
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const { mode, isFile } = await file.stat().then(found => ({ mode: found.mode, isFile: found.isFile() }))
      if (!isFile) throw new UsageError(`${called} is not a file`)
      const bytes = Buffer.alloc(maxBytes + 1)
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
      if (bytesRead > maxBytes) throw new UsageError(`${called} is too long`, { hint: `at most ${maxBytes} bytes` })
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytesRead)), mode }
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw new UsageError(`${called} cannot be read (${errorCode(cause) ?? 'unknown'})`, { cause })
  }
}
