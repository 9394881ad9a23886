import { describe, expect, test } from 'vitest'
import { orphanedData } from '../../../src/ops/doctor/data.ts'
import {
  DATA_PREFIX,
  dataName,
  listData,
  ORPHAN_AGE_MS,
  readDataBytes,
  writeDataBytes,
} from '../../../src/ops/event-data.ts'
import { readStream } from '../../../src/ops/read-stream.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import type { CreateOutcome, StreamStore } from '../../../src/store/store.ts'
import { dataOf } from '../../../src/stream/data.ts'
import { init, memoryStore, run } from './support.ts'

const BORN = '11111111-2222-4333-8444-555555555555'
const LIFE = { stream: 's', born: BORN }
const BYTES = Buffer.from('x'.repeat(5_000))
const DATA = dataOf(BYTES)
const UNKNOWN: CreateOutcome = { kind: 'unknown', cause: new StoreUnreachable('no answer') }

/** A store whose creates are changed: `play` gets the number of the call, and may call the store. */
function withCreates(
  store: StreamStore,
  play: (call: number, go: () => Promise<CreateOutcome>) => Promise<CreateOutcome>,
): StreamStore {
  let calls = 0
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (property !== 'create') return typeof value === 'function' ? value.bind(target) : value
      const create: StreamStore['create'] = (...given) => {
        // Creates of streams are left alone.
        if (!given[0].startsWith(DATA_PREFIX)) return target.create(...given)
        return play(++calls, () => target.create(...given))
      }
      return create
    },
  })
}

async function count(store: StreamStore): Promise<number> {
  let found = 0
  for await (const _ of listData(store, DATA_PREFIX)) found++
  return found
}

describe('an unanswered write of data', () => {
  test('that was applied is recognized by its content', async () => {
    const { store } = memoryStore()
    const losing = withCreates(store, async (call, go) => {
      const made = await go()
      return call === 1 ? UNKNOWN : made
    })
    await writeDataBytes(losing, LIFE, DATA, BYTES, { by: 'x' })
    expect(await readDataBytes(store, LIFE, DATA)).toHaveLength(5_000)
  })

  test('that was not applied is sent again', async () => {
    const { store } = memoryStore()
    const losing = withCreates(store, async (call, go) => (call < 3 ? UNKNOWN : go()))
    await writeDataBytes(losing, LIFE, DATA, BYTES, { by: 'x' })
    expect(await count(store)).toBe(1)
  })

  test('that is never answered fails the change: nothing is applied, and a repetition makes it once', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A'], BORN))
    const complete = { op: 'complete', event: '01.00', result: DATA } as const
    const silent = withCreates(store, async (_, go) => {
      await go()
      return UNKNOWN
    })
    // A read confirms the write.
    const outcome = await run(silent, 's', complete, { commandId: 'c' })
    expect(outcome.kind).toBe('done')
    const never = withCreates(store, async () => UNKNOWN)
    await run(store, 't', init(['A'], BORN))
    await expect(run(never, 't', complete, { commandId: 'd' })).rejects.toThrow(StoreUnreachable)
    expect((await readStream(store, 't'))?.document.version).toBe(1)
    expect(await run(store, 't', complete, { commandId: 'd' })).toMatchObject({ kind: 'done', result: { version: 2 } })
  })
})

test('a process that is killed between the data and its change leaves an orphan that is found and removed', async () => {
  const { store, advance } = memoryStore()
  await run(store, 's', init(['A'], BORN))
  const killed = new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (property === 'update') return () => Promise.reject(new Error('killed'))
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await expect(run(killed, 's', { op: 'complete', event: '01.00', result: DATA })).rejects.toThrow('killed')
  expect(await count(store)).toBe(1)
  expect(await orphanedData(store, { remove: true })).toEqual({ count: 0, bytes: 0, removed: 0 })
  advance(ORPHAN_AGE_MS)
  expect(await orphanedData(store, { remove: false })).toMatchObject({ count: 1, bytes: 5_000 })
  // A repetition makes the data new, so that it stays.
  await run(store, 's', { op: 'complete', event: '01.00', result: DATA })
  expect(await orphanedData(store, { remove: true })).toMatchObject({ count: 0 })
  await writeDataBytes(store, { ...LIFE, stream: 'gone' }, DATA, BYTES, { by: 'x' })
  advance(ORPHAN_AGE_MS)
  expect(await orphanedData(store, { remove: true })).toMatchObject({ count: 1, removed: 1 })
  expect(await store.read(dataName(LIFE, DATA))).toBeDefined()
})
