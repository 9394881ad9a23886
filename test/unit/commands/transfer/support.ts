import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder for one test. */
export function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'leasectl-transfer-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** All files below a folder, those under temporary names too, with `/` between segments. */
export function filesIn(path: string): string[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => !entry.isDirectory())
  return files.map(entry => join(entry.parentPath, entry.name).slice(path.length + 1)).sort()
}

export const textOf = (...path: readonly string[]) => readFileSync(join(...path), 'utf8')
