import { StoreIncompatible } from '../errors.ts'
import { sqliteVersion } from './open.ts'
import { mayWriteWith } from './schema.ts'

/** Which SQLite this process has, asked when it is first needed. */
export class SqliteVersion {
  #name: string | undefined

  /** @param name overrides `sqlite_version()`. For tests. */
  constructor(name: string | undefined) {
    this.#name = name
  }

  get name(): string {
    this.#name ??= sqliteVersion()
    return this.#name
  }

  /** @throws StoreIncompatible if it may only read */
  checkMayWrite(): void {
    if (mayWriteWith(this.name)) return
    throw new StoreIncompatible(`SQLite ${this.name} in this Node can damage a store that several programs write`, {
      hint: 'Use Node 22.22.3, 24.15, 26 or later. Reading works.',
    })
  }
}
