import type { DatabaseSync } from 'node:sqlite'

/** One bare UPDATE and COMMIT for each body of the table `bench`; elapsed ms. */
export function bareCommits(db: DatabaseSync, bodies: readonly Uint8Array[]): number {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const update = db.prepare('UPDATE bench SET body = ? WHERE id = ?')
  const commit = db.prepare('COMMIT')
  const startMs = performance.now()
  for (const [at, body] of bodies.entries()) {
    begin.run()
    update.run(body, at + 1)
    commit.run()
  }
  return performance.now() - startMs
}
