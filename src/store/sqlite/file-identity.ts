import { type BigIntStats, rmSync, type Stats, statSync } from 'node:fs'
import { StoreIncompatible, StoreUnreachable } from '../errors.ts'
import type { Connection } from './connection.ts'
import { isBusy } from './errors.ts'

/** Another file came into the place of the database. Nothing was done with either of them: worth another try. */
export class Replaced extends Error {
  constructor() {
    super('the file was replaced')
  }
}

/** What lies at a path, by device and number; '' for nothing. Windows lets nobody replace a file that is open. */
function identityOf(path: string): string {
  return identity(statusOf(path))
}

/**
 * The same of a database.
 * @throws StoreIncompatible if it has a second name (hard link): SQLite finds the WAL by the name, so that who uses
 * another name has another WAL, and each overwrites what the other has committed
 */
export function databaseIdentityOf(path: string): string {
  const stats = statusOf(path)
  requireOneName(path, stats)
  return identity(stats)
}

type Status = BigIntStats | undefined

function statusOf(path: string): Status {
  return statSync(path, { throwIfNoEntry: false, bigint: true })
}

function identity(stats: Status): string {
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}`
}

function requireOneName(path: string, stats: Status): void {
  if (stats === undefined || stats.nlink <= 1n) return
  throw new StoreIncompatible(
    `${path} has ${stats.nlink} names (hard links): programs that use different ones would lose each other's changes`,
    { hint: 'Remove all names but one: find / -xdev -samefile FILE shows them. A symbolic link is no second name.' },
  )
}

/** What was opened by a path. */
export interface OpenedFile {
  /** What lay at the path just before, as `databaseIdentityOf` tells it: so no moment is left out. */
  readonly identity: string
  /** Where symbolic links lead to: WAL and index lie beside it. */
  readonly realPath: string
}

/**
 * The files of an open database. Nothing in SQLite notices that another file was put in their place, or none: it goes on
 * with those that nobody else can reach any more.
 */
export class OpenFiles {
  readonly #path: string
  readonly #identity: string
  /** WAL and its index: they lie there under the old name, and would be taken for those of the new file. */
  readonly #beside: readonly (readonly [path: string, identity: string])[]

  constructor(path: string, { identity, realPath }: OpenedFile) {
    this.#path = path
    this.#identity = identity
    this.#beside = [`${realPath}-wal`, `${realPath}-shm`].map(beside => [beside, identityOf(beside)])
  }

  /**
   * Another file has the name of the database by now, or none has.
   * @throws StoreIncompatible if the file has got a second name
   */
  areReplaced(): boolean {
    const stats = statusOf(this.#path)
    if (identity(stats) !== this.#identity) return true
    requireOneName(this.#path, stats)
    return false
  }

  /**
   * Closes the connection for good. All that was committed is put into the old file first, which may have been moved and
   * not deleted; then WAL and index are nobody's and go, unless they are another's already. Whoever else has the old file
   * open does so under the same lock, and a number is not given again while its file is open: none takes away new ones.
   * @throws StoreUnreachable as long as the WAL cannot be emptied: the new file must not be opened beside it
   */
  leave(connection: Connection): void {
    try {
      connection.checkpoint()
      if (!this.#isLeft()) connection.alone(() => this.#remove())
    } catch (error) {
      if (isBusy(error)) throw error
      if (!this.#isLeft()) throw inTheWay(this.#path, error)
    }
    connection.close()
  }

  #isLeft(): boolean {
    return this.#own().length === 0
  }

  #own(): readonly string[] {
    const own = this.#beside.filter(([path, identity]) => identity !== '' && identityOf(path) === identity)
    return own.map(([path]) => path)
  }

  #remove(): void {
    const own = this.#own()
    if (own.some(path => path.endsWith('-wal') && sizeOf(path) > 0)) throw inTheWay(this.#path)
    for (const path of own) rmSync(path, { force: true })
  }
}

function sizeOf(path: string): number {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false })
  return stats?.size ?? 0
}

function inTheWay(path: string, cause?: unknown): StoreUnreachable {
  return new StoreUnreachable(`${path} was replaced while it was open, and ${path}-wal is still that of the old file`, {
    cause,
    hint: 'Stop the programs that use it, and remove the -wal and -shm files beside it.',
  })
}
