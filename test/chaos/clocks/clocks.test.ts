import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openMemoryStore } from '../../../src/store/memory.ts'
import { openSqliteStore } from '../../../src/store/sqlite.ts'
import type { Stored } from '../../../src/store/store.ts'
import { intercept } from '../../ops/support.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { trustRow } from '../../trust/record.ts'
import { repeatWith, sized } from '../../trust/size.ts'
import { LIES, lyingClock } from './lies.ts'
import { letWrite, type Verdict } from './writers.ts'

/** Writers of one stream whose machines show different times. */

const FILE = 'test/chaos/clocks/clocks.test.ts'
const TURNS = sized(2, 60)
const TIMEOUT_MS = sized(120_000, 1_800_000)
const trust = trustRow('clocks')

describe('writers on machines whose clocks lie', () => {
  test('on Azurite lose nothing, take nothing early, and write true times in order', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { port } = await sharedAzurite()
    const container = `t${randomUUID()}`
    const opened = LIES.map(lie => openAzuriteStore(port, { container, machine: lyingClock(lie) }))
    const stores = await Promise.all(opened)
    onTestFinished(async () => void (await Promise.all(stores.map(store => store.close()))))
    await stores[0]?.createContainer()
    const verdict = await letWrite(stores, TURNS, true)
    expectKept(verdict)
    trust.figure('clocks', `${LIES.length} on Azurite`, LIES.map(({ name }) => name).join(', '))
    trust.figure('lost', verdict.lost.length, `0 of ${verdict.changes} changes on Azurite`)
    trust.figure('early expiries', verdict.early.length, 'claims taken on Azurite: 0')
    trust.injected('clocks that lie, on Azurite', LIES.length - 1)
  })

  test('on SQLite lose nothing, and write times in order', { timeout: TIMEOUT_MS }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'leasectl-clocks-'))
    const stores = LIES.map(lie => openSqliteStore(join(folder, 'a.db'), { clock: lyingClock(lie).wallMs }))
    onTestFinished(async () => {
      await Promise.all(stores.map(store => store.close()))
      rmSync(folder, { recursive: true })
    })
    // Processes of one machine have one clock: that a claim looks over by another's is not to be had there.
    const verdict = await letWrite(stores, TURNS, false)
    expectKept({ ...verdict, early: [] })
    trust.figure('clocks', `${LIES.length} on SQLite`)
    trust.figure('lost', verdict.lost.length, `0 of ${verdict.changes} changes on SQLite`)
    trust.injected('clocks that lie, on SQLite', LIES.length - 1)
    trust.skipped('early ends on SQLite by clocks that differ', 'all its processes are on one machine, with one clock')
  })
})

describe('it shows', () => {
  test('that claims are taken early where each believes its own machine', async () => {
    const memory = openMemoryStore()
    const stores = LIES.map(lie => {
      const { wallMs } = lyingClock(lie)
      return intercept(memory, (_, decide, go) => go(current => decide(current, wallMs())))
    })
    const { early, untimely } = await letWrite(stores, 1, true)
    expect(early.length).toBeGreaterThan(0)
    expect(untimely.join('\n')).toMatch(/is of no true clock/)
    trust.control('each believes the clock of its own machine', early.length > 0 && untimely.length > 0)
  })

  test('that times go back where the time of the last write does not count', async () => {
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

function expectKept(verdict: Verdict): void {
  const kept = { lost: [], early: [], untimely: [] }
  const { changes, ...broken } = verdict
  expect(broken, repeatWith(FILE, 1)).toEqual(kept)
  expect(changes).toBeGreaterThan(LIES.length)
}

/** As if nobody had written when, under an ETag that no cache knows. */
function forgetful(current: Stored): Stored {
  const text = Buffer.from(current.body)
    .toString()
    .replace(/ lc:at="[^"]*"/, '')
  return { ...current, body: Buffer.from(text), etag: `${current.etag}-` }
}
