import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandFailed, type Problem, problem, UsageError } from '../../cli/problem.ts'
import { DataFault } from '../../ops/event-data.ts'
import { formatAddress, parseAddress } from '../../store/address.ts'
import type { EventData } from '../../stream/data.ts'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import { errorCode } from '../../util/errors.ts'
import { firstBytes } from '../../util/first-bytes.ts'
import { dataPathOf } from './file-names.ts'

/** The problem for an error of a file or folder given by the user, or of one below it. */
export function fileProblem(error: unknown, path: string): Problem {
  const code = errorCode(error)
  switch (code) {
    case undefined:
      throw error
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return problem('store-full', `no space left for ${path} (${code})`, {
        cause: error,
        hint: 'Free some space and repeat the command: files already written are recognised.',
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return problem('not-permitted', `no permission to ${code === 'EROFS' ? 'write' : 'open'} ${path} (${code})`, {
        cause: error,
      })
    case 'ENAMETOOLONG':
      return problem('file-failed', `${path.slice(0, 100)}…: name too long for this file system (${code})`, {
        cause: error,
      })
    default:
      return problem('file-failed', `${path}: ${TEXTS[code] ?? 'it cannot be read or written'} (${code})`, {
        cause: error,
      })
  }
}

const TEXTS: { readonly [code: string]: string } = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'part of this path is a file, not a folder',
  EISDIR: 'it is a folder',
  EIO: 'disk error',
}

/** True if no other file can be written either. */
export function isDiskFull({ code }: Problem): boolean {
  return code === 'store-full'
}

/** Reads a document file, up to slightly more than the maximum size; `undefined` if it is gone. @throws CommandFailed */
export async function readDocumentFile(path: string): Promise<Uint8Array | undefined> {
  try {
    const handle = await open(path, constants.O_RDONLY)
    try {
      return await firstBytes(handle.createReadStream({ autoClose: false }), MAX_READ_BYTES)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw new CommandFailed(fileProblem(error, path))
  }
}

/** Reads a file of data that an export has written beside the file of a document. @throws DataFault, CommandFailed */
export async function readDataFile(stream: string, path: string, { sha256 }: EventData): Promise<Uint8Array> {
  const file = dataPathOf(path, sha256)
  const bytes = await readDocumentFile(file)
  if (bytes === undefined) throw new DataFault(stream, 'data-missing', `there is no file ${file} with its data`)
  return bytes
}

export interface FoundFile {
  /** Relative to the folder, with `/` between segments. */
  readonly relative: string
  readonly path: string
  /** `false` for links, pipes and other special files: these are never read. */
  readonly isFile: boolean
}

/** All files below a folder, sorted by name within each folder. Links are not followed. */
export async function* filesBelow(folder: string): AsyncGenerator<FoundFile> {
  const pending = ['']
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const folders: string[] = []
    for (const entry of await entriesOf(join(folder, at))) {
      const relative = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) folders.push(relative)
      else yield { relative, path: join(folder, relative), isFile: entry.isFile() }
    }
    pending.push(...folders.reverse())
  }
}

async function entriesOf(path: string) {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw new CommandFailed(fileProblem(error, path))
  }
}

/** A source or target of streams. */
export type FilePlace =
  | { readonly kind: 'store'; readonly address: string }
  | { readonly kind: 'path'; readonly path: string }

const SCHEME = /^(?:memory|sqlite|azure|azurite|https?):/i

/** Reads a store address or a path. A path that begins like an address needs `./` in front. */
export function placeOf(text: string, what: string): FilePlace {
  if (!SCHEME.test(text)) return { kind: 'path', path: text }
  const address = parseAddress(text)
  if (address.kind === 'memory') {
    throw new UsageError(`${what}: memory: is gone when this command ends`, { hint: 'Use a persistent store.' })
  }
  return { kind: 'store', address: formatAddress(address) }
}
