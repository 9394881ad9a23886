import { mkdir, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { CommandFailed, UsageError } from '../../cli/problem.ts'
import { fileProblem } from '../transfer/files.ts'

/**
 * A folder that nothing is written outside of: folders below it are made as they are needed, and one that turns out to
 * lead elsewhere, as a symbolic link does, is refused.
 */
export interface SafeFolder {
  /** Absolute, without symbolic links. */
  readonly path: string
  /** The folder of a file, made if it is missing. @throws LeadsElsewhere, and what the file system throws */
  folderOf(relative: string): Promise<string>
  /** Whether a folder of `folderOf` is still what it was. @throws LeadsElsewhere */
  check(folder: string): Promise<void>
}

/** A folder below the target is a link, or the file system takes its name for that of another. */
export class LeadsElsewhere extends Error {
  constructor(folder: string, found: string) {
    super(`${folder} leads to ${found}`)
    this.name = 'LeadsElsewhere'
  }
}

/** Makes the folder if it is missing. @throws CommandFailed, UsageError it cannot be one */
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
    await mkdir(path, { recursive: true })
    const real = await realpath(path)
    if ((await stat(real)).isDirectory()) return real
  } catch (error) {
    if (!(await isFile(path))) throw new CommandFailed(fileProblem(error, path))
  }
  throw new UsageError(`--to ${path} is a file`, { hint: 'Name a folder; it is made if it is missing.' })
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
