import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_SYSTEM_DOCUMENT_BYTES, readSystemDocument } from '../../../../src/ops/read-system-document.ts'
import { parseWatchdogState, readWatchdogState, WATCHDOG_STATE } from '../../../../src/ops/watchdog-state/parse.ts'
import { livenessOf, shardCounts, type WatchdogEntry } from '../../../../src/ops/watchdog-state/state.ts'
import { NotPermitted, StoreUnreachable } from '../../../../src/store/errors.ts'
import { openMemoryStore } from '../../../../src/store/memory.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import type { ExecutedDecision } from '../../../../src/watchdog/decision.ts'
import type { FailedPass, PassReport } from '../../../../src/watchdog/report.ts'
import { newEntry, withDecision, withEntry, withPass } from '../../../../src/watchdog/state/entry.ts'
import { StateWriter } from '../../../../src/watchdog/state/writer.ts'
import { storeWith } from '../../commands/store-with.ts'
import { settled, VirtualTime } from '../../ops/shards/world.ts'
import { HOLDER, memoryStore, NOW } from '../../ops/support.ts'

const IDENTITY = {
  id: 'w1',
  host: 'aks-3',
  pid: 41,
  version: '0.1.0',
  by: 'ada@aks-3',
  intervalMs: 10_000,
  settings: { match: 'orders/**', onDue: 'abort-event', maxPerPass: 1000, maxShare: 0.2 },
}

const REPORT: PassReport = {
  kind: 'sweep',
  startedMs: NOW,
  tookMs: 120.4,
  listedMs: 80,
  streams: { inprocess: 5 },
  total: 9,
  watched: 5,
  openEvents: 12,
  overdue: 1,
  notified: 0,
  work: { failed: 2, abandoned: 1, suspended: 0, ready: [{ step: 'Pay', count: 1 }], readySinceMs: 1 },
  documents: 3,
  outcomes: { ended: 2, 'showed-life': 1 },
  endedEvents: 4,
  deferred: 0,
  breaker: { isOpen: false, wouldEnd: 4, openEvents: 12, maxShare: 0.2 },
  next: [{ stream: 'orders/1', dueMs: NOW + 5_000 }],
  unreadable: [{ stream: 'bad', message: 'what is this' }],
  skewMs: -3.2,
}

const CARRIED: ExecutedDecision = {
  decision: {
    kind: 'abort-event',
    stream: 'orders/1',
    event: '01.00',
    name: 'Search',
    limit: 'no-sign-of-life',
    dueMs: NOW - 1_000,
    message: 'no sign of life for 5m',
    commandId: 'watchdog:01.00:1:0',
    ends: 2,
  },
  outcome: 'ended',
  atMs: NOW,
}

const FAILURE: FailedPass = {
  startedMs: NOW,
  tookMs: 30_000,
  code: 'store-unreachable',
  message: 'no answer',
  sinceMs: NOW - 60_000,
  error: new Error('no answer'),
}

/** A watchdog's writer over a store, with a clock that the test moves, and the number of its writes. */
function writerOn(more: Partial<StreamStore> = {}) {
  const time = new VirtualTime()
  const inner = openMemoryStore({ clock: () => time.nowMs })
  const seen = { writes: 0, told: [] as unknown[], recovered: 0 }
  const store = storeWith(inner, {
    async update(...args) {
      seen.writes++
      return inner.update(...args)
    },
    ...more,
  })
  const timing = { monotonicMs: () => time.nowMs, pause: time.pause.bind(time) }
  const writer = new StateWriter(store, {
    ...IDENTITY,
    timing,
    failed: why => seen.told.push(why),
    recovered: () => seen.recovered++,
  })
  return { writer, store: inner, seen, pass: (ms: number) => time.advance(ms) }
}

async function only(store: StreamStore): Promise<WatchdogEntry> {
  const { watchdogs } = await readWatchdogState(store)
  const [entry] = watchdogs
  if (entry === undefined || watchdogs.length > 1) throw new Error(`${watchdogs.length} entries`)
  return entry
}

describe('the state of a watchdog', () => {
  test('is read as it was written: identity, settings, last pass, decisions, deadlines and failures', async () => {
    const { writer, store, pass } = writerOn()
    await writer.start()
    expect(await only(store)).toEqual({ ...newEntry({ ...IDENTITY, startedMs: NOW }) })
    writer.shards([1, 3], 4)
    writer.executed(CARRIED)
    await pass(10_000)
    writer.passed(REPORT)
    await settled()
    expect(await only(store)).toEqual({
      ...IDENTITY,
      startedMs: NOW,
      writtenMs: NOW + 10_000,
      stoppedMs: undefined,
      lastSweepMs: NOW + 120,
      tookMs: 120,
      lastPass: {
        kind: 'sweep',
        startedMs: NOW,
        tookMs: 120,
        total: 9,
        watched: 5,
        openEvents: 12,
        overdue: 1,
        documents: 3,
        unreadable: 1,
        endedEvents: 4,
        deferred: 0,
        outcomes: { ended: 2, 'showed-life': 1 },
        skewMs: -3,
      },
      passes: [{ startedMs: NOW, tookMs: 120, ended: 4, overdue: 1 }],
      decisions: [
        {
          stream: 'orders/1',
          kind: 'abort-event',
          event: '01.00',
          limit: 'no-sign-of-life',
          dueMs: NOW - 1_000,
          outcome: 'ended',
          atMs: NOW,
        },
      ],
      breaker: REPORT.breaker,
      next: REPORT.next,
      shards: { held: [1, 3], total: 4 },
      failure: undefined,
      lastFailure: undefined,
      totals: { passes: 1, failed: 0, ended: 4 },
    })
  })

  test('shows that it shares the work before it has a shard', async () => {
    const { store } = memoryStore()
    await new StateWriter(store, { ...IDENTITY, shardCount: 4 }).start()
    expect((await only(store)).shards).toEqual({ held: [], total: 4 })
  })

  test('shows a failure until a pass completes, and remembers it', async () => {
    const { writer, store, pass } = writerOn()
    writer.failed(FAILURE)
    await settled()
    const { startedMs, sinceMs, code, message } = FAILURE
    const told = { startedMs, sinceMs, code, message }
    expect(await only(store)).toMatchObject({ failure: told, lastFailure: told, totals: { passes: 0, failed: 1 } })
    await pass(10_000)
    writer.passed(REPORT)
    await settled()
    expect(await only(store)).toMatchObject({ failure: undefined, lastFailure: told, totals: { passes: 1, failed: 1 } })
  })

  test('does not count a scheduled inspection as a sweep', async () => {
    const { writer, store } = writerOn()
    writer.passed({ ...REPORT, kind: 'appointment' })
    await settled()
    expect(await only(store)).toMatchObject({ lastSweepMs: undefined, tookMs: 0, lastPass: { kind: 'appointment' } })
  })

  test('has limited lists, the latest first', () => {
    let entry = newEntry({ ...IDENTITY, startedMs: NOW })
    for (let at = 0; at < 30; at++) {
      entry = withDecision(withPass(entry, { ...REPORT, startedMs: NOW + at }), { ...CARRIED, atMs: NOW + at })
    }
    expect(entry.passes.map(({ startedMs }) => startedMs - NOW)).toEqual([29, 28, 27, 26, 25, 24, 23, 22, 21, 20])
    expect(entry.decisions).toHaveLength(20)
    expect(entry.decisions[0]).toMatchObject({ atMs: NOW + 29 })
    expect(entry.totals).toEqual({ passes: 30, failed: 0, ended: 120 })
  })

  test('can contain a deadline beyond any lifetime', () => {
    const entry = withPass(newEntry({ ...IDENTITY, startedMs: NOW }), {
      ...REPORT,
      next: [{ stream: 's', dueMs: 8.64e17 }],
    })
    expect(parseWatchdogState(withEntry(undefined, entry, NOW)).watchdogs[0]?.next).toEqual([
      { stream: 's', dueMs: Date.UTC(9999, 11, 31, 23, 59, 59, 999) },
    ])
  })
})

describe('the state is written', () => {
  test('after each sweep, but once in 5 s; otherwise once an interval', async () => {
    const { writer, store, seen, pass } = writerOn()
    const writesAfter = async (ms: number, kind: PassReport['kind']) => {
      const before = seen.writes
      await pass(ms)
      writer.passed({ ...REPORT, kind })
      await settled()
      return seen.writes - before
    }
    await writer.start()
    // a user who looks for it should see at once that it watches the streams
    expect(await writesAfter(100, 'sweep')).toBe(1)
    expect(await writesAfter(100, 'sweep')).toBe(0)
    expect(await writesAfter(4_800, 'sweep')).toBe(0)
    const before = seen.writes
    await pass(100)
    expect(seen.writes - before).toBe(1)
    expect((await only(store)).totals.passes).toBe(3)
    expect(await writesAfter(9_900, 'appointment')).toBe(0)
    expect(await writesAfter(100, 'appointment')).toBe(1)
    expect(await writesAfter(9_900, 'sweep')).toBe(1)
  })

  test('at once when the circuit breaker stops a pass, and when it lets one through again', async () => {
    const { writer, store } = writerOn()
    await writer.start()
    writer.passed({ ...REPORT, breaker: { ...REPORT.breaker, isOpen: true } })
    await settled()
    expect((await only(store)).breaker?.isOpen).toBe(true)
    writer.passed(REPORT)
    await settled()
    expect((await only(store)).breaker?.isOpen).toBe(false)
  })

  test('at once when the watchdog stops, and never after that', async () => {
    const { writer, store, seen, pass } = writerOn()
    writer.shards([0, 1], 2)
    await writer.start()
    await pass(1_000)
    writer.passed(REPORT)
    await writer.stop()
    const shards = { held: [], total: 2 }
    expect(await only(store)).toMatchObject({ stoppedMs: NOW + 1_000, totals: { passes: 1 }, shards })
    const { writes } = seen
    await pass(60_000)
    writer.passed(REPORT)
    await writer.stop()
    await settled()
    expect(seen.writes).toBe(writes)
  })

  test('again if it changed during a write', async () => {
    const gate = Promise.withResolvers<void>()
    let first = true
    const { store: inner } = memoryStore()
    const store = storeWith(inner, {
      async update(...args) {
        if (first) await gate.promise
        first = false
        return inner.update(...args)
      },
    })
    const writer = new StateWriter(store, IDENTITY)
    void writer.start()
    writer.passed({ ...REPORT, breaker: { ...REPORT.breaker, isOpen: true } })
    gate.resolve()
    await settled()
    expect((await only(inner)).breaker?.isOpen).toBe(true)
    await writer.stop()
  })
})

describe('a failing write', () => {
  test.each([
    ['a store that does not answer', () => Promise.reject(new StoreUnreachable('no answer'))],
    ['a missing permission', () => Promise.reject(new NotPermitted('no right'))],
    ['a lease that another holds', async () => ({ kind: 'held', lease: HOLDER, waitedMs: 0 }) as never],
    ['a lost answer', async () => ({ kind: 'unknown', cause: 'silence' }) as const],
  ])('because of %s is reported once and disturbs nothing', async (_, update) => {
    const { writer, seen, pass } = writerOn({ update })
    await writer.start()
    for (let at = 0; at < 3; at++) {
      await pass(10_000)
      writer.passed(REPORT)
      await settled()
    }
    await writer.stop()
    expect(seen.told).toHaveLength(1)
  })

  test('is reported again after a successful one', async () => {
    let away = true
    const made = writerOn({
      async update(...args) {
        if (away) throw new StoreUnreachable('no answer')
        return made.store.update(...args)
      },
    })
    for (const isAway of [true, false, true, true]) {
      away = isAway
      await made.pass(10_000)
      made.writer.passed(REPORT)
      await settled()
    }
    expect(made.seen.told).toHaveLength(2)
    expect(made.seen.recovered).toBe(1)
  })
})

describe('the state document', () => {
  const entryOf = (id: string, more: Partial<WatchdogEntry> = {}): WatchdogEntry => ({
    ...newEntry({ ...IDENTITY, id, startedMs: NOW }),
    ...more,
  })
  const written = (entries: readonly WatchdogEntry[], nowMs = NOW) =>
    entries.reduce<string | undefined>((text, entry) => withEntry(text, entry, nowMs), undefined)
  const idsIn = (text: string | undefined) => parseWatchdogState(text).watchdogs.map(({ id }) => id)

  test('has an entry for each watchdog, in the order of their starts', () => {
    const text = written([entryOf('b', { startedMs: NOW + 1 }), entryOf('a'), entryOf('b', { startedMs: NOW + 1 })])
    expect(idsIn(text)).toEqual(['a', 'b'])
  })

  test('is unchanged if an entry is written twice', () => {
    const text = written([entryOf('a'), entryOf('b')])
    expect(withEntry(text, entryOf('b'), NOW)).toBe(text)
  })

  test('forgets stopped watchdogs after a day, not before, and no running ones', () => {
    const dayMs = 24 * 3_600_000
    const text = written([
      entryOf('stopped', { stoppedMs: NOW }),
      entryOf('silent'),
      entryOf('slow', { intervalMs: dayMs }),
    ])
    expect(idsIn(withEntry(text, entryOf('new', { startedMs: NOW + 1 }), NOW + dayMs))).toEqual([
      'silent',
      'slow',
      'stopped',
      'new',
    ])
    expect(idsIn(withEntry(text, entryOf('new', { startedMs: NOW + 1 }), NOW + dayMs + 1))).toEqual(['slow', 'new'])
  })

  test('keeps of very many the running ones, and the latest of the others', () => {
    const gone = Array.from({ length: 40 }, (_, at) => entryOf(`gone${at}`, { stoppedMs: NOW, writtenMs: NOW - at }))
    const ids = idsIn(written([...gone, entryOf('live')]))
    expect(ids).toHaveLength(32)
    expect(ids).toContain('live')
    expect(ids).toContain('gone0')
    expect(ids).not.toContain('gone39')
  })

  test('forgets entries with impossible times', () => {
    const ahead = (id: string, ms: number) => entryOf(id, { writtenMs: NOW + ms })
    const text = written([ahead('year', 365 * 24 * 3_600_000), ahead('hour', 3_600_000)])
    expect(idsIn(withEntry(text, entryOf('new', { startedMs: NOW + 1 }), NOW))).toEqual(['hour', 'new'])
  })

  test('stays small, and cuts the lists of stopped watchdogs first', () => {
    const long = {
      stream: 'ä'.repeat(1_000),
      kind: 'abort-event',
      event: '01.00',
      limit: 'x',
      dueMs: NOW,
      outcome: 'ended',
    }
    const lists = {
      decisions: Array.from({ length: 14 }, () => ({ ...long, atMs: NOW })),
      next: Array.from({ length: 4 }, () => ({ stream: 'ä'.repeat(1_000), dueMs: NOW })),
    }
    const text = written([entryOf('gone', { ...lists, stoppedMs: NOW }), entryOf('live', lists)]) ?? ''
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_SYSTEM_DOCUMENT_BYTES)
    const [gone, live] = parseWatchdogState(text).watchdogs
    expect([gone?.id, gone?.decisions.length]).toEqual(['gone', 5])
    expect([live?.id, live?.decisions.length]).toEqual(['live', 14])
    const many = Array.from({ length: 32 }, (_, at) =>
      entryOf(`live${at}`, { ...lists, by: 'ä'.repeat(200), shards: { held: [...Array(1_000).keys()], total: 1_000 } }),
    )
    const crowded = written(many) ?? ''
    expect(Buffer.byteLength(crowded)).toBeLessThanOrEqual(MAX_SYSTEM_DOCUMENT_BYTES)
    expect(idsIn(crowded)).toContain('live31')
  })

  test('that is missing is not an error; one that is unreadable is damaged', async () => {
    const { store } = memoryStore()
    expect(await readWatchdogState(store)).toEqual({ watchdogs: [], damaged: false })
    for (const text of ['', '{', '[]', '"x"', 'null', '{"watchdogs":{}}', '['.repeat(60_000)]) {
      expect(parseWatchdogState(text)).toEqual({ watchdogs: [], damaged: true })
    }
  })

  test('is read as far as possible, and repaired by the next write', () => {
    const bad = [
      null,
      7,
      {},
      { id: 'x' },
      { ...entryOf('x'), startedMs: 'soon' },
      { ...entryOf('x'), writtenMs: 1e300 },
    ]
    const text = JSON.stringify({ apiVersion: 'leasectl/v9', watchdogs: [...bad, entryOf('a')] })
    expect(parseWatchdogState(text)).toEqual({ watchdogs: [entryOf('a')], damaged: true })
    expect(parseWatchdogState(withEntry(text, entryOf('b'), NOW))).toMatchObject({ damaged: false })
    expect(idsIn(withEntry('garbage', entryOf('b'), NOW))).toEqual(['b'])
  })

  test('has no invalid shards', () => {
    const shardsIn = (shards: unknown) =>
      parseWatchdogState(JSON.stringify({ watchdogs: [{ ...entryOf('a'), shards }] })).watchdogs[0]?.shards
    expect(shardsIn({ held: [2, 0, 2, 4, -1, 'x'], total: 4 })).toEqual({ held: [0, 2], total: 4 })
    for (const total of [0, 1.2e9, -1, '4']) expect(shardsIn({ held: [0], total })).toBeUndefined()
  })

  test('may contain anything: reading never throws, and the result can be written again', () => {
    const names = Object.keys(entryOf('a'))
    const anything = fc.oneof(fc.jsonValue(), fc.constantFrom(-1, 1e300, NOW, 0.5, '\ud800', '__proto__'))
    const anEntry = fc
      .tuple(fc.dictionary(fc.constantFrom(...names), anything), fc.boolean())
      .map(([fields, based]) => ({ ...(based ? entryOf('a') : {}), ...fields }))
    fc.assert(
      fc.property(fc.array(fc.oneof(anEntry, anything), { maxLength: 4 }), given => {
        const { watchdogs } = parseWatchdogState(JSON.stringify({ watchdogs: given }))
        for (const entry of watchdogs) {
          const again = parseWatchdogState(withEntry(undefined, entry, NOW))
          expect(again).toEqual({ watchdogs: [entry], damaged: false })
          for (const ms of [entry.startedMs, entry.writtenMs, ...entry.next.map(({ dueMs }) => dueMs)]) {
            expect(new Date(ms).toISOString()).toMatch(/^\d{4}-/)
          }
        }
      }),
    )
  })

  test('has the entries of several watchdogs that write at once', async () => {
    const { store } = memoryStore()
    const writers = ['a', 'b', 'c'].map(id => new StateWriter(store, { ...IDENTITY, id }))
    await Promise.all(writers.map(writer => writer.start()))
    expect((await readWatchdogState(store)).watchdogs.map(({ id }) => id).sort()).toEqual(['a', 'b', 'c'])
    expect(await readSystemDocument(store, WATCHDOG_STATE)).toMatch(/^\{"apiVersion":"leasectl\/v1"/)
  })
})

describe('a watchdog is', () => {
  const entry = { stoppedMs: undefined, writtenMs: NOW, intervalMs: 10_000, tookMs: 0 }

  test.each([
    ['live', 40_000, {}],
    ['late', 40_001, {}],
    ['late', 160_000, {}],
    ['silent', 160_001, {}],
    ['live', -60_000, {}],
    ['silent', -60_001, {}],
    ['live', 190_000, { tookMs: 60_000 }],
    ['stopped', 0, { stoppedMs: NOW }],
  ] as const)('%s after %i ms', (liveness, ms, more) => {
    expect(livenessOf({ ...entry, ...more }, NOW + ms)).toBe(liveness)
  })

  test('in conflict about the number of shards only with running ones', () => {
    const base = newEntry({ ...IDENTITY, startedMs: NOW })
    const sharing = (total: number | undefined, more: Partial<WatchdogEntry> = {}) => ({
      ...base,
      shards: total === undefined ? undefined : { held: [], total },
      ...more,
    })
    expect(shardCounts({ watchdogs: [sharing(4), sharing(4)] }, NOW)).toEqual([4])
    expect(shardCounts({ watchdogs: [sharing(4), sharing(8), sharing(undefined)] }, NOW)).toEqual([0, 4, 8])
    expect(shardCounts({ watchdogs: [sharing(4), sharing(8, { stoppedMs: NOW })] }, NOW)).toEqual([4])
  })
})
