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
 * Reads, changes and writes the contexts. The new file is written beside and takes the place of the old one: there is no
 * moment at which half a file could be read. Of two processes that write at the same time the last one wins.
 *
 * @param change returns what it was given where nothing is to be written
 * @throws what `change` throws; then nothing was written
 */
export function updateContexts(env: ContextEnvironment, change: (contexts: Contexts) => Contexts): Updated {
  createFolder(configFolder(env))
  const before = readContexts(env)
  const after = change(before)
  if (after !== before) replaceFile(contextsPath(env), contextsText(after))
  return { before, after }
}

function replaceFile(path: string, text: string): void {
  // a link, as those have it who keep their settings elsewhere, stays one
  const place = statusOf(path) === undefined ? path : realpathSync(path)
  const beside = `${place}.${randomUUID()}`
  try {
    writeFileSync(beside, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(beside, place)
  } catch (error) {
    rmSync(beside, { force: true })
    throw writeFault(error, place)
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
    // another process may have been faster
    if (errorCode(error) !== 'EEXIST' || !statusOf(path)?.isDirectory()) throw writeFault(error, path)
  }
}

/** A fault of the file system as one that the command line knows; others are passed on. */
function writeFault(cause: unknown, path: string): unknown {
  const code = errorCode(cause)
  const message = `${path} cannot be written (${code})`
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new NotPermitted(message, { cause, hint: 'Check the rights of the folder, or set XDG_CONFIG_HOME.' })
    case 'ENOSPC':
    case 'EDQUOT':
    case 'EIO':
      return new StoreFull(message, { cause, hint: 'Make room; the contexts are as they were.' })
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ENOENT':
      return new UsageError(message, { cause, hint: 'XDG_CONFIG_HOME names the folder of settings.' })
    default:
      return cause
  }
}
