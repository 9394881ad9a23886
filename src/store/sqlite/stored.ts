import { StoreDamaged } from '../errors.ts'
import type { Stored } from '../store.ts'
import type { Connection } from './connection.ts'
import { type Gate, storedOf } from './rows.ts'
import { SELECT_STORED } from './sql.ts'

/**
 * A stream as a change sees it inside its transaction. Who remembers the document by its ETag asks neither for the body
 * nor for the summary: those are read when they are first asked for, which costs more than all the rest.
 */
export class StoredOnDemand {
  readonly stored: Stored
  readonly #connection: Connection
  readonly #nowMs: number
  #whole: Stored | undefined
  /** A fault of the store, not of who asked. */
  #fault: { readonly error: unknown } | undefined
  #hasEnded = false

  constructor(connection: Connection, name: string, { etag, modifiedMs, version }: Gate, nowMs: number) {
    this.#connection = connection
    this.#nowMs = nowMs
    const whole = (): Stored => this.#read(name)
    this.stored = {
      name,
      etag,
      modifiedMs,
      versionFloor: version,
      get size() {
        return whole().size
      },
      get lease() {
        return whole().lease
      },
      get summary() {
        return whole().summary
      },
      get body() {
        return whole().body
      },
    } as Stored
  }

  /**
   * What was not asked for by now is not told any more: outside the transaction it may be another's.
   * @throws what reading threw, whatever was made of it
   */
  end(): void {
    this.#hasEnded = true
    if (this.#fault !== undefined) throw this.#fault.error
  }

  #read(name: string): Stored {
    if (this.#whole !== undefined) return this.#whole
    if (this.#hasEnded) throw new Error('a stream can be looked at only while its change is decided')
    try {
      const row = this.#connection.get(SELECT_STORED, name)
      if (row === undefined) throw bodyMissing(name)
      this.#whole = storedOf(row, this.#nowMs)
      return this.#whole
    } catch (error) {
      this.#fault = { error }
      throw error
    }
  }
}

export function bodyMissing(name: string): StoreDamaged {
  return new StoreDamaged(`the document of ${name} is missing`, { hint: 'Restore the file from a copy.' })
}
