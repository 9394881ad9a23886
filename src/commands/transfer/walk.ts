import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandFailed } from '../../cli/problem.ts'
import { fileProblem } from './files.ts'

export interface FoundFile {
  /** With `/` between segments, from the folder on. */
  readonly relative: string
  readonly path: string
  /** `false` for links, pipes and the like: nothing is read through them. */
  readonly isFile: boolean
}

/** All that is below a folder but folders, in the order of names within each. Links are not followed. */
export async function* filesBelow(folder: string): AsyncGenerator<FoundFile> {
  const pending = ['']
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const folders: string[] = []
    for (const entry of await entriesOf(join(folder, at))) {
      const relative = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) folders.push(relative)
      else yield { relative, path: join(folder, relative), isFile: entry.isFile() }
    }
    pending.push(...folders.reverse())
  }
}

async function entriesOf(path: string) {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw new CommandFailed(fileProblem(error, path))
  }
}
