import { closeSync, fsyncSync, mkdirSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { NotPermitted, StoreFull } from '../../store/errors.ts'
import { errorCode } from '../../util/errors.ts'
import { shellWord } from '../command-line.ts'
import { configFolder } from '../folders.ts'
import { CommandFailed, problem, UsageError } from '../problem.ts'
import type { Contexts } from './contexts.ts'
import { contextsPath, contextsText, type Environment, readContexts } from './file.ts'
import { statusOf } from './private-file.ts'

export interface UpdateOptions {
  readonly signal?: AbortSignal
  /** How long another process that writes is waited for, ms. */
  readonly lockWaitMs?: number
}

export interface Updated {
  readonly before: Contexts
  readonly after: Contexts
}

const LOCK_WAIT_MS = 2_000
const LOOK_EVERY_MS = 20

/**
 * Reads, changes and writes the contexts; no other process comes between. The file that is written beside and then
 * takes the place of the old one is the lock as well: there is no moment at which half a file could be read.
 *
 * @param change returns what it was given where nothing is to be written
 * @throws what `change` throws; then nothing was written
 */
export async function updateContexts(
  env: Environment,
  change: (contexts: Contexts) => Contexts,
  options: UpdateOptions = {},
): Promise<Updated> {
  createFolder(configFolder(env))
  // a link, as those have it who keep their settings elsewhere, stays one
  const path = statusOf(contextsPath(env)) === undefined ? contextsPath(env) : realpathSync(contextsPath(env))
  const beside = `${path}.lock`
  const file = await lock(beside, options)
  // No pause from here on: a signal finds everything done, or nothing.
  try {
    const before = readContexts(env)
    const after = change(before)
    if (after === before) return unlocked(beside, { before, after })
    writeFileSync(file, contextsText(after))
    fsyncSync(file)
    renameSync(beside, path)
    return { before, after }
  } catch (error) {
    throw unlocked(beside, writeFault(error, path))
  } finally {
    closeSync(file)
  }
}

function unlocked<Value>(path: string, value: Value): Value {
  rmSync(path, { force: true })
  return value
}

async function lock(path: string, { signal, lockWaitMs = LOCK_WAIT_MS }: UpdateOptions): Promise<number> {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    signal?.throwIfAborted()
    try {
      return openSync(path, 'wx', 0o600)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw writeFault(error, path)
    }
    if (waitedMs >= lockWaitMs) throw new CommandFailed(locked(path))
    await setTimeout(LOOK_EVERY_MS, undefined, signal === undefined ? {} : { signal })
  }
}

/** Never removed by us: whoever holds it may only be slow. */
function locked(path: string) {
  return problem('contexts-locked', 'another leasectl is changing the contexts; nothing was changed', {
    exit: 6,
    retryable: true,
    hint: `If none is running it was killed while it wrote: rm ${shellWord(path)}`,
  })
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
