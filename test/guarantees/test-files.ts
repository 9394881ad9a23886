import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROWS, type RowId } from './rows.ts'

/** A test file that reports on rows, or has a large size and reports on none. */
export interface TestFile {
  /** Absolute. */
  readonly path: string
  readonly rows: readonly RowId[]
}

/** The test files below a folder that name rows in `trustRow('ID')` or have a large size, in the order of their paths. */
export function trustFiles(folder: string): TestFile[] {
  return globSync('**/*.test.{ts,tsx}', { cwd: folder })
    .sort()
    .map(name => join(folder, name))
    .map(path => ({ path, text: readFileSync(path, 'utf8') }))
    .filter(({ text }) => /\b(trustRow|sized)\(/.test(text))
    .map(({ path, text }) => ({ path, rows: rowsIn(text) }))
}

function rowsIn(text: string): RowId[] {
  const named = [...text.matchAll(/\btrustRow\('(\w+)'\)/g)].map(([, id = '']) => id)
  return (Object.keys(ROWS) as RowId[]).filter(id => named.includes(id))
}
