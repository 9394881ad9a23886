import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, type Mock, onTestFinished, vi } from 'vitest'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { Decision, StreamSnapshot, StreamStore } from '../../../../src/store/store.ts'
import { changeOptions, given, holder, increment, put, stored, summary, text } from '../../../contract/harness.ts'
import { integrity, testFolder } from './support.ts'

async function storeWithCounter(): Promise<{ store: StreamStore; path: string }> {
  const path = join(testFolder(), 'streams.db')
  const store = openSqliteStore(path)
  onTestFinished(() => store.close())
  await given(store, 'counter', '1')
  // After a slow write the next one gives way to the event loop, and another store would come first.
  await nextTurn()
  return { store, path }
}

/** Another program that writes: its transaction keeps the file locked until it ends. */
function lock(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  db.exec('BEGIN IMMEDIATE')
  onTestFinished(() => db.close())
  return db
}

function end(db: DatabaseSync, how: 'COMMIT' | 'ROLLBACK'): void {
  if (db.isOpen && db.isTransaction) db.exec(how)
}

describe('a file that another program has locked', () => {
  it('makes a change unreachable when the deadline passes; nothing is changed', async () => {
    const { store, path } = await storeWithCounter()
    lock(path)
    const change = store.update('counter', increment, changeOptions({ deadlineMs: 80 }))
    await expect(change).rejects.toBeInstanceOf(StoreUnreachable)
    await expect(change).rejects.toThrow(/locked by another program for \d+\.\d s; nothing was changed/)
    expect(text((await stored(store, 'counter')).body)).toBe('1')
  })

  it('lets a change decide while it waits, and the decision is written', async () => {
    const { store, path } = await storeWithCounter()
    const other = lock(path)
    const decide = vi.fn((current: StreamSnapshot) => {
      setImmediate(() => end(other, 'ROLLBACK'))
      return increment(current)
    })
    const outcome = await store.update('counter', decide, changeOptions())
    expect(outcome).toMatchObject({ kind: 'committed' })
    expect(decide).toHaveBeenCalledTimes(1)
    expect(text((await stored(store, 'counter')).body)).toBe('2')
  })

  it.each([
    ['document', `UPDATE bodies SET body = CAST('5' AS BLOB)`, `UPDATE streams SET etag = 'moved'`, '6'],
    ['lease record', `UPDATE streams SET lease_id = 'ended'`, 'UPDATE streams SET lease_until_ms = 1', '2'],
  ])('makes a change decide again if the other wrote the %s of its stream', async (_, first, second, written) => {
    const { store, path } = await storeWithCounter()
    const other = lock(path)
    other.exec(first)
    other.exec(second)
    const discards: Mock<() => void>[] = []
    const decide = vi.fn((current: StreamSnapshot) => {
      setImmediate(() => end(other, 'COMMIT'))
      const discard = vi.fn()
      discards.push(discard)
      return { ...increment(current), discard }
    })
    expect(await store.update('counter', decide, changeOptions())).toMatchObject({ kind: 'committed' })
    expect(discards.map(discard => discard.mock.calls.length)).toEqual([1, 0])
    expect(text((await stored(store, 'counter')).body)).toBe(written)
  })

  it('makes a decision discarded if the other program took the lease or removed the stream', async () => {
    for (const sql of ["UPDATE streams SET lease_id = 'theirs', lease_duration_s = -1", 'DELETE FROM streams']) {
      const { store, path } = await storeWithCounter()
      const other = lock(path)
      other.exec(sql)
      const discard = vi.fn()
      const decide = (current: StreamSnapshot) => {
        setImmediate(() => end(other, 'COMMIT'))
        return { ...increment(current), discard }
      }
      const { kind } = await store.update('counter', decide, changeOptions({ waitMs: 0 }))
      expect(kind).toBe(sql.startsWith('DELETE') ? 'missing' : 'held')
      expect(discard).toHaveBeenCalledTimes(1)
    }
  })

  it.each([
    ['back', -1],
    ['forward by more than a tenth of a second', 101],
  ])('makes a change decide again if the clock went %s meanwhile', async (_, ms) => {
    const path = join(testFolder(), 'streams.db')
    let nowMs = 1_000_000
    const store = openSqliteStore(path, { clock: () => nowMs })
    onTestFinished(() => store.close())
    await given(store, 'counter', '1')
    const other = lock(path)
    const decide = vi.fn((current: StreamSnapshot, _nowMs: number) => {
      setImmediate(() => {
        nowMs = 1_000_000 + ms
        end(other, 'ROLLBACK')
      })
      return increment(current)
    })
    expect(await store.update('counter', decide, changeOptions())).toMatchObject({ kind: 'committed' })
    expect(decide.mock.lastCall?.[1]).toBe(nowMs)
  })

  it('does not delay a change that leaves the stream as it is', async () => {
    const { store, path } = await storeWithCounter()
    lock(path)
    const leave = (): Decision => ({ kind: 'leave' })
    expect(await store.update('counter', leave, changeOptions())).toEqual({ kind: 'left' })
    expect(await store.update('none', leave, changeOptions())).toEqual({ kind: 'missing' })
    const fault = new Error('bad document')
    const fail = (): Decision => {
      throw fault
    }
    await expect(store.update('counter', fail, changeOptions())).rejects.toBe(fault)
  })

  it('delays a write only until the lock is released, while this process keeps running', async () => {
    const { store, path } = await storeWithCounter()
    const other = lock(path)
    setTimeout(() => other.exec('ROLLBACK'), 50)
    const changes = [1, 2, 3].map(() => store.update('counter', increment, changeOptions({ waitMs: 0 })))
    for (const outcome of await Promise.all(changes)) expect(outcome).toMatchObject({ kind: 'committed' })
    expect(text((await stored(store, 'counter')).body)).toBe('4')
  })

  it('allows a write to be canceled with the reason of the signal', async () => {
    const { store, path } = await storeWithCounter()
    lock(path)
    const stop = new AbortController()
    const reason = new Error('stop')
    setTimeout(() => stop.abort(reason), 40)
    const change = store.update('counter', increment, changeOptions({ signal: stop.signal }))
    await expect(change).rejects.toBe(reason)
  })
})

/** Makes the next COMMITs fail with a disk error: before they did anything, or after they did everything. */
function failCommits(times: number, when: 'before' | 'after'): { readonly failed: number } {
  const probe = new DatabaseSync(':memory:')
  const statements: StatementSync = Object.getPrototypeOf(probe.prepare('SELECT 1'))
  probe.close()
  const { run } = statements
  const seen = { failed: 0 }
  const spy = vi.spyOn(statements, 'run').mockImplementation(function (this: StatementSync, ...values) {
    if (this.sourceSQL !== 'COMMIT' || seen.failed === times) return Reflect.apply(run, this, values)
    if (when === 'after') Reflect.apply(run, this, values)
    seen.failed += 1
    throw Object.assign(new Error('disk I/O error'), { errcode: 1034 })
  })
  onTestFinished(() => spy.mockRestore())
  return seen
}

/** Adds its id to the body, once: as operations search for their command id in the journal. */
const once =
  (id: string) =>
  (current: StreamSnapshot): Decision =>
    text(current.body).includes(id) ? { kind: 'leave' } : put(`${text(current.body)} ${id}`)()

describe('a COMMIT without a clear answer', () => {
  it('is repeated if it was not applied', async () => {
    const { store } = await storeWithCounter()
    const commits = failCommits(2, 'before')
    expect(await store.update('counter', once('c-1'), changeOptions())).toMatchObject({ kind: 'committed' })
    expect(commits.failed).toBe(2)
    expect(text((await stored(store, 'counter')).body)).toBe('1 c-1')
  })

  it('is found if it was applied', async () => {
    const { store } = await storeWithCounter()
    const commits = failCommits(1, 'after')
    expect(await store.update('counter', once('c-1'), changeOptions())).toEqual({ kind: 'left' })
    expect(commits.failed).toBe(1)
    expect(text((await stored(store, 'counter')).body)).toBe('1 c-1')
  })

  it('is found even if another has taken a lease meanwhile', async () => {
    const { store, path } = await storeWithCounter()
    const other = openSqliteStore(path)
    failCommits(1, 'after')
    const change = store.update('counter', once('c-1'), changeOptions({ waitMs: 0 }))
    await other.acquireLease('counter', { leaseId: 'other', durationS: -1, holder: holder('grace') })
    expect(await change).toEqual({ kind: 'left' })
    await other.close()
  })

  it('is unknown if the stream was removed before the lookup', async () => {
    const { store, path } = await storeWithCounter()
    const other = openSqliteStore(path)
    failCommits(1, 'after')
    const change = store.update('counter', once('c-1'), changeOptions())
    await other.remove('counter', {})
    expect(await change).toMatchObject({ kind: 'unknown', cause: { errcode: 1034 } })
    await other.close()
  })

  it('is unknown if the lookup never succeeds, with the error as its cause', async () => {
    const { store, path } = await storeWithCounter()
    failCommits(Number.POSITIVE_INFINITY, 'before')
    const outcome = await store.update('counter', once('c-1'), changeOptions())
    expect(outcome).toMatchObject({ kind: 'unknown', cause: { errcode: 1034 } })
    vi.restoreAllMocks()
    await store.close()
    expect(integrity(path)).toBe('ok')
  })

  it('passes on an error that decide throws on its second run', async () => {
    const { store } = await storeWithCounter()
    failCommits(1, 'before')
    const fault = new Error('bad document')
    let looks = 0
    const decide = (): Decision => {
      looks += 1
      if (looks === 2) throw fault
      return put('2')()
    }
    await expect(store.update('counter', decide, changeOptions())).rejects.toBe(fault)
  })

  it.each(['create', 'acquire', 'remove'] as const)('makes the outcome of %s unknown', async method => {
    const { store } = await storeWithCounter()
    failCommits(1, 'before')
    const calls = {
      create: () => store.create('new', new Uint8Array(1), summary()),
      acquire: () => store.acquireLease('counter', { leaseId: 'x', durationS: 15, holder: holder('ada') }),
      remove: () => store.remove('counter', {}),
    }
    expect(await calls[method]()).toMatchObject({ kind: 'unknown', cause: { errcode: 1034 } })
  })
})
