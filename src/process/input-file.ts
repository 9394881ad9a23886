import { openSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Opens an unlinked file with the given text for reading. As standard input it never blocks its writer, and a program can open
 * it as `/dev/stdin`, unlike the socket that Node would pass.
 *
 * @param folder a private folder
 * @returns undefined if the file cannot be created
 */
export function openInputFile(text: string, folder: string): number | undefined {
  const name = join(folder, 'stdin')
  try {
    writeFileSync(name, text, { mode: 0o600, flag: 'wx' })
    const file = openSync(name, 'r')
    unlinkSync(name)
    return file
  } catch {
    return undefined
  }
}
