import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import type { StreamSnapshot, StreamStore } from '../../../src/store/store.ts'
import type { Clock } from '../../../src/util/clock.ts'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, sized } from '../../guarantees/size.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { intercept } from '../../unit/ops/support.ts'
import { PATIENT } from '../../unit/store/azure/support.ts'
import type { Verdict } from './judgement.ts'
import { LIES, type LyingClock, liesSetEvery, lyingClock, SMALL_LIES } from './lies.ts'
import { letClaim, type ShortVerdict } from './short-claims.ts'
import { startDatedService, VirtualTime } from './virtual-time.ts'
import { letWrite } from './writers.ts'

/** Writers of one stream whose machines show different times. */

const FILE = 'test/faults/clocks/clocks.test.ts'
const TURNS = sized(1, 60)
/** Of claims of seconds, each at another fraction of a second. */
const ROUNDS = sized(1, 10)
const BETWEEN_MS = 37
const FROM_MS = Date.UTC(2026, 10, 22, 12, 0, 0, 737)
const TIMEOUT_MS = sized(300_000, 1_800_000)
const trust = trustRow('clocks')

describe('writers on machines with wrong clocks', () => {
  test('on Azurite lose nothing, take nothing early, and write true times in order', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { port } = await sharedAzurite()
    const container = `t${randomUUID()}`
    const clocks = LIES.map(lie => lyingClock(lie))
    const opened = clocks.map(machine => openAzuriteStore(port, { container, machine, ...PATIENT }))
    const stores = await Promise.all(opened)
    onTestFinished(async () => void (await Promise.all(stores.map(store => store.close()))))
    await stores[0]?.createContainer()
    const verdict = await letWrite(stores, TURNS, true)
    expectKept(verdict)
    trust.figure('clocks', `${LIES.length} on Azurite`, LIES.map(({ name }) => name).join(', '))
    trust.figure('lost', verdict.lost.length, `0 of ${verdict.changes} changes on Azurite`)
    trust.figure('early expiries', verdict.early.length, 'claims taken on Azurite: 0')
    trust.injected('clocks that lie, on Azurite', LIES.length - 1)
    tellSet(clocks, 'on Azurite')
  })

  test('on SQLite lose nothing, and write times in order', { timeout: TIMEOUT_MS }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'leasectl-clocks-'))
    const clocks = liesSetEvery(2).map(lie => lyingClock(lie))
    const stores = clocks.map(({ wallMs }) => openSqliteStore(join(folder, 'a.db'), { clock: wallMs }))
    onTestFinished(async () => {
      await Promise.all(stores.map(store => store.close()))
      rmSync(folder, { recursive: true })
    })
    // Processes of one machine have one clock: a claim cannot look expired by another's clock.
    const verdict = await letWrite(stores, TURNS, false)
    expectKept({ ...verdict, early: [] })
    trust.figure('clocks', `${LIES.length} on SQLite`)
    trust.figure('lost', verdict.lost.length, `0 of ${verdict.changes} changes on SQLite`)
    trust.injected('clocks that lie, on SQLite', LIES.length - 1)
    tellSet(clocks, 'on SQLite')
    trust.skipped('early ends on SQLite by clocks that differ', 'all its processes are on one machine, with one clock')
  })
})

describe('clocks off by a second, and clocks half or twice as fast,', () => {
  test('neither end claims of seconds early nor extend them, on Azurite', { timeout: TIMEOUT_MS }, async () => {
    const { port } = await sharedAzurite()
    for (let round = 0; round < ROUNDS; round++) {
      const verdict = await claimed(port, new VirtualTime(FROM_MS + round * BETWEEN_MS))
      expectShort(verdict)
      trust.figure('lost', verdict.lost.length, `0 of ${verdict.changes} changes, claims of seconds`)
      trust.figure('early expiries', verdict.early.length, `0 in ${verdict.tries} tries, claims of seconds`)
      trust.injected('tries just before a claim of seconds ends', verdict.tries)
    }
    trust.figure('clocks', `${SMALL_LIES.length} with claims of seconds`, SMALL_LIES.map(({ name }) => name).join(', '))
  })

  test('end each of them early, if each machine trusts its own clock', async () => {
    const time = new VirtualTime(FROM_MS)
    const memory = openMemoryStore({ clock: time.wallMs })
    const machines = SMALL_LIES.map(lie => ({ lie, store: believing(memory, lyingClock(lie, time)) }))
    const { early, untimely } = await letClaim(time, memory, machines)
    for (const { name } of SMALL_LIES) expect(early.join('\n')).toContain(name)
    expect(untimely.join('\n')).toMatch(/is of no true clock/)
    trust.control(
      'claims of seconds, and each believes the clock of its own machine',
      early.length >= SMALL_LIES.length,
    )
  })
})

describe('the test detects', () => {
  test('that claims are taken early if each machine trusts its own clock', async () => {
    const memory = openMemoryStore()
    const stores = LIES.map(lie => believing(memory, lyingClock(lie)))
    const { early, untimely } = await letWrite(stores, 1, true)
    expect(early.length).toBeGreaterThan(0)
    expect(untimely.join('\n')).toMatch(/is of no true clock/)
    trust.control('each believes the clock of its own machine', early.length > 0 && untimely.length > 0)
  })

  test('that times go back if the time of the last write is ignored', async () => {
    const memory = openMemoryStore()
    const stores = LIES.map(lie => {
      const { wallMs } = lyingClock(lie)
      return intercept(memory, (_, decide, go) => go(current => decide(forgetful(current), wallMs())))
    })
    const { untimely } = await letWrite(stores, 1, false)
    expect(untimely.join('\n')).toMatch(/^after \S+ came/m)
    trust.control('the time of the last write does not count', untimely.length > 0)
  })
})

/** Claims of seconds on machines with wrong clocks, at a service with our clock. */
async function claimed(port: number, time: VirtualTime): Promise<ShortVerdict> {
  const service = await startDatedService({ port }, time)
  const container = `t${randomUUID()}`
  const open = (machine: Clock) => openAzuriteStore(service.port, { container, machine, ...PATIENT })
  const truth = await open(time)
  const machines = await Promise.all(SMALL_LIES.map(async lie => ({ lie, store: await open(lyingClock(lie, time)) })))
  try {
    await truth.createContainer()
    return await letClaim(time, truth, machines)
  } finally {
    await Promise.all([truth, ...machines.map(({ store }) => store)].map(store => store.close()))
    await service.stop()
  }
}

/** A store that decides by the clock of a machine. */
function believing(store: StreamStore, { wallMs }: Clock): StreamStore {
  return intercept(store, (_, decide, go) => go(current => decide(current, wallMs())))
}

function expectShort({ late, tries, ...verdict }: ShortVerdict): void {
  expectKept(verdict)
  expect(late, repeatWith(FILE, 1)).toEqual([])
  expect(tries).toBe(2 * SMALL_LIES.length)
}

function tellSet(clocks: readonly LyingClock[], where: string): void {
  const times = clocks.reduce((sum, clock) => sum + clock.timesSet(), 0)
  expect(times).toBeGreaterThan(0)
  trust.injected(`times a clock was set ${where}`, times)
}

function expectKept(verdict: Verdict): void {
  const kept = { lost: [], early: [], untimely: [] }
  const { changes, ...broken } = verdict
  expect(broken, repeatWith(FILE, 1)).toEqual(kept)
  expect(changes).toBeGreaterThan(LIES.length)
}

/** As if the time of the last write were unknown, with an ETag that no cache has. */
function forgetful(current: StreamSnapshot): StreamSnapshot {
  const text = Buffer.from(current.body)
    .toString()
    .replace(/ lc:at="[^"]*"/, '')
  return { ...current, body: Buffer.from(text), etag: `${current.etag}-` }
}
