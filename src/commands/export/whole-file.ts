import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../transfer/files.ts'

/** A file under a temporary name. It gets its own only when it is whole and on the disk; until then nobody sees it. */
export interface Draft {
  readonly handle: FileHandle
  /** Gives it its name. `false`: something has that name, and nothing was written over it. */
  publish(path: string): Promise<boolean>
  /** Gives it its name in place of what has it. */
  replace(path: string): Promise<void>
  /** Lets it vanish, unless it has its name. */
  discard(): Promise<void>
}

/** Opens a draft in a folder, its own or that of the file it becomes. */
export async function openDraft(folder: string): Promise<Draft> {
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

/** File systems without hard links, FAT for example: then an empty file keeps the name free of others for a moment. */
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
