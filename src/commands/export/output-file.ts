import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CommandFailed, problem, UsageError } from '../../cli/problem.ts'
import { errorCode } from '../../util/errors.ts'
import { fileProblem } from '../transfer/files.ts'

/** A destination for a text that is written in parts. */
export interface TextSink {
  write(text: string): Promise<void>
  /** Completes the text. */
  finish(): Promise<void>
  /** Gives the text up and removes it where possible. */
  abandon(): Promise<void>
}

/**
 * Opens one file for writing. A regular file gets its name when it is finished; a device or pipe is written directly.
 *
 * @throws CommandFailed if it exists or cannot be written; UsageError if it is a folder
 */
export async function openFileSink(path: string, options: { readonly replace: boolean }): Promise<TextSink> {
  const found = await kindOf(path)
  if (found === 'folder') {
    throw new UsageError(`--to ${path} is a folder`, { hint: 'These formats write one file: give its name.' })
  }
  if (found === 'device') return deviceSink(path)
  if (found === 'file' && !options.replace) throw new CommandFailed(exists(path))
  return draftSink(path, found, options)
}

type Found = 'nothing' | 'file' | 'folder' | 'device'

async function kindOf(path: string): Promise<Found> {
  try {
    const found = await stat(path)
    if (found.isDirectory()) return 'folder'
    return found.isFile() ? 'file' : 'device'
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'nothing'
    throw new CommandFailed(fileProblem(error, path))
  }
}

async function draftSink(path: string, found: Found, { replace }: { readonly replace: boolean }) {
  // A link given by the user is followed: its target is replaced, not the link.
  const target = found === 'file' ? await realpath(path) : join(dirname(path), basename(path))
  const draft = await openDraft(dirname(target)).catch(fail(dirname(path)))
  return {
    write: async (text: string) => void (await draft.handle.writeFile(text).catch(fail(path))),
    async finish() {
      try {
        if (replace) await draft.replace(target)
        else if (!(await draft.publish(target))) throw new CommandFailed(exists(path))
      } catch (error) {
        await draft.discard()
        throw error instanceof CommandFailed ? error : new CommandFailed(fileProblem(error, path))
      }
    },
    abandon: () => draft.discard(),
  }
}

async function deviceSink(path: string): Promise<TextSink> {
  const handle: FileHandle = await open(path, 'w').catch(fail(path))
  return {
    write: async text => void (await handle.writeFile(text).catch(fail(path))),
    finish: () => handle.close(),
    abandon: () => handle.close(),
  }
}

function fail(path: string): (error: unknown) => never {
  return error => {
    throw new CommandFailed(fileProblem(error, path))
  }
}

function exists(path: string) {
  return problem('exists', `${path} already exists`, { exit: 5, hint: '--replace overwrites it.' })
}

/** A file under a temporary name. It gets its final name only once it is complete and synced to disk. */
export interface PartialFile {
  readonly handle: FileHandle
  /** Gives the file its final name. `false` if that name is taken; nothing is overwritten. */
  publish(path: string): Promise<boolean>
  /** Gives the file its final name and replaces any file there. */
  replace(path: string): Promise<void>
  /** Removes the file, unless it has its final name. */
  discard(): Promise<void>
}

/** Opens a draft in the folder of its final name. */
export async function openDraft(folder: string): Promise<PartialFile> {
  const path = join(folder, `.leasectl-${randomUUID()}.tmp`)
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
  const handle = await open(path, O_CREAT | O_EXCL | O_WRONLY | (O_NOFOLLOW ?? 0), 0o666)
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await handle.close()
  }
  return {
    handle,
    async publish(target) {
      await handle.sync()
      await close()
      return nameOnce(path, target)
    },
    async replace(target) {
      await handle.sync()
      await close()
      await rename(path, target)
    },
    async discard() {
      await close().catch(() => {})
      await rm(path, { force: true })
    },
  }
}

/** Errors of file systems without hard links, such as FAT. There, an empty file reserves the name for a moment. */
const NO_LINKS: readonly (string | undefined)[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

async function nameOnce(draft: string, target: string): Promise<boolean> {
  try {
    await link(draft, target)
    await rm(draft, { force: true })
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    if (!NO_LINKS.includes(errorCode(error))) throw error
  }
  try {
    await (await open(target, 'wx')).close()
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
  try {
    await rename(draft, target)
    return true
  } catch (error) {
    await rm(target, { force: true })
    throw error
  }
}
