import { DatabaseSync } from 'node:sqlite'

/**
 * Copies the only stream of a store under other names, to `streams` in all, each with another due time.
 * @param options.shareBody all share one body: for benches that list and read no document
 */
export function multiply(file: string, streams: number, { shareBody = false } = {}): void {
  const db = new DatabaseSync(file)
  const names = db.prepare("SELECT name FROM pragma_table_info('streams')").all() as { name: string }[]
  const values: Record<string, string> = {
    name: "printf('orders/%06d', n)",
    body_id: shareBody ? 'body_id' : 'n',
    due_ms: 'due_ms + (n * 7919) % 100003 * 1000',
  }
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${streams})`
  db.exec('BEGIN')
  if (!shareBody) db.exec(`${numbers} INSERT INTO bodies SELECT n, body FROM numbers, bodies WHERE id = 1`)
  const columns = names.map(column => values[column.name] ?? `streams.${column.name}`)
  const first = "streams.name = 'orders/000000'"
  db.exec(`${numbers} INSERT INTO streams SELECT ${columns.join(', ')} FROM numbers, streams WHERE ${first}`)
  db.exec('COMMIT')
  db.close()
}
