import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandFailed, type Problem, problem, UsageError } from '../../cli/problem.ts'
import { formatAddress, parseAddress } from '../../store/address.ts'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import { errorCode } from '../../util/errors.ts'
import { firstBytes } from '../../util/first-bytes.ts'

/** What is wrong with a file or folder that was named, or with one below it. */
export function fileProblem(error: unknown, path: string): Problem {
  const code = errorCode(error)
  switch (code) {
    case undefined:
      throw error
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EFBIG':
      return problem('store-full', `no room left for ${path} (${code})`, {
        cause: error,
        hint: 'Make room and repeat the command: what is there already is recognised.',
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return problem('not-permitted', `${path} may not be ${code === 'EROFS' ? 'written' : 'opened'} (${code})`, {
        cause: error,
      })
    case 'ENAMETOOLONG':
      return problem('file-failed', `${path.slice(0, 100)}…: too long for this file system (${code})`, { cause: error })
    default:
      return problem('file-failed', `${path}: ${TEXTS[code] ?? 'it cannot be read or written'} (${code})`, {
        cause: error,
      })
  }
}

const TEXTS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'it is a folder',
  EIO: 'the disk failed',
}

/** Codes after which no other file can be written either. */
export function isDiskFull({ code }: Problem): boolean {
  return code === 'store-full'
}

/** The bytes of a document's file, a little more than any may have at most; `undefined` if it is gone. @throws CommandFailed */
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

export interface FoundFile {
  /** With `/` between segments, from the folder on. */
  readonly relative: string
  readonly path: string
  /** `false` for links, pipes and the like: nothing is read through them. */
  readonly isFile: boolean
}

/** All that is below a folder but folders, in the order of names within each. Links are not followed. */
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

/** Where streams come from or go to. */
export type FilePlace =
  | { readonly kind: 'store'; readonly address: string }
  | { readonly kind: 'path'; readonly path: string }

const SCHEME = /^(?:memory|sqlite|azure|azurite|https?):/i

/** What begins like an address is one; a path that does is written with `./` in front. */
export function placeOf(text: string, what: string): FilePlace {
  if (!SCHEME.test(text)) return { kind: 'path', path: text }
  const address = parseAddress(text)
  if (address.kind === 'memory') {
    throw new UsageError(`${what}: memory: is gone when this command ends`, { hint: 'Name a store that lasts.' })
  }
  return { kind: 'store', address: formatAddress(address) }
}
