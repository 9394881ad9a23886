import { expect, test } from 'vitest'
import { OutputQueue } from '../../../../src/cli/output/queue.ts'
import { runCommandLine } from '../../../../src/commands/main.ts'
import { createInbox } from '../../../../src/inbox/inbox.ts'
import { InboxWriter } from '../../../../src/inbox/writer.ts'
import { fakeRuntime, newWorld } from '../../commands/support.ts'

const HALF = 150 * 1024
const never = new AbortController().signal

test('is written in order, and is full while the reader does not read', async () => {
  const queue = new OutputQueue()
  const reading = Promise.withResolvers<void>()
  const written: string[] = []
  queue.add(HALF, () => reading.promise)
  expect(queue.isFull).toBe(false)
  await queue.room(never)
  queue.add(HALF, async () => void written.push('second'))
  expect(queue.isFull).toBe(true)
  let isRoom = false
  const room = queue.room(never).then(() => (isRoom = true))
  await new Promise(resolve => setImmediate(resolve))
  expect({ isRoom, written }).toEqual({ isRoom: false, written: [] })
  reading.resolve()
  await room
  await queue.flush()
  expect(written).toEqual(['second'])
})

test('does not hold up a program that is ended, nor what is written after a fault', async () => {
  const queue = new OutputQueue()
  const stop = new AbortController()
  queue.add(2 * HALF, () => new Promise(() => {}))
  const room = queue.room(stop.signal)
  stop.abort()
  await room
  const other = new OutputQueue()
  other.add(2 * HALF, () => Promise.reject(new Error('the pipe broke')))
  await other.room(never)
  expect(other.isFull).toBe(false)
})

test('a drain works on no further records while nobody reads what it prints', async () => {
  const world = newWorld()
  const outcome = await createInbox(world.store, 'orders', 1, { by: 'ada' })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  const writer = new InboxWriter(world.store, outcome.inbox, { lingerMs: 0 })
  const records = 4_000
  await Promise.all(Array.from({ length: records }, (_, n) => writer.put({ id: `${'i'.repeat(150)}${n}`, json: '{}' })))
  const argv = ['inbox', 'drain', 'orders', '--append', 'A', '--name', 'd/{/id}', '--once', '-o', 'ndjson']
  const { runtime } = fakeRuntime(world, argv)
  const reading = Promise.withResolvers<void>()
  let lines = 0
  const write = async (text: string | Uint8Array) => {
    await reading.promise
    lines += String(text).split('\n').length - 1
  }
  const ended = runCommandLine(Object.assign(runtime, { stdout: { isTty: false, columns: undefined, write } }))
  const count = async () => {
    let found = 0
    for await (const page of world.store.list({ prefix: 'd/' })) found += page.length
    return found
  }
  let before = -1
  await expect
    .poll(
      async () => {
        const [now, last] = [await count(), before]
        before = now
        return now > 0 && now === last
      },
      { interval: 500, timeout: 30_000 },
    )
    .toBe(true)
  expect(before).toBeLessThan(records)
  reading.resolve()
  expect(await ended).toBe(0)
  expect(await count()).toBe(records)
  expect(lines).toBeGreaterThanOrEqual(records)
})
