import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { LockBackoff, lockDelay, SqliteFile } from '../../../../src/store/sqlite/file.ts'
import { sampleFile } from './sample.ts'

afterEach(() => void vi.useRealTimers())

it.each([
  [0, 0, 1],
  [0, 1, 3],
  [12, 1, 3],
  [40, 1, 10],
  [400, 0, 1],
  [10_000, 1, 60],
])('a call backs off briefly after a wait of %d ms, and never for long', (waitedMs, random, delayMs) => {
  expect(lockDelay(waitedMs, () => random)).toBe(delayMs)
})

it('all calls of the process retry at the time that the first of them set', () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const delays = [1, 0]
  const backoff = new LockBackoff(() => delays.shift() ?? 0)
  backoff.begin(10_000)
  backoff.begin(0)
  expect(delays).toEqual([0])
  expect(backoff.leftMs).toBe(60)
})

it('a call that does not wait makes one attempt', async () => {
  const path = await sampleFile()
  const file = new SqliteFile(path, { random: Math.random })
  onTestFinished(() => file.close())
  await file.write(() => undefined, {})
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const work = vi.fn()
  await expect(file.write(work, { lockWaitMs: 0 })).rejects.toThrow(/locked by another program for 0\.0 s/)
  expect(work).not.toHaveBeenCalled()
  other.exec('ROLLBACK')
  await expect(file.write(() => 'done', { lockWaitMs: 0 })).resolves.toBe('done')
})
