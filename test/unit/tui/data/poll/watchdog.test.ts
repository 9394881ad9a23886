import { expect, it } from 'vitest'
import { init, memoryStore, run } from '../../../ops/support.ts'
import { probe } from '../../../ops/watch/support.ts'
import { aWatchdog, writeState } from '../../../watchdog/state/world.ts'
import { LISTED, polling } from '../support.ts'

const WATCHDOG = { ...LISTED, watchdog: true }
const limited = (event: string, timeout: string, more: Record<string, string> = {}) =>
  ({ op: 'set', event, attributes: { timeout, ...more } }) as const

async function withLimits() {
  const world = memoryStore()
  for (const name of ['a', 'b', 'c']) await run(world.store, name, init(['Pay', 'Ship']))
  await run(world.store, 'a', limited('01.00', '00:10:00'))
  await run(world.store, 'b', limited('00', '00:05:00'))
  await run(world.store, 'c', limited('02.00', '00:01:00', { onDue: 'notify' }))
  await run(world.store, 'c', limited('01.00', '00:20:00'))
  return world
}

it('each limit has its event, its kind and what a watchdog does', async () => {
  const { store } = await withLimits()
  const { data, stop } = await polling(store, WATCHDOG)
  expect(
    data.watchdog.next.map(({ stream, limit }) => [stream, limit?.event, limit?.name, limit?.kind, limit?.action]),
  ).toEqual([
    ['c', '02.00', 'Ship', 'never-started', 'notify'],
    ['b', '00', 'Start', 'stream', 'abort-stream'],
    ['a', '01.00', 'Pay', 'never-started', 'abort-event'],
  ])
  expect(data.watchdog.notified).toEqual([])
  await stop()
})

it('an event that does not say it gets what the running watchdogs do at a limit, if they all do the same', async () => {
  const { store } = await withLimits()
  const settings = { match: undefined, maxPerPass: 1_000, maxShare: 0.2 }
  const live = (id: string, onDue: string) =>
    aWatchdog(store.nowMs(), { id, writtenMs: store.nowMs(), settings: { ...settings, onDue } })
  await writeState(store, [live('w1', 'notify')])
  const { data, clock, stop } = await polling(store, WATCHDOG)
  const actions = () => data.watchdog.next.map(({ limit }) => limit?.action)
  await clock.next()
  expect(actions()).toEqual(['notify', 'notify', 'notify'])
  await writeState(store, [live('w2', 'abort-stream')])
  for (let polls = 0; polls < 2; polls++) await clock.next()
  expect(actions()).toEqual(['notify', 'abort-stream', 'abort-event'])
  await stop()
})

it('a limit that was only told of makes room for the next one of its stream', async () => {
  const { store, advance } = await withLimits()
  const { data, clock, stop } = await polling(store, WATCHDOG)
  advance(90_000)
  await clock.next()
  expect(data.watchdog.notified).toMatchObject([{ stream: 'c', limit: { event: '02.00' } }])
  expect(data.watchdog.next.map(({ stream, limit }) => [stream, limit?.event])).toEqual([
    ['b', '00'],
    ['a', '01.00'],
    ['c', '01.00'],
  ])
  await stop()
})

it('documents are read once, and again only after a change', async () => {
  const { store } = await withLimits()
  const asked = probe(store)
  const { clock, stop } = await polling(asked.store, WATCHDOG)
  const streams = () => asked.reads.filter(name => !name.startsWith('.')).sort()
  expect(streams()).toEqual(['a', 'b', 'c'])
  asked.reads.length = 0
  await run(store, 'a', limited('01.00', '00:30:00'))
  await clock.next()
  expect(streams()).toEqual(['a'])
  await stop()
})

it('of a document that cannot be read only the time is known', async () => {
  const { store } = await withLimits()
  const real = store.read.bind(store)
  const broken = new Proxy(store, {
    get(target, key) {
      if (key === 'read')
        return async (name: string) => {
          const stored = await real(name)
          return name === 'a' && stored ? { ...stored, body: new TextEncoder().encode('<Event') } : stored
        }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const { data, stop } = await polling(broken, WATCHDOG)
  expect(data.watchdog.next.find(({ stream }) => stream === 'a')).toMatchObject({ limit: undefined, isUnknown: true })
  await stop()
})
