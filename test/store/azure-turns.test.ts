import { beforeEach, describe, expect, it } from 'vitest'
import { AzureTurns } from '../../src/store/azure-turns.ts'
import type { ChangeOptions, EventStore, Stored, WriteMode } from '../../src/store/store.ts'
import { changeOptions, given, leased, put, text } from '../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../support/azurite.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'

let nowMs = 0
let turns: AzureTurns

beforeEach(() => {
  nowMs = 1_000_000
  turns = new AzureTurns(
    () => nowMs,
    () => 0.5,
  )
})

/** One change that takes so long, `pauseMs` after the one before; how long it stood back. */
function change(pauseMs = 10, name = 's', tookMs = 10): number {
  nowMs += pauseMs
  const backMs = turns.begin(name, false)
  nowMs += tookMs
  turns.ended(name, `etag ${nowMs}`)
  return backMs
}

function takeTurn(name = 's'): void {
  for (let at = 0; at < 4; at += 1) change(10, name)
}

describe('standing back', () => {
  it('costs nothing where nobody else was met, however many changes there are', () => {
    expect(Array.from({ length: 100 }, () => change())).toEqual(Array.from({ length: 100 }, () => 0))
    expect(turns.isContended('s')).toBe(false)
  })

  it('is for as long as the first sleep of a waiter where there was no wait, after a few changes in a row', () => {
    turns.met('s')
    const backs = Array.from({ length: 10 }, () => change())
    expect(backs).toEqual([0, 0, 0, 0, 22.5, 0, 0, 0, 22.5, 0])
  })

  it('is for as long as the wait for the turn, without what it stood back before', () => {
    turns.met('s')
    expect(change(10, 's', 120)).toBe(0)
    for (let at = 0; at < 3; at += 1) expect(change()).toBe(0)
    expect(turns.begin('s', true)).toBe(120)
    nowMs += 120 + 70
    turns.ended('s', 'etag')
    for (let at = 0; at < 3; at += 1) expect(change()).toBe(0)
    expect(turns.begin('s', true)).toBe(70)
  })

  it('counts from when the lease was given back, where that was only now', () => {
    turns.met('s')
    takeTurn()
    nowMs += 20
    expect(turns.begin('s', false)).toBe(12.5)
    expect(turns.begin('s', true)).toBe(32.5)
    nowMs += 20
    expect(turns.begin('s', false)).toBe(0)
  })

  it('ends two seconds after the last sign of others', () => {
    turns.met('s')
    nowMs += 1_910
    takeTurn()
    expect(turns.begin('s', true)).toBe(32.5)
    nowMs += 10
    expect(turns.begin('s', true)).toBe(0)
  })

  it('is for the stream alone on which others were met', () => {
    turns.met('s')
    takeTurn('other')
    expect(turns.begin('other', true)).toBe(0)
  })

  it('is not for who leaves time between its changes', () => {
    turns.met('s')
    expect(Array.from({ length: 10 }, () => change(50))).toEqual(Array.from({ length: 10 }, () => 0))
  })
})

describe('a turn', () => {
  it('is in its middle after a change, and over after a few, or with the time that goes by', () => {
    const middles = Array.from({ length: 5 }, () => {
      change()
      return turns.isOurs('s')
    })
    expect(middles).toEqual([true, true, true, false, true])
    nowMs += 50
    turns.begin('s', false)
    expect(turns.isOurs('s')).toBe(false)
  })
})

describe('a sign of others', () => {
  it('is a state that another wrote since the own write of a moment ago', () => {
    turns.ended('s', 'mine')
    turns.saw('s', 'mine')
    expect(turns.isContended('s')).toBe(false)
    turns.saw('s', 'theirs')
    expect(turns.isContended('s')).toBe(true)
  })

  it('is not what was written in a long time, or to a stream never written here', () => {
    turns.ended('s', 'mine')
    nowMs += 2_000
    turns.saw('s', 'theirs')
    turns.saw('new', 'theirs')
    expect([turns.isContended('s'), turns.isContended('new')]).toEqual([false, false])
  })

  it('is forgotten of the streams used least when there are many', () => {
    for (let at = 0; at <= 1_000; at += 1) turns.met(`s${at}`)
    expect([turns.isContended('s0'), turns.isContended('s1'), turns.isContended('s1000')]).toEqual([false, true, true])
  })
})

describe.each<WriteMode>(['lease', 'optimistic'])('a change, write: %s,', write => {
  it('stands back after its turn where another held the lease a moment ago, before it sends anything', async () => {
    const { port } = await sharedAzurite()
    const proxy = await startFaultProxy({ target: { port } })
    const direct = await openAzuriteStore(port)
    // A moment ago, however slow the machine is.
    const now = Date.now()
    const machine = { wallMs: () => now, monotonicMs: () => 0 }
    const store = await openAzuriteStore(proxy.port, { container: direct.container, random: () => 0.999, machine })
    const changed = (options: Partial<ChangeOptions> = {}) =>
      store.changeUnderLease('s', appended, changeOptions({ write, ...options }))
    await given(direct, 's', '')
    const leaseId = await leased(direct, 's')
    expect(await changed({ waitMs: 0 })).toMatchObject({ kind: 'held' })
    await direct.release('s', leaseId)
    await haveTurn(store, write)
    proxy.reset()
    const stop = new AbortController()
    const changing = changed({ signal: stop.signal })
    setTimeout(() => stop.abort(new Error('stop')), 10)
    await expect(changing).rejects.toThrow('stop')
    expect(text((await direct.read('s'))?.body)).toBe('....')
    const sent = proxy.requests.filter(({ operation }) => operation !== 'release')
    await Promise.all([store.close(), direct.close()])
    await proxy.stop()
    expect(sent).toEqual([])
  })
})

const appended = (current: Stored) => put(`${text(current.body)}.`)()

async function haveTurn(store: EventStore, write: WriteMode): Promise<void> {
  for (let at = 0; at < 4; at += 1) await store.changeUnderLease('s', appended, changeOptions({ write }))
}
