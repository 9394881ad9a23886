import { mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { CommandFailed, UsageError } from '../../cli/problem.ts'
import { createFolders } from '../../util/folders.ts'
import { fileProblem } from '../transfer/files.ts'

/**
 * A folder that confines all writes. Folders below it are created as needed; one that leads elsewhere, such as a
 * symbolic link, is refused.
 */
export interface SafeFolder {
  /** Absolute path without symbolic links. */
  readonly path: string
  /** Creates the folder of a file if it is missing. @throws LeadsElsewhere, and errors of the file system */
  folderOf(relative: string): Promise<string>
  /** Checks that a folder from `folderOf` has not been replaced by a link. @throws LeadsElsewhere */
  check(folder: string): Promise<void>
}

/** A folder below the target is a link, or the file system maps its name to another folder. */
export class LeadsElsewhere extends Error {
  constructor(folder: string, found: string) {
    super(`${folder} leads to ${found}`)
    this.name = 'LeadsElsewhere'
  }
}

/** Creates the folder if it is missing. @throws CommandFailed; UsageError if the path is a file */
export async function openSafeFolder(path: string): Promise<SafeFolder> {
  const root = await realFolder(path)
  const made = new Set([root])
  const check = async (folder: string) => {
    const found = await realpath(folder)
    if (found !== folder) throw new LeadsElsewhere(folder, found)
  }
  const make = async (folder: string): Promise<void> => {
    if (made.has(folder)) return
    await make(dirname(folder))
    await mkdir(folder).catch(ignoreExisting)
    await check(folder)
    made.add(folder)
  }
  return {
    path: root,
    check,
    async folderOf(relative) {
      const folder = dirname(join(root, ...relative.split('/')))
      if (folder !== root && !folder.startsWith(root + sep)) throw new LeadsElsewhere(relative, folder)
      await make(folder)
      return folder
    },
  }
}

async function realFolder(path: string): Promise<string> {
  try {
    createFolders(path)
    const real = await realpath(path)
    if ((await stat(real)).isDirectory()) return real
  } catch (error) {
    if (!(await isFile(path))) throw new CommandFailed(fileProblem(error, path))
  }
  throw new UsageError(`--to ${path} is a file`, { hint: 'Give a folder; it is created if it is missing.' })
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    found => !found.isDirectory(),
    () => false,
  )
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error
}
