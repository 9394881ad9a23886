import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { errorCode } from '../../util/errors.ts'
import { shellWord } from '../command-line.ts'
import { UsageError } from '../problem.ts'

/** The user of this process; `undefined` where files have no owners and rights of this kind (Windows). */
const ownUser = (): number | undefined => process.getuid?.()

/** Nothing of ours is longer. */
const MAX_BYTES = 1024 * 1024

/**
 * The text of a file that belongs to this user (or root) and that nobody else may read or write; `undefined` if there
 * is none.
 *
 * @throws UsageError otherwise, with the command that mends it; what the file holds is never repeated
 */
export function readPrivateFile(path: string, user = ownUser()): string | undefined {
  const found = statusOf(path)
  if (found === undefined) return undefined
  // before it is opened: a pipe would be waited for
  if (!found.isFile()) throw new UsageError(`${path} is not a file`)
  try {
    const file = openSync(path, 'r')
    try {
      checkRights(path, fstatSync(file), user)
      return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${path} cannot be read${reasonOf(error)}`, { cause: error })
  }
}

/** Whether others may write to a folder: then they may put files of theirs in the place of ours. */
export function checkFolder(path: string, user = ownUser()): void {
  const found = statusOf(path)
  if (found === undefined || user === undefined) return
  checkOwner(path, found, user)
  if ((found.mode & 0o022) === 0) return
  throw new UsageError(`${path} may be written by others (mode ${modeText(found)})`, {
    hint: `chmod 700 ${shellWord(path)}`,
  })
}

/** What stands at a path; `undefined` if nothing does. */
export function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    throw new UsageError(`${path} cannot be read${reasonOf(cause)}`, { cause })
  }
}

function checkRights(path: string, found: Stats, user: number | undefined): void {
  if (found.size > MAX_BYTES) throw new UsageError(`${path} is larger than any file of its kind`)
  if (user === undefined) return
  checkOwner(path, found, user)
  if ((found.mode & 0o077) === 0) return
  const what = (found.mode & 0o044) === 0 ? 'written or run' : 'read'
  throw new UsageError(`${path} may be ${what} by others (mode ${modeText(found)})`, {
    hint: `chmod 600 ${shellWord(path)}`,
  })
}

/** As ssh has it: root may do as it likes anyway. */
function checkOwner(path: string, found: Stats, user: number): void {
  if (found.uid === user || found.uid === 0) return
  throw new UsageError(`${path} belongs to another user (${found.uid})`, {
    hint: `chown ${user} ${shellWord(path)}, if you trust what it holds`,
  })
}

function modeText({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

/** ` (EACCES)`, where the error has a code. */
function reasonOf(error: unknown): string {
  const code = errorCode(error)
  return code === undefined ? '' : ` (${code})`
}
