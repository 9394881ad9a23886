import { afterEach, beforeEach, expect, test } from 'vitest'
import { drain } from '../../../../src/inbox/drain/drain.ts'
import { drainWork } from '../../../../src/inbox/drain/work.ts'
import { createInbox, type Inbox } from '../../../../src/inbox/inbox.ts'
import { InboxWriter } from '../../../../src/inbox/writer.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { Machine, seeded, VirtualTime } from '../../ops/shards/world.ts'

const LEASE_MS = 15_000
/** A lease that has expired is taken at the next check. */
const CHECK_MS = 2_000
const PARTITIONS = 4
/** Of one record. */
const WORK_MS = 200

let time: VirtualTime
let store: StreamStore
let inbox: Inbox
let drains: Drain[]
beforeEach(async () => {
  time = new VirtualTime()
  store = openMemoryStore({ clock: () => time.nowMs })
  const outcome = await createInbox(store, 'orders', PARTITIONS, { by: 'test' })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  inbox = outcome.inbox
  drains = []
})
afterEach(async () => {
  for (const one of drains) await one.stop()
})

/** The process of a drain, which makes one stream of each record, one after the other. */
class Drain extends Machine {
  held: readonly number[] = []
  /** What it has written, in order. */
  readonly writes: string[] = []
  readonly #stop = new AbortController()
  readonly #running: Promise<unknown>

  constructor(name: string) {
    super(time, seeded(drains.length + 1))
    const mine = this.lineTo(store, written => this.writes.push(written))
    const init = { op: 'init', root: { name: 'D' }, forks: [], hold: false } as const
    const work = drainWork(mine, { kind: 'create', name: 'd/{/id}', init }, { by: name })
    const slow = async (...given: Parameters<typeof work.apply>) => {
      await this.timing.pause(WORK_MS, new AbortController().signal)
      return work.apply(...given)
    }
    let ids = 0
    this.#running = drain(
      mine,
      {
        ...{ inbox, work: { ...work, apply: slow }, by: name, concurrency: 1, timing: this.timing },
        newId: () => `${name}-${++ids}`,
        observe: event => {
          if (event.kind === 'partitions') this.held = event.held
        },
      },
      this.#stop.signal,
    )
    drains.push(this)
  }

  /** Those of the records, checkpoints and dead letters that it has written since a moment. */
  writtenSince(count: number): string[] {
    return this.writes.slice(count).filter(name => !name.includes('/seats'))
  }

  async stop(): Promise<void> {
    if (this.isDead) return
    this.resume()
    this.#stop.abort()
    let isOver = false
    const over = this.#running.then(() => {
      isOver = true
    })
    while (!isOver) await time.advance(1_000)
    await over
  }
}

async function put(from: number, count: number): Promise<void> {
  const writer = new InboxWriter(store, inbox, { lingerMs: 0 })
  await Promise.all(Array.from({ length: count }, (_, at) => writer.put({ id: `o${from + at}`, json: '{}' })))
}

async function made(): Promise<string[]> {
  const found: string[] = []
  for await (const page of store.list({ prefix: 'd/' })) found.push(...page.map(({ name }) => name))
  return found
}

/** A drain that has all partitions, and works on the first of many records. */
async function working(count: number): Promise<Drain> {
  const one = new Drain('one')
  await time.advance(3_000)
  expect(one.held).toHaveLength(PARTITIONS)
  await put(0, count)
  await time.advance(10 * WORK_MS)
  expect((await made()).length).toBeGreaterThan(2)
  return one
}

async function expectEachOnce(count: number): Promise<void> {
  expect(await made()).toHaveLength(count)
  for (let at = 0; at < count; at++) expect((await readStream(store, `d/o${at}`))?.transactions()).toHaveLength(1)
}

test('a drain that dies is replaced within 15 s and the time of a check, not before, and nothing is done twice', async () => {
  const one = await working(60)
  // Its leases have just been renewed: they last longest.
  await time.advance(2_100)
  one.kill()
  const left = (await made()).length
  expect(left).toBeLessThan(60)
  const two = new Drain('two')
  await time.advance((LEASE_MS * 2) / 3 - 1_000)
  expect(two.held).toEqual([])
  expect(await made()).toHaveLength(left)
  await time.advance(LEASE_MS / 3 + 1_000 + CHECK_MS)
  expect(two.held).toHaveLength(PARTITIONS)
  await time.advance(60 * WORK_MS + 1_000)
  await expectEachOnce(60)
})

test('a drain that pauses loses its partitions: what is in flight ends, and nothing is begun or written afterwards', async () => {
  const one = await working(60)
  one.suspend()
  const two = new Drain('two')
  await time.advance(LEASE_MS + CHECK_MS)
  expect(two.held).toHaveLength(PARTITIONS)
  const [left, before] = [(await made()).length, one.writes.length]
  expect(left).toBeLessThan(60)
  // From here on only what the one that was suspended does.
  two.suspend()
  one.resume()
  await time.advance(900)
  expect(one.writtenSince(before).filter(name => !name.startsWith('d/'))).toEqual([])
  expect(one.writtenSince(before).length).toBeLessThanOrEqual(1)
  expect(one.held).toEqual([])
  two.resume()
  await time.advance(120 * WORK_MS)
  await expectEachOnce(60)
})
