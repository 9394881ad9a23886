import { describe, expect, it, vi } from 'vitest'
import { isBusy, storeError } from '../../../../src/store/sqlite/errors.ts'
import { mayWriteWith } from '../../../../src/store/sqlite/schema.ts'
import { InvalidValue, LeasectlError } from '../../../../src/stream/errors.ts'

const fault = (fields: object): Error => Object.assign(new Error('raw'), fields)

describe('an error of SQLite or the file system', () => {
  it.each([
    ['BUSY', { errcode: 5 }, 'store-unreachable'],
    ['LOCKED_SHAREDCACHE', { errcode: 262 }, 'store-unreachable'],
    ['READONLY', { errcode: 8 }, 'not-permitted'],
    ['IOERR_FSYNC', { errcode: 1034 }, 'store-unreachable'],
    ['IOERR_SHORT_READ', { errcode: 522 }, 'store-damaged'],
    ['CORRUPT_INDEX', { errcode: 779 }, 'store-damaged'],
    ['NOTADB', { errcode: 26 }, 'store-damaged'],
    ['FULL', { errcode: 13 }, 'store-full'],
    ['CANTOPEN', { errcode: 14 }, 'not-permitted'],
    ['PERM', { errcode: 3 }, 'not-permitted'],
    ['TOOBIG', { errcode: 18 }, 'invalid-value'],
    ['EACCES', { code: 'EACCES' }, 'not-permitted'],
    ['ENOSPC', { code: 'ENOSPC' }, 'store-full'],
    ['EROFS', { code: 'EROFS' }, 'not-permitted'],
    ['ENOTDIR', { code: 'ENOTDIR' }, 'bad-address'],
    ['ENOENT', { code: 'ENOENT' }, 'bad-address'],
    ['EIO', { code: 'EIO' }, 'store-unreachable'],
  ])('%s is an error of the store that names the file and keeps its cause', (_, fields, code) => {
    const cause = fault(fields)
    const error = storeError(cause, '/data/streams.db')
    expect(error).toBeInstanceOf(LeasectlError)
    expect(error).toMatchObject({ code, cause })
  })

  it('of another kind stays unchanged', () => {
    for (const error of [
      new Error('bug'),
      fault({ errcode: 1 }),
      fault({ code: 'ERR_X' }),
      new InvalidValue('x'),
      'x',
    ]) {
      expect(storeError(error, 'x')).toBe(error)
    }
  })

  it('is retried only while other programs lock the file', () => {
    expect([5, 261, 517, 6, 15].map(errcode => isBusy(fault({ errcode })))).toEqual([true, true, true, true, true])
    expect([8, 10, 11, 13, 14].map(errcode => isBusy(fault({ errcode })))).toEqual([false, false, false, false, false])
    expect(isBusy(new Error('busy'))).toBe(false)
  })
})

describe('mayWriteWith', () => {
  it('accepts SQLite 3.51.3 and later', () => {
    expect(['3.51.3', '3.51.10', '3.52.0', '4.0.0'].map(mayWriteWith)).toEqual([true, true, true, true])
    expect(['3.51.2', '3.50.4', '3.9.9', '2.99.99', ''].map(mayWriteWith)).toEqual([false, false, false, false, false])
  })
})

describe('loadSqlite', () => {
  it('suppresses the warning of node:sqlite and no other', async () => {
    // Others may have loaded it before.
    vi.resetModules()
    const { loadSqlite } = await import('../../../../src/store/sqlite/open.ts')
    const { emitWarning, getBuiltinModule } = process
    const passed: unknown[] = []
    process.emitWarning = (...args: unknown[]): void => void passed.push(args[0])
    process.getBuiltinModule = ((name: string) => {
      process.emitWarning('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')
      process.emitWarning('Something else', 'ExperimentalWarning')
      process.emitWarning('SQLite is old', 'DeprecationWarning')
      return getBuiltinModule(name)
    }) as typeof getBuiltinModule
    const replaced = process.emitWarning
    try {
      expect(loadSqlite().DatabaseSync).toBeTypeOf('function')
      expect(passed).toEqual(['Something else', 'SQLite is old'])
      expect(process.emitWarning).toBe(replaced)
    } finally {
      Object.assign(process, { emitWarning, getBuiltinModule })
    }
  })
})
