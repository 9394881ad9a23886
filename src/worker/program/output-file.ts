import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ErrorPipe, openErrorPipe } from '../../process/error-pipe.ts'
import { makeTemporaryFolder } from '../../process/temporary-folder.ts'
import { InvalidValue } from '../../stream/errors.ts'

/** More than this no program has to say. */
const MOST_BYTES = 64 * 1_024

const open = new Set<string>()

/** `undefined` where none can be made: no room, no folder for temporary files. */
export function outputFile(): OutputFile | undefined {
  try {
    return new OutputFile()
  } catch {
    return undefined
  }
}

/** The file in which a program may say more than its exit code does, in a folder of its own; both readable by us alone. */
export class OutputFile {
  readonly folder: string
  readonly path: string
  /** For the stderr of the program. Made at once: whatever else has to be done before the program begins takes as long. */
  readonly errorPipe: Promise<ErrorPipe | undefined>

  /** @throws the system's error where no file can be made */
  constructor() {
    this.folder = makeTemporaryFolder()
    if (open.size === 0) process.on('exit', removeAll)
    open.add(this.folder)
    this.path = join(this.folder, 'output')
    writeFileSync(this.path, '', { mode: 0o600, flag: 'wx' })
    this.errorPipe = openErrorPipe(this.folder)
  }

  /** @throws InvalidValue if it is not what a program may leave there */
  read(): string {
    const bytes = bytesOf(this.path)
    if (bytes.length > MOST_BYTES) throw new InvalidValue(`it has more than ${MOST_BYTES / 1_024} KiB`)
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    } catch {
      throw new InvalidValue('it is not UTF-8')
    }
  }

  /** Never fails: a file that stays in the folder for temporary ones does no harm. */
  remove(): void {
    remove(this.folder)
    void this.#removeLast()
  }

  /** The pipe may not be there yet. */
  async #removeLast(): Promise<void> {
    const pipe = await this.errorPipe
    pipe?.discard()
    remove(this.folder)
    open.delete(this.folder)
    if (open.size === 0) process.off('exit', removeAll)
  }
}

/** At most one byte more than may be. What was put in its place is neither followed nor waited for. */
function bytesOf(path: string): Uint8Array {
  const file = opened(path)
  try {
    if (!fstatSync(file).isFile()) throw new InvalidValue('it is not a file any more')
    const bytes = Buffer.alloc(MOST_BYTES + 1)
    let length = 0
    for (let got = -1; got !== 0 && length < bytes.length; length += got)
      got = readSync(file, bytes, length, bytes.length - length, null)
    return bytes.subarray(0, length)
  } finally {
    closeSync(file)
  }
}

/** A named pipe without a writer would be waited for. */
function opened(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOENT') throw new InvalidValue('it was removed')
    if (code === 'ELOOP') throw new InvalidValue('a link was put in its place')
    throw new InvalidValue(`it cannot be read (${code})`)
  }
}

function removeAll(): void {
  for (const folder of open) remove(folder)
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {}
}
