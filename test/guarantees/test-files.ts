import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROWS, type RowId } from './rows.ts'

/** A test file that reports on rows. */
export interface TestFile {
  /** Absolute. */
  readonly path: string
  readonly rows: readonly RowId[]
}

/** All test files below a folder that name rows in `trustRow('ID')`, in the order of their paths. */
export function filesOfRows(folder: string): TestFile[] {
  return globSync('**/*.test.{ts,tsx}', { cwd: folder })
    .sort()
    .map(name => join(folder, name))
    .map(path => ({ path, rows: rowsIn(readFileSync(path, 'utf8')) }))
    .filter(({ rows }) => rows.length > 0)
}

function rowsIn(text: string): RowId[] {
  const named = [...text.matchAll(/\btrustRow\('(\w+)'\)/g)].map(([, id = '']) => id)
  return (Object.keys(ROWS) as RowId[]).filter(id => named.includes(id))
}
