import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { hookFormat } from '../../../../src/commands/watchdog/hooks.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamRow, StreamStore } from '../../../../src/store/store.ts'
import type { HookPace } from '../../../../src/watchdog/hooks/lag.ts'
import type { CommandTarget } from '../../../../src/watchdog/hooks/target.ts'
import { listing, storeWith } from '../../commands/store-with.ts'
import { HOLDER, init, NOW, run, writeForeign } from '../../ops/support.ts'
import { receiver, until } from './support.ts'
import { type HookWorld, hookWorld, plainMemory, webhook } from './world.ts'

let world: HookWorld
afterEach(() => world.close())

const LONG_AGO_MS = 600_000
const INIT = { op: 'init', root: { name: 'Start' }, forks: [], hold: false, born: 'b0' } as const

/** A store that existed long before any watchdog. */
async function old(...answer: Parameters<typeof receiver>): Promise<HookWorld> {
  world = await hookWorld(...answer)
  await run(world.store, 's', init(['A', 'B']))
  await run(world.store, 's', { op: 'fail', event: '01.00' })
  await run(world.store, 'over', init())
  await run(world.store, 'over', { op: 'abort' })
  world.advance(LONG_AGO_MS)
  return world
}

describe('hooks receive', () => {
  test('all changes from the first start on, by any writer', async () => {
    const { store, advance, start, told } = await old()
    const { sweep } = start()
    await sweep()
    expect(told()).toEqual([])
    advance(10_000)
    await run(store, 's', { op: 'fail', event: '02.00' }, { by: 'worker' })
    await run(store, 'new', init())
    await run(store, 'new', { op: 'cancel' }, { by: 'operator' })
    await sweep()
    expect(told()).toEqual(['done new cancel v2', 'done s fail v3', 'failed s fail v3'])
  })

  test("the watchdog's own decisions, at once and once", async () => {
    const { store, advance, start, told } = await old()
    await run(store, 't', { op: 'init', root: { name: 'R', timeout: '00:01:00' }, forks: [], hold: false, born: 'b' })
    const { sweep } = start()
    await sweep()
    advance(60_000)
    expect((await sweep()).endedEvents).toBe(1)
    const all = ['done t abort v2', 'expired t abort v2', 'failed t abort v2']
    expect(told()).toEqual(all)
    advance(10_000)
    await sweep()
    expect(told()).toEqual(all)
  })

  test('notifications of events without a change', async () => {
    const { store, advance, start, told } = await old()
    const root = { name: 'R', timeout: '00:01:00', onDue: 'notify' } as const
    await run(store, 't', { op: 'init', root, forks: [], hold: false, born: 'b' })
    const { sweep } = start()
    await sweep()
    advance(60_000)
    await sweep()
    advance(10_000)
    await sweep()
    expect(told()).toEqual(['expired t 00 due'])
  })

  test('the end of a stream that undid what it did, or could not, each by its own hook', async () => {
    const { store, advance, start, told } = await old()
    const steps = [
      { name: 'A', undo: 'UndoA', thread: 0, needs: [] },
      { name: 'B', thread: 0, needs: [0] },
    ]
    for (const name of ['undone', 'stuck']) {
      await run(store, name, { ...INIT, steps, onFailure: 'compensate' })
      await run(store, name, { op: 'complete', event: '01.00' })
    }
    const { sweep } = start({ kinds: ['compensated', 'compensation-failed'] })
    await sweep()
    advance(10_000)
    for (const name of ['undone', 'stuck']) await run(store, name, { op: 'fail', event: '01.01' })
    await sweep()
    expect(told()).toEqual([])
    advance(10_000)
    await run(store, 'undone', { op: 'complete', event: '02.01.00' })
    await run(store, 'stuck', { op: 'fail', event: '02.01.00' })
    await sweep()
    const first = ['compensated undone complete v4', 'compensation-failed stuck fail v4']
    expect(told()).toEqual(first)
    advance(10_000)
    await run(store, 'stuck', { op: 'retry' })
    await run(store, 'stuck', { op: 'complete', event: '02.01.00' })
    await sweep()
    expect(told()).toEqual(['compensated stuck complete v6', ...first])
  })

  test('ends that were reverted by a retry between two sweeps', async () => {
    const { store, advance, start, told } = await old()
    const { sweep } = start()
    await sweep()
    advance(10_000)
    await run(store, 's', { op: 'fail', event: '02.00' })
    await run(store, 's', { op: 'retry', event: '02.00' })
    await sweep()
    expect(told()).toEqual(['done s fail v3', 'failed s fail v3'])
  })

  test('changes stamped by a clock that was wrong for a while', async () => {
    const { store, advance, start, told } = await old()
    const { sweep } = start({ kinds: ['failed'] })
    await sweep()
    advance(-7_200_000)
    await run(store, 's', { op: 'abort' })
    advance(7_210_000)
    await sweep()
    expect(told()).toEqual(['failed s abort v3'])
  })

  test('changes of a stream that was removed and created again, in as many steps', async () => {
    const { store, advance, start, told } = await old()
    const { sweep } = start()
    await sweep()
    for (let night = 0; night < 2; night += 1) {
      advance(24 * 3_600_000)
      await store.remove('over', {})
      await run(store, 'over', init([], `b${night + 1}`))
      await run(store, 'over', { op: 'abort' })
      await sweep()
    }
    expect(told()).toEqual([...two('done over abort v2'), ...two('failed over abort v2')])
  })

  test('changes of writers without a journal, once, and not old ones', async () => {
    const { store, advance, start, told } = await old()
    const [at, later] = ['11/20/2026 12:00:00 PM', '11/20/2026 2:00:05 PM']
    const lines = (...of: [id: string, status: string, timestamp: string][]) =>
      of.map(([id, status, time]) => `<Event name="W" status="${status}" id="${id}" timestamp="${time}" prev="00"/>`)
    const write = (...of: Parameters<typeof lines>) =>
      overwrite(store, `<EventStream>${ROOT}${lines(...of).join('')}</EventStream>`)
    await run(store, 'legacy', init())
    await write(['01.00', 'aborted', at], ['02.00', 'inprocess', at], ['03.00', 'init', at])
    advance(2 * 3_600_000 - LONG_AGO_MS)
    const { sweep } = start({ kinds: ['failed'], store: unsummarized(store) })
    await sweep()
    advance(5_000)
    await write(['01.00', 'aborted', at], ['02.00', 'inprocess', later], ['03.00', 'init', at])
    await sweep()
    expect(told()).toEqual([])
    await write(['01.00', 'aborted', at], ['02.00', 'aborted', later], ['03.00', 'init', at])
    await sweep()
    await run(store, 'legacy', { op: 'settle' })
    await sweep()
    await run(store, 'legacy', { op: 'set', event: '03.00', attributes: { tag: 'x' } })
    await sweep()
    expect(told()).toEqual(['failed legacy adopt vnull'])
  })

  test('nothing for a mere heartbeat, for which no document is read', async () => {
    const { store, advance, start, told } = await old()
    await run(store, 's', { op: 'start', event: '02.00', owner: 'w', claimMs: 3_600_000 })
    advance(LONG_AGO_MS)
    const reads = counting(store)
    const { sweep } = start({ store: reads.store })
    await sweep()
    advance(10_000)
    await run(store, 's', { op: 'touch', event: '02.00', owner: 'w', claimMs: 3_600_000 })
    const before = reads.count()
    await sweep()
    expect([told(), reads.count()]).toEqual([[], before])
  })

  test('changes of their kind, and two hooks of the same kind receive both', async () => {
    const { store, advance, start, host, told } = await old()
    const second = await receiver()
    const { sweep } = start({ hooks: { failed: [webhook(host), webhook(second)] } })
    await sweep()
    advance(10_000)
    await run(store, 's', { op: 'abort' })
    await sweep()
    expect(told()).toEqual(['failed s abort v3'])
    expect(second.received.map(({ body }) => body)).toEqual(host.received.map(({ body }) => body))
    await second.close()
  })

  test('events with the same words as in other outputs', async () => {
    const { store, advance, start, host } = await old()
    const { sweep } = start({ kinds: ['failed'] })
    await sweep()
    advance(10_000)
    await run(store, 's', { op: 'abort', msg: 'no \u0085' }, { by: 'op', why: 'no \u0085', commandId: 'c' })
    await sweep()
    const [{ body } = { body: '' }] = host.received
    expect(body).toMatch(/^\{"apiVersion":"leasectl\/v1","hook":"failed",.*\}\n$/)
    expect(body).not.toContain('\u0085')
    expect(JSON.parse(body)).toMatchObject({
      store: 'memory:',
      stream: 's',
      status: 'aborted',
      outcome: 'errors',
      transaction: {
        version: 3,
        by: 'op',
        op: 'abort',
        on: '00',
        commandId: 'c',
        why: 'no \u0085',
        provisional: false,
      },
      due: null,
    })
  })
})

describe('at-least-once delivery', () => {
  test('a change that was committed but not delivered when a watchdog died is delivered by the next one, with the same id', async () => {
    const { store, advance, start, host, told } = await old((response, _, count) => {
      if (count > 2) response.writeHead(204).end()
    })
    const first = start()
    await first.sweep()
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    await first.pass()
    await host.came(2)
    // it dies here: no request was answered, nothing is drained
    advance(LONG_AGO_MS)
    await start().sweep()
    expect(told()).toEqual([...two('done s abort v3'), ...two('failed s abort v3')])
    expect(new Set(host.received.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  })

  test('changes without a running watchdog are delivered', async () => {
    const { store, advance, start, told } = await old()
    await start().sweep()
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    advance(LONG_AGO_MS)
    await start().sweep()
    expect(told()).toEqual(['done s abort v3', 'failed s abort v3'])
  })

  test('a delivery long before a restart is not repeated', async () => {
    const { store, advance, start, told } = await old()
    const first = start()
    await first.sweep()
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    await first.sweep()
    advance(LONG_AGO_MS)
    await first.sweep()
    await first.feed.drain(1_000)
    await start().sweep()
    expect(told()).toEqual(['done s abort v3', 'failed s abort v3'])
  })

  test('a delivery just before a restart is not repeated either, nor by consecutive passes', async () => {
    const { store, advance, start, told } = await old()
    const root = { name: 'R', timeout: '00:00:30', onDue: 'notify' } as const
    await run(store, 't', { op: 'init', root, forks: [], hold: false, born: 'b' })
    for (let minute = 0; minute < 4; minute += 1) {
      const once = start()
      await once.sweep()
      await once.feed.drain(0)
      advance(30_000)
      if (minute === 1) await run(store, 's', { op: 'abort' })
      advance(30_000)
    }
    expect(told()).toEqual(['done s abort v3', 'expired t 00 due', 'failed s abort v3'])
  })

  test('an abandoned delivery blocks no other', async () => {
    const { store, advance, start, told } = await old(response => void response.writeHead(410).end())
    const first = start({ kinds: ['done'] })
    await first.sweep()
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    await first.sweep()
    advance(LONG_AGO_MS)
    await first.sweep()
    await start({ kinds: ['done'] }).sweep()
    expect(told()).toEqual(['done s abort v3'])
    expect(first.reports.map(({ outcome }) => outcome)).toEqual(['given-up'])
  })

  test('a store that does not answer is retried', async () => {
    const { store, advance, start, told } = await old()
    const faulty = failingReads(store)
    const { sweep, troubles } = start({ store: faulty.store })
    await sweep()
    advance(10_000)
    await run(store, 's', { op: 'abort' })
    faulty.fail(2)
    await sweep()
    expect(told()).toEqual(['done s abort v3', 'failed s abort v3'])
    expect(troubles).toEqual(['s cannot be read for hooks now'])
  })

  test('an event that cannot be encoded is reported as an error, and blocks no other', async () => {
    const { store, advance, start, told } = await old()
    const document = (fields: object) => {
      if ('stream' in fields && fields.stream === 's') throw new RangeError('no words')
      return hookFormat.document(fields)
    }
    const { sweep, troubles } = start({ kinds: ['done'], format: { ...hookFormat, document } })
    await sweep()
    advance(10_000)
    for (const name of ['new', 's']) await run(store, name, name === 's' ? { op: 'abort' } : init())
    await run(store, 'new', { op: 'abort' })
    await sweep()
    expect([told(), troubles]).toEqual([['done new abort v2'], ['s cannot be delivered to hooks']])
  })

  test('the watermark is written at the start, and then only when it advances', async () => {
    const { store, advance, start } = await old()
    const { memory, written } = plainMemory()
    const { sweep, feed } = start({ kinds: ['done'], memory })
    await sweep()
    const startMs = NOW + LONG_AGO_MS
    const atStart = [startMs - 30_000]
    expect(written).toEqual(atStart)
    advance(11_000)
    await sweep()
    expect(written).toEqual(atStart)
    await run(store, 's', { op: 'abort' })
    advance(11_000)
    await sweep()
    expect(written).toEqual([...atStart, startMs + 22_000])
    advance(1_000)
    await sweep()
    expect(written).toHaveLength(2)
    await feed.drain(0)
    expect(written).toEqual([...atStart, startMs + 22_000, startMs + 23_000])
  })

  test('while positions cannot be written, deliveries go on, and it is reported once', async () => {
    const { store, advance, start, told } = await old()
    const memory = () => ({
      read: async () => undefined,
      write: async () => {
        throw new StoreUnreachable('away')
      },
    })
    const { sweep, pass, troubles, feed } = start({ memory, kinds: ['done'] })
    await sweep()
    advance(10_000)
    for (let at = 0; at < 150; at += 1) {
      await run(store, `n${at}`, init())
      await run(store, `n${at}`, { op: 'abort' })
    }
    await pass()
    await until(() => feed.pending === 0)
    expect(told()).toHaveLength(150)
    expect(troubles).toEqual(['the position of hooks cannot be written: a restart may repeat more deliveries'])
  })

  test('a stream is read once for all hooks', async () => {
    const { store, advance, start, told } = await old()
    const reads = counting(store)
    const { sweep } = start({ store: reads.store })
    await sweep()
    advance(10_000)
    await run(store, 's', { op: 'abort' })
    const before = reads.count()
    await sweep()
    expect([told().length, reads.count() - before]).toEqual([2, 1])
  })

  test('without a known watermark, the last hour is delivered', async () => {
    const { start, told } = await old()
    const memory = () => ({
      read: async () => {
        throw new StoreUnreachable('away')
      },
      write: async () => 'written' as const,
    })
    const { sweep, troubles } = start({ memory, kinds: ['done'] })
    await sweep()
    expect(told()).toEqual(['done over abort v2'])
    expect(troubles).toEqual(['the position of hooks cannot be read: events of the last hour may be delivered again'])
  })
})

describe('a notice', () => {
  test('that was not delivered when a watchdog stopped is delivered by the next one, even if it is no longer due', async () => {
    const { store, advance, start, told, host } = await old(
      (response, _, count) => void response.writeHead(count === 1 ? 503 : 204).end(),
    )
    const root = { name: 'R', timeout: '00:01:00', onDue: 'notify' } as const
    await run(store, 't', { op: 'init', root, forks: [], hold: false, born: 'b' })
    const first = start({ kinds: ['expired'] })
    await first.sweep()
    advance(60_000)
    await first.pass()
    await until(() => first.reports.length > 0)
    await first.feed.drain(0)
    await run(store, 't', { op: 'complete', event: '00' })
    advance(LONG_AGO_MS)
    await start({ kinds: ['expired'] }).sweep()
    await start({ kinds: ['expired'] }).sweep()
    expect(told()).toEqual(two('expired t 00 due'))
    expect(new Set(host.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  })
})

describe('shards', () => {
  test('that are taken over continue at the watermark of the last watchdog', async () => {
    const { store, advance, start, told, host } = await old((response, _, count) => {
      if (count > 1) response.writeHead(204).end()
    })
    const dying = start({ kinds: ['done'] })
    dying.feed.shards?.([0, 1], 2)
    await dying.sweep()
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    await dying.pass()
    await host.came(1)
    const other = start({ kinds: ['done'] })
    other.feed.shards?.([], 2)
    advance(LONG_AGO_MS)
    other.feed.shards?.([0, 1], 2)
    await other.sweep()
    expect(told()).toEqual(two('done s abort v3'))
  })

  test('none of which is ours get no watermark from us', async () => {
    const { advance, start, store } = await old()
    const noted: number[] = []
    const memory = () => ({
      read: async () => undefined,
      async write(shard: number) {
        noted.push(shard)
        return 'written' as const
      },
    })
    const { feed, sweep } = start({ kinds: ['done'], memory, shards: 2 })
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    await sweep()
    await feed.drain(0)
    expect(noted).toEqual([])
  })

  test('of which one is ours get only its watermark', async () => {
    const { advance, start } = await old()
    const news: [number, number][] = []
    const memory = () => ({
      read: async () => undefined,
      async write(shard: number, count: number) {
        news.push([count, shard])
        return 'written' as const
      },
    })
    const { feed, sweep } = start({ kinds: ['done'], memory })
    feed.shards?.([1], 2)
    advance(1)
    await sweep()
    expect(news).toEqual([[2, 1]])
  })
})

describe('an overload', () => {
  const LIMITS = { waiting: 100, behind: 10, atOnce: 1 }

  /** A receiver that does not answer yet, and many streams that were aborted at once. */
  async function swamped(streams: number) {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    const { store, advance, start, host, told } = await old(
      response => void mayAnswer.then(() => response.writeHead(204).end()),
    )
    const paces: string[] = []
    const onPace = ({ kind }: HookPace) => void paces.push(kind)
    const { memory, written } = plainMemory()
    const first = start({ kinds: ['done'], limits: LIMITS, onPace, memory })
    await first.sweep()
    advance(60_000)
    const names = Array.from({ length: streams }, (_, at) => `n${String(at).padStart(3, '0')}`)
    for (const name of names) {
      await run(store, name, init())
      await run(store, name, { op: 'abort' })
    }
    advance(60_000)
    await first.pass()
    await host.came(1)
    return {
      advance,
      start,
      answer,
      told,
      first,
      paces,
      memory,
      written,
      all: names.map(name => `done ${name} abort v2`),
    }
  }

  test('delays no pass, and everything is delivered when there is capacity', async () => {
    const { first, answer, advance, told, all, paces, written } = await swamped(60)
    advance(60_000)
    await first.pass()
    expect([told().length, written.at(-1), paces]).toEqual([1, NOW + LONG_AGO_MS - 30_000, ['behind']])
    answer()
    await first.feed.idle()
    expect([told(), paces]).toEqual([all, ['behind', 'caught-up']])
    expect(written.at(-1)).toBe(NOW + LONG_AGO_MS + 180_000)
  })

  test('is left at once when the watchdog stops, and delivered by the next one', async () => {
    const { first, answer, start, told, all, memory } = await swamped(60)
    const drained = first.feed.drain(30_000)
    await first.feed.idle()
    answer()
    await drained
    expect(told()).toHaveLength(1)
    await start({ kinds: ['done'], memory }).sweep()
    expect([...new Set(told())]).toEqual(all)
  })

  test('that exceeds the list of names is delivered by a later sweep', async () => {
    const { first, answer, advance, told, all, paces, written } = await swamped(130)
    answer()
    await first.feed.idle()
    expect(told().length).toBeLessThan(all.length)
    expect(first.feed.left).toBe(all.length - told().length)
    expect(Math.max(...written)).toBe(NOW + LONG_AGO_MS)
    advance(60_000)
    await first.sweep()
    expect([told(), first.feed.left]).toEqual([all, 0])
    expect(paces.slice(0, 3)).toEqual(['behind', 'full', 'caught-up'])
  })

  test('that exceeds the list of names is delivered by the next watchdog: the positions stay before it', async () => {
    const { first, answer, start, told, all, memory } = await swamped(130)
    answer()
    await first.feed.idle()
    await first.feed.drain(0)
    expect(told().length).toBeLessThan(all.length)
    await start({ kinds: ['done'], memory }).sweep()
    expect(told()).toEqual(all)
  })

  test('is remembered until it is delivered, however many passes have begun since', async () => {
    const { store, advance, start, host, told } = await old(() => {})
    const { sweep, pass, feed } = start({ kinds: ['done'] })
    await sweep()
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    for (let passes = 0; passes < 3; passes += 1) {
      await pass()
      advance(LONG_AGO_MS)
    }
    await host.came(1)
    await feed.drain(0)
    await start({ kinds: ['done'] }).pass()
    await host.came(2)
    expect(told()).toEqual(two('done s abort v3'))
  })
})

describe('a watchdog that stops during a pass', () => {
  test('does not mark the findings of that pass as delivered', async () => {
    const { store, advance, start, told } = await old()
    const first = start({ kinds: ['done'] })
    await first.sweep()
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    await first.feed.drain(0)
    await first.pass()
    await first.feed.drain(0)
    expect(told()).toEqual([])
    await start({ kinds: ['done'] }).sweep()
    expect(told()).toEqual(['done s abort v3'])
  })
})

describe('a delivery whose time is over', () => {
  test('is left: the drain does not wait for it, and the next watchdog delivers it', async () => {
    const { store, advance, start, told } = await old(
      (response, _, count) => void response.writeHead(count === 1 ? 503 : 204).end(),
    )
    const first = start({ kinds: ['done'], limits: { retryForMs: 1_000 } })
    await first.sweep()
    advance(LONG_AGO_MS)
    await run(store, 's', { op: 'abort' })
    await first.sweep()
    expect(first.reports.map(({ outcome }) => outcome)).toEqual(['left'])
    expect([first.feed.left, first.feed.pending]).toEqual([1, 0])
    advance(LONG_AGO_MS)
    await first.sweep()
    await first.feed.drain(0)
    await start({ kinds: ['done'] }).sweep()
    expect(told()).toEqual(two('done s abort v3'))
  })
})

describe('a hook command', () => {
  let folder = ''
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function program(script: string): CommandTarget {
    folder = mkdtempSync(join(tmpdir(), 'leasectl-hooks-'))
    return { kind: 'command', argv: ['/bin/sh', '-c', script, 'hook', folder], timeoutMs: 30_000, tries: 3 }
  }

  test('receives events on standard input and in its environment, whatever foreign text they contain', async () => {
    const { store, advance, start } = await old()
    const page = program('cat > "$1/document"; env -0 > "$1/environment"')
    const environment = {
      PATH: '/usr/bin:/bin',
      HOME: '/root',
      TZ: 'UTC',
      AZURE_STORAGE_KEY: 'canary',
      SECRET: 'canary',
    }
    const { sweep, reports } = start({ hooks: { failed: [page] }, environment, store: unsummarized(store) })
    await sweep()
    advance(10_000)
    const id = '$(touch "$1/pwned"); `id` && \'"\n-e'
    const attribute = id.replace('&&', '&amp;&amp;').replaceAll('"', '&quot;').replace('\n', '&#xA;')
    await writeForeign(store, 's', 'status="init" id="02.00"', `status="aborted" id="${attribute}" msg="\u0085$(id)"`)
    await sweep()
    expect(reports.map(({ outcome, code }) => [outcome, code])).toEqual([['delivered', 'exit-0']])
    expect(readdirSync(folder).sort()).toEqual(['document', 'environment'])
    const document = JSON.parse(readFileSync(join(folder, 'document'), 'utf8'))
    expect(document.transaction.changes).toContainEqual({ id, from: null, to: 'aborted', how: 'add' })
    const variables = readFileSync(join(folder, 'environment'), 'utf8').split('\0')
    const { PWD: _, ...seen } = Object.fromEntries(variables.filter(Boolean).map(line => splitAtFirst(line, '=')))
    expect(seen).toEqual({
      PATH: '/usr/bin:/bin',
      HOME: '/root',
      TZ: 'UTC',
      LEASECTL_STORE: 'memory:',
      LEASECTL_STREAM: 's',
      LEASECTL_EVENT: id,
      LEASECTL_HOOK: 'failed',
      LEASECTL_OUTCOME: 'errors',
      LEASECTL_COMMAND_ID: '',
      LEASECTL_VERSION: '',
      LEASECTL_DELIVERY_ID: document.deliveryId,
    })
  })

  test('that fails is started again with the same input', async () => {
    const { store, advance, start } = await old()
    const page = program('cat >> "$1/told"; [ -e "$1/second" ] || { : > "$1/second"; exit 1; }')
    const { sweep, reports } = start({ hooks: { done: [page] } })
    await sweep()
    advance(10_000)
    await run(store, 's', { op: 'abort' })
    const swept = sweep()
    await until(() => reports.length > 0)
    advance(10_000)
    await swept
    expect(reports.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['retrying', 'exit-1'],
      ['delivered', 'exit-0'],
    ])
    const [first, second] = readFileSync(join(folder, 'told'), 'utf8').trim().split('\n')
    expect(first).toContain('"deliveryId":"done-')
    expect(second).toBe(first)
  })
})

describe('a drain', () => {
  test('completes deliveries in flight, and leaves the rest to the next watchdog', async () => {
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>()
    const { store, advance, start, host, told } = await old((response, _, count) => {
      if (count === 1) void mayAnswer.then(() => response.writeHead(204).end())
      else response.writeHead(204).end()
    })
    const first = start({ kinds: ['done'], limits: { atOnce: 1 } })
    await first.sweep()
    advance(10_000)
    for (const name of ['a', 'b', 'c']) {
      await run(store, name, init())
      await run(store, name, { op: 'abort' })
    }
    await first.pass()
    await host.came(1)
    const drained = first.feed.drain(30_000)
    answer()
    await drained
    expect(told()).toHaveLength(1)
    advance(LONG_AGO_MS)
    await start({ kinds: ['done'] }).sweep()
    expect(told()).toEqual(['done a abort v2', 'done b abort v2', 'done c abort v2'])
  })
})

function two(line: string): string[] {
  return [line, line]
}

const ROOT = '<Event name="R" status="inprocess" id="00" next="01.00|02.00|03.00"/>'

/** Writes like a foreign writer. */
async function overwrite(store: StreamStore, text: string): Promise<void> {
  await store.update(
    'legacy',
    ({ summary }) => (summary === undefined ? { kind: 'leave' } : { kind: 'put', body: Buffer.from(text), summary }),
    { waitMs: 0, holder: HOLDER },
  )
}

function splitAtFirst(line: string, sign: string): [string, string] {
  const at = line.indexOf(sign)
  return [line.slice(0, at), line.slice(at + 1)]
}

function counting(store: StreamStore) {
  let reads = 0
  const read: StreamStore['read'] = (...given) => {
    reads += 1
    return store.read(...given)
  }
  return { store: storeWith(store, { read }), count: () => reads }
}

function failingReads(store: StreamStore) {
  let left = 0
  const read: StreamStore['read'] = async (...given) => {
    if (left > 0) {
      left -= 1
      throw new StoreUnreachable('no answer')
    }
    return store.read(...given)
  }
  const fail = (times: number) => {
    left = times
  }
  return { store: storeWith(store, { read }), fail }
}

/** A store that other programs write to: the metadata beside their documents are invalid. */
function unsummarized(store: StreamStore): StreamStore {
  const without = <Row extends StreamRow>({ summary: _, ...row }: Row) => row
  return storeWith(store, {
    ...listing(store, without),
    read: async (name, signal) => {
      const stored = await store.read(name, signal)
      return stored && without(stored)
    },
  })
}
