import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Equal for all paths of a file, including hard links and mounts. A file that does not exist yet is its path. */
export function fileIdentity(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined || found.ino === 0n ? realPath(path) : `${found.dev}:${found.ino}`
}

/** Follows links as far as the path exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
  }
}
