import { randomUUID } from 'node:crypto'
import { mkdirSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { NotPermitted, StoreFull } from '../../store/errors.ts'
import { errorCode } from '../../util/errors.ts'
import { configFolder } from '../folders.ts'
import { UsageError } from '../problem.ts'
import type { Contexts } from './contexts.ts'
import { type ContextEnvironment, contextsPath, contextsText, readContexts } from './file.ts'
import { statusOf } from './private-file.ts'

export interface Updated {
  readonly before: Contexts
  readonly after: Contexts
}

/**
 * Reads, changes and writes the contexts. A new file replaces the old one atomically, so that no reader sees half a file.
 * If two processes write at the same time, the last one wins.
 *
 * @param change returns its argument if nothing changes
 * @throws errors of `change`; then nothing is written
 */
export function updateContexts(env: ContextEnvironment, change: (contexts: Contexts) => Contexts): Updated {
  createFolder(configFolder(env))
  const before = readContexts(env)
  const after = change(before)
  if (after !== before) replaceFile(contextsPath(env), contextsText(after))
  return { before, after }
}

function replaceFile(path: string, text: string): void {
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

function createFolder(path: string): void {
  const found = statusOf(path)
  if (found?.isDirectory()) return
  if (found !== undefined)
    throw new UsageError(`${path} is not a folder`, { hint: 'XDG_CONFIG_HOME names the folder of settings.' })
  try {
    if (dirname(path) !== path) createFolder(dirname(path))
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // another process may have created it meanwhile
    if (errorCode(error) !== 'EEXIST' || !statusOf(path)?.isDirectory()) throw writeFault(error, path)
  }
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
      return new StoreFull(message, { cause, hint: 'Free some space; the contexts are unchanged.' })
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ENOENT':
      return new UsageError(message, { cause, hint: 'XDG_CONFIG_HOME names the folder of settings.' })
    default:
      return cause
  }
}
