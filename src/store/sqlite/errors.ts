import { InvalidValue, LeasectlError } from '../../stream/errors.ts'
import { BadAddress, NotPermitted, StoreDamaged, StoreFull, StoreUnreachable } from '../errors.ts'

/** Primary result codes of SQLite (sqlite.org/rescode.html); the low byte of the extended code. */
const CODE = {
  perm: 3,
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  protocol: 15,
  tooBig: 18,
  auth: 23,
  notADb: 26,
} as const

/** Extended codes for lost data: IOERR_SHORT_READ, IOERR_DATA, IOERR_CORRUPTFS. */
const LOST_DATA = new Set([522, 8202, 8458])

/** IOERR_SHMSIZE: the index of the WAL could not be enlarged because the disk is full. */
const NO_ROOM = 4874

const KEPT = 'The file is left unchanged. Restore it from a copy, or name another store with --store.'

/** The extended result code; `undefined` if the error is not from SQLite. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error)) return undefined
  return typeof error.errcode === 'number' ? error.errcode : undefined
}

/** Whether another connection has the file locked: nothing was applied, retry. */
export function isBusy(error: unknown): boolean {
  const code = (sqliteCode(error) ?? 0) & 0xff
  return code === CODE.busy || code === CODE.locked || code === CODE.protocol
}

/** Whether the disk was full: the transaction was certainly not applied. */
export function isFull(error: unknown): boolean {
  return ((sqliteCode(error) ?? 0) & 0xff) === CODE.full
}

/** Whether there was no room for the index of the WAL, which readers need too. */
export function isIndexFull(error: unknown): boolean {
  return sqliteCode(error) === NO_ROOM
}

/** Converts an error of SQLite or the file system to a fault of the store; returns other errors unchanged. */
export function storeError(error: unknown, path: string): unknown {
  if (error instanceof LeasectlError) return error
  const code = sqliteCode(error)
  if (code !== undefined) return fromSqlite(code, error, path) ?? error
  return fromFileSystem(error, path) ?? error
}

function fromSqlite(code: number, cause: unknown, path: string): LeasectlError | undefined {
  switch (code & 0xff) {
    case CODE.busy:
    case CODE.locked:
    case CODE.protocol:
      return new StoreUnreachable(`${path} is locked by another program`, { cause, hint: 'Try again in a moment.' })
    case CODE.perm:
    case CODE.auth:
      return new NotPermitted(`no permission to use ${path}`, { cause })
    case CODE.readonly:
      return new NotPermitted(`${path} cannot be written: it is read-only`, {
        cause,
        hint: 'Check the permissions of the file.',
      })
    case CODE.full:
      return noRoom(cause, path)
    case CODE.cantOpen:
      return new NotPermitted(`${path} cannot be opened`, {
        cause,
        hint: 'Check the permissions of the file and its folder.',
      })
    case CODE.ioerr:
      if (code === NO_ROOM) return noRoom(cause, path)
      return LOST_DATA.has(code)
        ? new StoreDamaged(`${path} cannot be read to its end`, { cause, hint: KEPT })
        : new StoreUnreachable(`the disk failed to read or write ${path}`, { cause, hint: 'Check the disk.' })
    case CODE.corrupt:
      return new StoreDamaged(`${path} is damaged`, { cause, hint: KEPT })
    case CODE.notADb:
      return new StoreDamaged(`${path} is not a SQLite database`, { cause, hint: KEPT })
    case CODE.tooBig:
      return new InvalidValue('the stream is too large for SQLite', { cause })
    default:
      return undefined
  }
}

function noRoom(cause: unknown, path: string): StoreFull {
  return new StoreFull(`no room left to write ${path}; nothing was changed`, { cause, hint: 'Free some disk space.' })
}

function fromFileSystem(cause: unknown, path: string): LeasectlError | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  switch (cause.code) {
    case 'EACCES':
    case 'EPERM':
      return new NotPermitted(`no permission to use ${path}`, {
        cause,
        hint: 'Check the permissions of the file and its folder.',
      })
    case 'EROFS':
      return new NotPermitted(`${path} cannot be written: the file system is read-only`, { cause })
    case 'ENOSPC':
    case 'EDQUOT':
      return noRoom(cause, path)
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EISDIR':
    case 'EEXIST':
    case 'ENAMETOOLONG':
    case 'ELOOP':
      return new BadAddress(`${path} cannot be a store: ${cause.message}`, { cause })
    case 'EIO':
    case 'EMFILE':
    case 'ENFILE':
    case 'ETIMEDOUT':
    case 'ESTALE':
      return new StoreUnreachable(`${path} cannot be reached`, { cause })
    default:
      return undefined
  }
}

/** Other programs kept the file locked for too long. */
export function lockedFor(path: string, cause: unknown, waitedMs: number): StoreUnreachable {
  const seconds = (waitedMs / 1000).toFixed(1)
  return new StoreUnreachable(`${path} was locked by another program for ${seconds} s; nothing was changed`, {
    cause,
    hint: 'Find the program that keeps it open for writing, and try again.',
  })
}
