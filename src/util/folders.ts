import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export interface CreateFoldersOptions {
  /** Permissions of each new folder. Default 0o777, less the umask. */
  readonly mode?: number
  /** Called after each folder that was missing, the outermost first. */
  readonly onCreated?: (path: string) => void
}

/**
 * Creates a folder and its missing parents, one by one: `recursive` of Node never ends on a file system that takes no folders,
 * such as /proc.
 *
 * @throws errors of the file system: `EEXIST` or `ENOTDIR` if a file is in the way
 */
export function createFolders(path: string, options: CreateFoldersOptions = {}): void {
  if (isFolder(path)) return
  const { mode, onCreated } = options
  const parent = dirname(path)
  if (parent !== path) createFolders(parent, options)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have created it.
    if (!isFolder(path)) throw error
  }
  onCreated?.(path)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
