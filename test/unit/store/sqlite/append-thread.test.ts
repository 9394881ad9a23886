import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { LOG_START } from '../../../../src/store/block-log.ts'
import { ContainerMissing, StoreClosed } from '../../../../src/store/errors.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { describeLogs } from '../../../contract/contract-logs.ts'
import { bytes, text } from '../../../contract/harness.ts'
import { inFile, testFolder } from './support.ts'

const NAME = '.leasectl/inbox/orders/0001'
const WARM = '.leasectl/inbox/warm/0001'

/** A store whose thread is ready to append. */
async function withThread(path: string): Promise<{ store: StreamStore; worker: Worker }> {
  const store = openSqliteStore(path, { threadFromBytes: 1 })
  await store.createContainer()
  const started = new Promise<Worker>(resolve => {
    process.once('worker', worker => worker.once('message', () => resolve(worker)))
  })
  await store.log(WARM).append(bytes('warm\n'))
  const worker = await started
  onTestFinished(() => store.close())
  return { store, worker }
}

async function linesOf(store: StreamStore): Promise<string> {
  return text((await store.log(NAME).read(LOG_START, 1_000_000)).bytes)
}

describe('in a thread', () => {
  describeLogs({
    open: async () => (await withThread(join(testFolder(), 's.db'))).store,
    features: { leaseEnds: true, utf8Order: true, changeMarks: true },
  })
})

test('blocks are appended by the thread, and are durable when it says so', async () => {
  const path = join(testFolder(), 's.db')
  const { store, worker } = await withThread(path)
  const answers = vi.fn()
  worker.on('message', answers)
  const appended = ['a\n', 'b\n', 'c\n'].map(block => store.log(NAME).append(bytes(block)))
  expect(await Promise.all(appended)).toEqual(appended.map(() => ({ kind: 'appended' })))
  expect(answers).toHaveBeenCalled()
  expect(inFile(path, db => db.prepare("SELECT count(*) AS n FROM blocks WHERE log LIKE '%orders%'").get()?.n)).toBe(3)
})

test('without much to append there is no thread', async () => {
  const workers = vi.fn()
  process.on('worker', workers)
  onTestFinished(() => void process.off('worker', workers))
  const store = openSqliteStore(join(testFolder(), 's.db'))
  await store.createContainer()
  for (let at = 0; at < 3; at++) await store.log(NAME).append(new Uint8Array(256 * 1024).fill(0x0a))
  expect(workers).not.toHaveBeenCalled()
  await store.log(NAME).append(new Uint8Array(256 * 1024).fill(0x0a))
  expect(workers).toHaveBeenCalledOnce()
  await store.close()
})

test('closing waits for what is being appended, and ends the thread', async () => {
  const path = join(testFolder(), 's.db')
  const { store, worker } = await withThread(path)
  const ended = once(worker, 'exit')
  const appended = store.log(NAME).append(bytes('last\n'))
  await store.close()
  expect(await appended).toEqual({ kind: 'appended' })
  await ended
  await expect(store.log(NAME).append(bytes('later\n'))).rejects.toThrow(StoreClosed)
  expect(await linesOf(openSqliteStore(path))).toBe('last\n')
})

test('a store that is closed while its thread starts is closed', async () => {
  const store = openSqliteStore(join(testFolder(), 's.db'), { threadFromBytes: 1 })
  await store.createContainer()
  expect(await store.log(NAME).append(bytes('a\n'))).toEqual({ kind: 'appended' })
  await store.close()
  await expect(store.log(NAME).append(bytes('b\n'))).rejects.toThrow(StoreClosed)
})

test('what a thread that ended had not answered is unknown; the next block is appended without it', async () => {
  const { store, worker } = await withThread(join(testFolder(), 's.db'))
  const appended = store.log(NAME).append(bytes('a\n'))
  await worker.terminate()
  expect((await appended).kind).toMatch(/unknown|appended/)
  expect(await store.log(NAME).append(bytes('b\n'))).toEqual({ kind: 'appended' })
  expect(await linesOf(store)).toMatch(/^(a\n)?b\n$/)
})

test('a block that cannot be handed over is appended without the thread, and closing ends', async () => {
  const { store, worker } = await withThread(join(testFolder(), 's.db'))
  vi.spyOn(worker, 'postMessage').mockImplementationOnce(() => {
    throw new Error('out of memory')
  })
  expect(await store.log(NAME).append(bytes('a\n'))).toEqual({ kind: 'appended' })
  expect(await store.log(NAME).append(bytes('b\n'))).toEqual({ kind: 'appended' })
  expect(await linesOf(store)).toBe('a\nb\n')
  await store.close()
})

test('a block stays that of the caller', async () => {
  const { store } = await withThread(join(testFolder(), 's.db'))
  const block = bytes('a\n')
  await store.log(NAME).append(block)
  expect(text(block)).toBe('a\n')
})

test('a deleted store is not made again', async () => {
  const path = join(testFolder(), 's.db')
  const { store } = await withThread(path)
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  await expect(store.log(NAME).append(bytes('a\n'))).rejects.toThrow(ContainerMissing)
})

test('a lock of another program is waited for, until the caller gives up', async () => {
  const path = join(testFolder(), 's.db')
  const { store } = await withThread(path)
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const ending = new AbortController()
  const log = store.log(NAME)
  const [given, kept] = [log.append(bytes('a\n'), ending.signal), log.append(bytes('b\n'))]
  setTimeout(() => ending.abort(new Error('enough')), 1_500)
  await expect(given).rejects.toThrow('enough')
  other.exec('ROLLBACK')
  expect(await kept).toEqual({ kind: 'appended' })
  expect(await linesOf(store)).toBe('b\n')
})
