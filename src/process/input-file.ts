import { openSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A file without a name that holds a text, open to be read: as standard input it never keeps its writer waiting, and a program
 * can open it as `/dev/stdin`, which it could not with the socket that Node would give it.
 *
 * @param folder a private one
 * @returns undefined where none can be made
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
