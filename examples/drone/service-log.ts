import { DatabaseSync } from 'node:sqlite'

/** A request to a service: what it is about, and the key that is the same in each attempt. */
export interface ServiceRequest {
  readonly key: string
  readonly delivery: string
}

/** What a service did: `nothing` is undoing what was never done. */
export interface Action extends ServiceRequest {
  readonly action: 'do' | 'undo' | 'nothing'
  /** By the clock that all processes of this machine share, ns. */
  readonly at: bigint
}

/** What a service has done and undone, in a file that survives a kill. */
export class ServiceLog {
  readonly #file: DatabaseSync

  constructor(path: string) {
    this.#file = new DatabaseSync(path)
    this.#file.exec(`
      PRAGMA journal_mode = WAL;
      -- Enough for a kill, which loses nothing that was written; not for a power cut.
      PRAGMA synchronous = OFF;
      PRAGMA busy_timeout = 5000;
      CREATE TABLE IF NOT EXISTS actions (delivery TEXT, key TEXT, action TEXT, at INTEGER);
      CREATE TABLE IF NOT EXISTS requests (asked TEXT PRIMARY KEY, times INTEGER);
    `)
  }

  /** How often the service was asked for this. One that was killed goes on counting. */
  count(asked: string): number {
    const row = this.#file
      .prepare('INSERT INTO requests VALUES (?, 1) ON CONFLICT DO UPDATE SET times = times + 1 RETURNING times')
      .get(asked)
    return Number(row?.times)
  }

  isDone({ key }: ServiceRequest): boolean {
    return this.#has(key, 'do')
  }

  /** Does it, once. Returns false if it was undone before: then it is never done. */
  do(request: ServiceRequest): boolean {
    if (this.#has(request.key, 'undo') || this.#has(request.key, 'nothing')) return false
    if (!this.isDone(request)) this.#add(request, 'do')
    return true
  }

  /** Undoes it, once. */
  undo(request: ServiceRequest): void {
    if (this.#has(request.key, 'undo') || this.#has(request.key, 'nothing')) return
    this.#add(request, this.isDone(request) ? 'undo' : 'nothing')
  }

  /** All that was done and undone, in order. */
  actions(): Action[] {
    const rows = this.#file.prepare('SELECT * FROM actions ORDER BY at')
    rows.setReadBigInts(true)
    return rows.all() as unknown as Action[]
  }

  /** Number of things that were done and undone. */
  size(): number {
    return Number(this.#file.prepare('SELECT count(*) AS actions FROM actions').get()?.actions)
  }

  close(): void {
    this.#file.close()
  }

  #has(key: string, action: Action['action']): boolean {
    return this.#file.prepare('SELECT 1 FROM actions WHERE key = ? AND action = ?').get(key, action) !== undefined
  }

  #add({ delivery, key }: ServiceRequest, action: Action['action']): void {
    this.#file.prepare('INSERT INTO actions VALUES (?, ?, ?, ?)').run(delivery, key, action, process.hrtime.bigint())
  }
}
