import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { NotPermitted, StoreFull } from '../store/errors.ts'
import { errorCode } from '../util/errors.ts'
import { createFolders } from '../util/folders.ts'
import { shellWord } from './command-line.ts'
import { UsageError } from './problem.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Folder of persistent state such as run files: `$XDG_STATE_HOME/leasectl`, by default below `~/.local/state`. */
export function stateFolder(env: Environment): string {
  return join(xdg(env, env.XDG_STATE_HOME, '.local', 'state'), 'leasectl')
}

/** Folder of settings: `$XDG_CONFIG_HOME/leasectl`, by default below `~/.config`. */
export function configFolder(env: Environment): string {
  return join(xdg(env, env.XDG_CONFIG_HOME, '.config'), 'leasectl')
}

/** What the dashboard keeps from run to run. */
export function dashboardPath(env: Environment): string {
  return join(configFolder(env), 'top.json')
}

/** Ignores relative paths, as the XDG specification says. */
function xdg(env: Environment, given: string | undefined, ...usual: readonly string[]): string {
  return given?.startsWith('/') ? given : join(env.HOME ?? env.USERPROFILE ?? '.', ...usual)
}

/** The user of this process; `undefined` without POSIX permissions (Windows). */
const ownUser = (): number | undefined => process.getuid?.()

/** Size limit; no file of leasectl is larger. */
const MAX_BYTES = 1024 * 1024

/**
 * The text of a file that belongs to this user (or root) and that no other user can read or write; `undefined` if it
 * does not exist.
 *
 * @throws UsageError otherwise, with the command that fixes it; never with the content of the file
 */
export function readPrivateFile(path: string, user = ownUser()): string | undefined {
  const found = statusOf(path)
  if (found === undefined) return undefined
  // checked before opening, which would block on a pipe
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

/** Refuses a folder that others can write to: they could replace files in it. @throws UsageError */
export function checkFolder(path: string, user = ownUser()): void {
  const found = statusOf(path)
  if (found === undefined || user === undefined) return
  checkOwner(path, found, user)
  if ((found.mode & 0o022) === 0) return
  throw new UsageError(`${path} is writable by others (mode ${modeText(found)})`, {
    hint: `chmod 700 ${shellWord(path)}`,
  })
}

/** The status of a file or folder; `undefined` if it does not exist. */
export function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    throw new UsageError(`${path} cannot be read${reasonOf(cause)}`, { cause })
  }
}

function checkRights(path: string, found: Stats, user: number | undefined): void {
  if (found.size > MAX_BYTES) throw new UsageError(`${path} is too large`)
  if (user === undefined) return
  checkOwner(path, found, user)
  if ((found.mode & 0o077) === 0) return
  const what = (found.mode & 0o044) === 0 ? 'writable or executable' : 'readable'
  throw new UsageError(`${path} is ${what} by others (mode ${modeText(found)})`, {
    hint: `chmod 600 ${shellWord(path)}`,
  })
}

/** As ssh does: files of root are trusted, since root can do everything anyway. */
function checkOwner(path: string, found: Stats, user: number): void {
  if (found.uid === user || found.uid === 0) return
  throw new UsageError(`${path} belongs to another user (${found.uid})`, {
    hint: `chown ${user} ${shellWord(path)}, if you trust its content`,
  })
}

function modeText({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

/** ` (EACCES)`, if the error has a code. */
function reasonOf(error: unknown): string {
  const code = errorCode(error)
  return code === undefined ? '' : ` (${code})`
}

/** Writes a file whole: a new one replaces the old one atomically, so that no reader sees half a file. */
export function replaceUserFile(path: string, text: string): void {
  // keeps a link to a file elsewhere
  const target = statusOf(path) === undefined ? path : realpathSync(path)
  const temporary = `${target}.${randomUUID()}`
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(temporary, target)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw writeFault(error, target)
  }
}

/** Creates a folder that only the user can enter, with its parents. */
export function createUserFolder(path: string): void {
  try {
    createFolders(path, { mode: 0o700 })
  } catch (error) {
    throw writeFault(error, path)
  }
}

const SETTINGS_FOLDER = 'XDG_CONFIG_HOME names the folder of settings.'

/** The path that an error of the file system is about. */
function pathOf(error: unknown): string | undefined {
  return error instanceof Error && 'path' in error ? String(error.path) : undefined
}

/** The fault of the command line for an error of the file system; other errors are returned unchanged. */
function writeFault(cause: unknown, path: string): unknown {
  const code = errorCode(cause)
  const message = `${path} cannot be written (${code})`
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new NotPermitted(message, { cause, hint: 'Check the permissions of the folder, or set XDG_CONFIG_HOME.' })
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EIO':
      return new StoreFull(message, { cause, hint: 'Free some space; the file is unchanged.' })
    case 'EEXIST':
      return new UsageError(`${pathOf(cause) ?? path} is not a folder`, { cause, hint: SETTINGS_FOLDER })
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ENOENT':
      return new UsageError(message, { cause, hint: SETTINGS_FOLDER })
    default:
      return cause
  }
}
