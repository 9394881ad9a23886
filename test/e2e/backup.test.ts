import { join } from 'node:path'
import { setImmediate as otherWork } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { listed, stored, text } from '../contract/harness.ts'
import { filesIn, textOf } from '../unit/commands/transfer/support.ts'
import { init, resultOf, run } from '../unit/ops/support.ts'
import { newUser, type User } from './program.ts'

/** Backups of a store during writes, with the built program. */

const STREAMS = Array.from({ length: 12 }, (_, at) => `orders/${String(at).padStart(2, '0')}`)

let user: User
let live: StreamStore
let address: string

beforeAll(async () => {
  user = await newUser()
  address = `sqlite:${join(user.home, 'streams.db')}`
  live = await openStore(address, {})
  for (const name of STREAMS) resultOf(await run(live, name, init(['A', 'B'])))
})
afterAll(async () => {
  await live.close()
  user.leave()
})

/** Every state of a stream's document, oldest first. */
type History = Map<string, string[]>

async function history(): Promise<History> {
  const texts: History = new Map()
  for (const name of STREAMS) texts.set(name, [text((await stored(live, name)).body)])
  return texts
}

/** Changes all streams repeatedly until `work` is done. */
async function written<T>(texts: History, work: Promise<T>): Promise<{ readonly result: T; readonly changes: number }> {
  let isOver = false
  const result = work.finally(() => {
    isOver = true
  })
  let changes = 0
  while (!isOver) {
    for (const name of STREAMS) {
      const tag = `change ${changes++}`
      resultOf(await run(live, name, { op: 'set', event: '01.00', attributes: { tag } }))
      texts.get(name)?.push(text((await stored(live, name)).body))
      await otherWork()
    }
  }
  return { result: await result, changes }
}

/** Names of streams whose copy does not equal any state of the stream. */
const torn = (texts: History, copy: ReadonlyMap<string, string>): string[] =>
  STREAMS.filter(name => !texts.get(name)?.includes(copy.get(name) ?? ''))

async function documentsIn(where: string): Promise<ReadonlyMap<string, string>> {
  const store = await openStore(where, {})
  try {
    const found = new Map<string, string>()
    for (const { name } of await listed(store)) found.set(name, text((await stored(store, name)).body))
    return found
  } finally {
    await store.close()
  }
}

test('export --all --to a folder writes each stream as of one moment, and import restores it', async () => {
  const folder = join(user.home, 'backup')
  const texts = await history()
  const { result, changes } = await written(texts, user.run(['export', '--all', '--to', folder, '--store', address]))
  expect(result).toMatchObject({ code: 0, stderr: '12 streams: 12 done\n' })
  expect(changes).toBeGreaterThan(0)
  expect(filesIn(folder)).toEqual(STREAMS.map(name => `${name}.xml`))
  const copy = new Map(STREAMS.map(name => [name, textOf(folder, `${name}.xml`)]))
  expect(torn(texts, copy)).toEqual([])
  const restored = `sqlite:${join(user.home, 'restored.db')}`
  expect(await user.run(['import', folder, '--store', restored])).toMatchObject({ code: 0 })
  expect(await documentsIn(restored)).toEqual(copy)
})

test('export --all --to another file writes each stream as of one moment', async () => {
  const file = `sqlite:${join(user.home, 'copy.db')}`
  const texts = await history()
  const { result, changes } = await written(texts, user.run(['export', '--all', '--to', file, '--store', address]))
  expect(result).toMatchObject({ code: 0, stderr: '12 streams: 12 done\n' })
  expect(changes).toBeGreaterThan(0)
  const copy = await documentsIn(file)
  expect([...copy.keys()]).toEqual(STREAMS)
  expect(torn(texts, copy)).toEqual([])
})

test('the test would detect a copy of a partial document', async () => {
  const texts = await history()
  const copy = new Map([...texts].map(([name, [body = '']]) => [name, body]))
  expect(torn(texts, copy)).toEqual([])
  const [first = ''] = STREAMS
  expect(torn(texts, new Map([...copy, [first, `${copy.get(first)?.slice(0, -20)}`]]))).toEqual([first])
})
