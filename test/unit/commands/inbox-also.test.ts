import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createInbox, partitionLog } from '../../../src/inbox/inbox.ts'
import { parseRecord } from '../../../src/inbox/record.ts'
import { LOG_START } from '../../../src/store/block-log.ts'
import { ContainerMissing, StoreUnreachable } from '../../../src/store/errors.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { cli, json, NOON, newWorld, type Setting } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'leasectl-also-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const B = 'azurite://127.0.0.1:1/second'
const INBOX = { name: 'orders', partitions: 1, createdMs: 0, by: '' }

/** Two regions with an inbox; requests to one that is away fail. */
async function twoRegions(partitions: readonly [number, number] = [1, 1]) {
  const world = newWorld()
  const other = openMemoryStore({ clock: () => world.nowMs, random: () => 0.5 })
  await createInbox(world.store, 'orders', partitions[0], { by: 'ada' })
  await createInbox(other, 'orders', partitions[1], { by: 'ada' })
  const away = { first: false, second: false }
  /** Number of appends that fail from now on. */
  const failing = { first: 0, second: 0 }
  const guarded = (store: StreamStore, place: keyof typeof away): StreamStore => {
    const check = async () => {
      if (away[place]) throw new StoreUnreachable('no answer')
    }
    const read: StreamStore['read'] = async (...given) => check().then(() => store.read(...given))
    const log: StreamStore['log'] = name => {
      const real = store.log(name)
      const append: typeof real.append = async block => {
        if (failing[place]-- > 0) throw new StoreUnreachable('no answer')
        return check().then(() => real.append(block))
      }
      return Object.assign(Object.create(real), { append })
    }
    return Object.assign(Object.create(store), { read, log, nowMs: store.nowMs })
  }
  const setting: Setting = { store: guarded(world.store, 'first'), others: { [B]: guarded(other, 'second') } }
  const run = (line: string, more: Setting = {}) => cli(world, line.split(' '), { ...setting, ...more })
  return { other, away, failing, run, recordsOf: () => Promise.all([recordsIn(world.store), recordsIn(other)]) }
}

async function recordsIn(store: StreamStore) {
  const { bytes } = await partitionLog(store, INBOX, 0).read(LOG_START, Number.MAX_SAFE_INTEGER)
  return new TextDecoder().decode(bytes).split('\n').slice(0, -1).map(parseRecord)
}

const LINES = '{"id":"a","key":"k"}\n{"id":"b"}\n'

describe('inbox put --also', () => {
  test('puts each record into both regions; a drain of the second leaves it to the first for a while', async () => {
    const { run, recordsOf } = await twoRegions()
    const ran = await run(`inbox put orders --also ${B} --prefer 20s`, { stdin: LINES })
    expect(ran).toMatchObject({ exit: 0, stdout: '✓ orders  2 records put\n', stderr: '' })
    const [first, second] = await recordsOf()
    expect(first.map(({ id, key, notBefore }) => [id, key, notBefore])).toEqual([
      ['a', 'k', undefined],
      ['b', 'b', undefined],
    ])
    expect(second.map(({ id, key, notBefore }) => [id, key, Date.parse(notBefore ?? '')])).toEqual([
      ['a', 'k', NOON + 20_000],
      ['b', 'b', NOON + 20_000],
    ])
  })

  test('prefers the first region by 15 seconds unless told otherwise', async () => {
    const { run, recordsOf } = await twoRegions()
    await run(`inbox put orders --also ${B}`, { stdin: LINES })
    const [, [record]] = await recordsOf()
    expect(Date.parse(record?.notBefore ?? '')).toBe(NOON + 15_000)
  })

  test.each(['first', 'second'] as const)(
    'puts with the %s region away, says so once, and where records are',
    async place => {
      const { run, away, recordsOf } = await twoRegions()
      away[place] = true
      const there = place === 'first' ? B : 'memory:'
      const gone = place === 'first' ? 'memory:' : B
      const ran = await run(`inbox put orders --linger 0s --also ${B}`, { stdin: LINES })
      expect(ran).toMatchObject({
        exit: 0,
        stdout: `✓ orders  2 records put, 2 of them only in ${there}\n`,
        stderr: `${gone} is away (no answer); records go to ${there} only\n`,
      })
      const asJson = await run(`inbox put orders -o json --also ${B}`, { stdin: '{"id":"c"}' })
      const regions = [
        { store: 'memory:', only: place === 'first' ? 0 : 1 },
        { store: B, only: place === 'first' ? 1 : 0 },
      ]
      expect(json(asJson.stdout)).toMatchObject({ put: 1, regions })
      const records = await recordsOf()
      expect(records.map(({ length }) => length)).toEqual(place === 'first' ? [0, 3] : [3, 0])
    },
  )

  test('waits while both are away, and says so once', async () => {
    const { run, failing, recordsOf } = await twoRegions()
    failing.first = 1_000
    failing.second = 3
    const ran = await run(`inbox put orders --also ${B}`, { stdin: LINES })
    expect(ran).toMatchObject({ exit: 0, stdout: `✓ orders  2 records put, 2 of them only in ${B}\n` })
    expect(ran.stderr.match(/waiting for one of the two stores/g)).toHaveLength(1)
    expect(ran.stderr).toContain('a store answers again')
    const [first, second] = await recordsOf()
    expect(first).toEqual([])
    expect(new Set(second.map(({ id }) => id))).toEqual(new Set(['a', 'b']))
  })

  test('refuses a region that is the store itself, has other partitions, or no inbox', async () => {
    const { run } = await twoRegions()
    const file = `sqlite:${join(folder, 'x.db')}`
    expect(await run('inbox put orders --also memory:', { stdin: LINES })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('--also is the store itself: memory:'),
    })
    const noInbox = await run(`inbox put orders --also ${file}`, { stdin: LINES })
    expect(noInbox).toMatchObject({ exit: 3, stderr: expect.stringContaining(`there is no inbox orders in ${file}`) })
    // The way out names the store that is missing, not that of the command.
    expect(noInbox.stderr).toContain(`leasectl inbox create orders --store ${file}`)
    const gone = async () => {
      throw new ContainerMissing('there is no container')
    }
    const others = { [B]: Object.assign(Object.create(openMemoryStore()), { read: gone }) }
    const noContainer = await run(`inbox put orders --also ${B}`, { stdin: LINES, others })
    expect(noContainer).toMatchObject({ exit: 3, stderr: expect.stringContaining(`--store ${B} creates it`) })
    expect(await run(`inbox put others --also ${B}`, { stdin: LINES })).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('there is no inbox others in memory:'),
    })
    const unlike = await twoRegions([1, 2])
    expect(await unlike.run(`inbox put orders --also ${B}`, { stdin: LINES })).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining('has 1 partition in the first store and 2 in the second'),
    })
    expect(await recordsIn(unlike.other)).toEqual([])
  })

  test('refuses --prefer without --also, and what is no store', async () => {
    const { run } = await twoRegions()
    expect(await run('inbox put orders --prefer 5s', { stdin: LINES })).toMatchObject({ exit: 2 })
    expect(await run(`inbox put orders --also ${B} --prefer -1s`, { stdin: LINES })).toMatchObject({ exit: 2 })
    expect(await run('inbox put orders --also s3:x', { stdin: LINES })).toMatchObject({ exit: 2 })
  })

  test('does not resume a put of one region with two', async () => {
    const { run } = await twoRegions()
    const files = { a: LINES }
    const resume = join(folder, 'progress')
    await run(`inbox put orders a --resume ${resume}`, { files })
    expect(await run(`inbox put orders a --resume ${resume} --also ${B}`, { files })).toMatchObject({ exit: 2 })
  })
})
