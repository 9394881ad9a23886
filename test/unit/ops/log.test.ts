import { describe, expect, test } from 'vitest'
import { globOf } from '../../../src/ops/glob.ts'
import { type LogOptions, type LogQuery, readLogs, type StreamLog } from '../../../src/ops/log.ts'
import type { Selection } from '../../../src/ops/selection.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { init, memoryStore, NOW, run, writeForeign } from './support.ts'

const ALL: Selection = { kind: 'filter', filter: {} }

async function logs(store: StreamStore, selection = ALL, query: LogQuery = {}, options: LogOptions = {}) {
  return Array.fromAsync(readLogs(store, selection, query, options))
}

function told(found: readonly StreamLog[]): string[] {
  return found.flatMap(log => {
    if (log.kind !== 'read') return [`${log.stream} ${log.kind}`]
    return log.entries.map(({ stream, tx, eventName }) => `${stream} ${tx.version} ${tx.op} ${eventName}`.trimEnd())
  })
}

/** Three streams, a minute between any two transactions. */
async function three() {
  const { store, advance } = memoryStore()
  const minute = () => advance(60_000)
  await run(store, 'a', init(['A']), { by: 'alice' })
  minute()
  await run(store, 'b', init(['A', 'B']), { by: 'bob' })
  minute()
  await run(store, 'a', { op: 'complete', event: '01.00' }, { by: 'w1@host-1' })
  minute()
  await run(store, 'c', init(), { by: 'alice' })
  minute()
  await run(store, 'b', { op: 'cancel' }, { by: 'bob' })
  return { store, advance }
}

/** Counts reads. */
function counting(store: StreamStore) {
  const read: string[] = []
  const counted: StreamStore = new Proxy(store, {
    get(target, key) {
      if (key === 'read') {
        return (name: string) => {
          read.push(name)
          return target.read(name)
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { store: counted, read }
}

test('entries are listed stream by stream, oldest first, with the name of the target', async () => {
  const { store } = await three()
  expect(told(await logs(store))).toEqual([
    'a 1 init Start',
    'a 2 complete A',
    'b 1 init Start',
    'b 2 cancel Start',
    'c 1 init Start',
  ])
})

describe('the requested entries', () => {
  const asked = async (query: LogQuery) => told(await logs((await three()).store, ALL, query))

  test('have times from since to until, both included', async () => {
    expect(await asked({ sinceMs: NOW + 60_000, untilMs: NOW + 180_000 })).toEqual([
      'a 2 complete A',
      'b 1 init Start',
      'c 1 init Start',
    ])
  })

  test('have an author, by name or pattern', async () => {
    expect(await asked({ by: globOf('alice') })).toEqual(['a 1 init Start', 'c 1 init Start'])
    expect(await asked({ by: globOf('w*@host-1') })).toEqual(['a 2 complete A'])
  })

  test('have one of the given operations', async () => {
    expect(await asked({ ops: ['cancel', 'complete'] })).toEqual(['a 2 complete A', 'b 2 cancel Start'])
  })
})

test('are of the given streams in their order, each once; a missing stream is reported', async () => {
  const { store } = await three()
  const found = await logs(store, { kind: 'names', names: ['c', 'nix', 'a', 'c'] })
  expect(told(found)).toEqual(['c 1 init Start', 'nix missing', 'a 1 init Start', 'a 2 complete A'])
})

test('include those of other streams if one stream is unreadable', async () => {
  const { store } = await three()
  await writeForeign(store, 'b', '<Event ', '<Event')
  expect(told(await logs(store, { kind: 'list', names: ['a', 'b', 'c'] }))).toContain('b unreadable')
  expect(told(await logs(store))).toEqual(['a 1 init Start', 'a 2 complete A', 'b unreadable', 'c 1 init Start'])
})

test('omit a stream that vanishes between listing and reading, which is reported as missing', async () => {
  const { store } = await three()
  const vanishing: StreamStore = new Proxy(store, {
    get(target, key) {
      if (key === 'read') return async (name: string) => (name === 'b' ? undefined : target.read(name))
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  expect(told(await logs(vanishing))).toContain('b missing')
})

test('streams last written before the floor are not read', async () => {
  const { store: bare } = await three()
  const { store, read } = counting(bare)
  await logs(store, ALL, {}, { floorMs: () => NOW + 3.5 * 60_000 + 60_000 })
  expect(read).toEqual(['b'])
})

test('a stream written slightly before the floor is read, because clocks differ', async () => {
  const { store: bare } = await three()
  const { store, read } = counting(bare)
  await logs(store, ALL, {}, { floorMs: () => NOW + 4 * 60_000 + 1_000 })
  expect(read).toContain('b')
})

test('streams that the summary excludes are not read; without a summary the document decides, read once', async () => {
  const { store: bare } = await three()
  const selection: Selection = { kind: 'filter', filter: { status: ['canceled'] } }
  const { store, read } = counting(bare)
  expect(told(await logs(store, selection))).toEqual(['b 1 init Start', 'b 2 cancel Start'])
  expect(read).toEqual(['b'])

  const bald: StreamStore = new Proxy(store, {
    get(target, key) {
      if (key === 'list') {
        return async function* (query: object) {
          for await (const page of target.list(query)) yield page.map(({ summary: _, ...row }) => row)
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  read.length = 0
  expect(told(await logs(bald, selection))).toEqual(['b 1 init Start', 'b 2 cancel Start'])
  expect(read).toEqual(['a', 'b', 'c'])
})

test('an unrecorded foreign write is listed, at the time of the last write', async () => {
  const { store, advance } = await three()
  advance(60_000)
  await writeForeign(store, 'c', 'status="inprocess"', 'status="aborted"')
  const found = await logs(store, ALL, { ops: ['foreign'] })
  const [entry] = found.flatMap(log => (log.kind === 'read' ? log.entries : []))
  expect(entry).toMatchObject({ stream: 'c', atMs: NOW + 5 * 60_000, tx: { provisional: true } })
})

test('an entry without a readable time has the time of the one before it, and is kept', async () => {
  const { store } = await three()
  await writeForeign(
    store,
    'a',
    `at="${new Date(NOW + 120_000).toISOString()}" by="w1@host-1"`,
    'at="then" by="w1@host-1"',
  )
  const found = await logs(store, { kind: 'names', names: ['a'] }, { untilMs: NOW })
  expect(told(found)).toEqual(['a 1 init Start', 'a 2 complete A'])
})
