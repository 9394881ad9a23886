import { DatabaseSync } from 'node:sqlite'

/** The bodies in a store file by name, of all streams or of those with a name prefix. */
export function bodiesIn(file: string, prefix = ''): Uint8Array[] {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  const sql = 'SELECT body FROM streams JOIN bodies ON id = body_id WHERE name >= ? AND name < ? ORDER BY name'
  const rows = db.prepare(sql).all(prefix, `${prefix}\u{10ffff}`)
  db.close()
  return rows.map(({ body }) => body as Uint8Array)
}

/** A table of bodies and nothing else, written with the durability of a store. */
export class BodyTable {
  readonly #db: DatabaseSync
  readonly #firstId: number
  #written: readonly Uint8Array[]
  #before: readonly Uint8Array[] = []

  /** @param at the part of the table for this process, if several write */
  constructor(file: string, bodies: readonly Uint8Array[], at = 0) {
    this.#db = new DatabaseSync(file, { timeout: 10_000 })
    this.#db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    this.#db.exec('CREATE TABLE IF NOT EXISTS bench (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT')
    this.#firstId = at * bodies.length + 1
    this.#written = bodies
    const insert = this.#db.prepare('INSERT INTO bench (id, body) VALUES (?, ?)')
    this.#db.exec('BEGIN IMMEDIATE')
    for (const [next, body] of bodies.entries()) insert.run(this.#firstId + next, body)
    this.#db.exec('COMMIT')
  }

  /**
   * One UPDATE for each body, grouped in transactions; elapsed ms. SQLite does not write unchanged bytes, so a body that is
   * already there is replaced by the previous one.
   * @param took receives the duration of each transaction, once per update, ms
   */
  update(bodies: readonly Uint8Array[], together: number, took: number[]): number {
    const isSame = bodies.every((body, at) => Buffer.compare(body, this.#written[at] ?? body) === 0)
    const states = isSame ? this.#before : bodies
    this.#before = this.#written
    this.#written = states
    const begin = this.#db.prepare('BEGIN IMMEDIATE')
    const update = this.#db.prepare('UPDATE bench SET body = ? WHERE id = ?')
    const commit = this.#db.prepare('COMMIT')
    const startMs = performance.now()
    for (let at = 0; at < states.length; at += together) {
      const fromMs = performance.now()
      begin.run()
      const group = states.slice(at, at + together)
      for (const [next, body] of group.entries()) update.run(body, this.#firstId + at + next)
      commit.run()
      const ms = performance.now() - fromMs
      for (const _ of group) took.push(ms)
    }
    return performance.now() - startMs
  }

  close(): void {
    this.#db.close()
  }
}
