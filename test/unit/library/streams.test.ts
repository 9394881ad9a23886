import { expect, test } from 'vitest'
import { EventNotFound, StreamNotFound } from '../../../src/library/errors.ts'
import { changeStream, mustReadStream, readStream } from '../../../src/library/streams.ts'
import { xpath } from '../../../src/library/xpath.ts'
import { InvalidValue } from '../../../src/stream/errors.ts'
import { documentText } from '../../support/stream-builder.ts'
import { memoryStore, writeForeign } from '../ops/support.ts'
import { storeWith, storeWithText } from './support.ts'

const ids = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id)

test('a missing stream is undefined, or an error with a stable code', async () => {
  const { store } = memoryStore()
  expect(await readStream(store, 's')).toBeUndefined()
  await expect(mustReadStream(store, 's')).rejects.toMatchObject({ code: 'stream-not-found', stream: 's' })
  await expect(mustReadStream(store, 's')).rejects.toBeInstanceOf(StreamNotFound)
})

test('a stream is read with its root, its events and its waiting-on list', async () => {
  const { store } = await storeWith()
  const stream = await mustReadStream(store, 's')
  expect([stream.name, stream.version, stream.status, stream.isDone, stream.isHeld]).toEqual([
    's',
    1,
    'inprocess',
    false,
    false,
  ])
  expect([stream.root.id, stream.root.isRoot, stream.root.parent]).toEqual(['00', true, undefined])
  expect(ids(stream.events)).toEqual(['00', '01.00', '02.00', '01'])
  expect(ids(stream.waitingOn)).toEqual(['01.00', '02.00'])
  expect(ids(stream.ready)).toEqual(['01.00', '02.00'])
  expect(stream.history.map(({ op, by }) => [op, by])).toEqual([['init', 'shop']])
})

test('events give access to their neighbours, which are the same objects each time', async () => {
  const { store } = await storeWith()
  const stream = await mustReadStream(store, 's')
  const search = stream.mustFind('01.00')
  expect(stream.find('01.00')).toBe(search)
  expect(search.parent).toBe(stream.root)
  expect(ids(stream.root.successors)).toEqual(['01.00', '02.00', '01'])
  expect(stream.root.successors[0]).toBe(search)
  expect(search.parent?.parent).toBeUndefined()
})

test('an event has its state', async () => {
  const { store, advance } = await storeWith({
    forks: [{ name: 'Search', key: 'k', timeout: '00:10:00' }, 'Pay'],
    join: 'Ship',
  })
  await changeStream(store, 's', { by: 'w' }, s => void s.mustFind('01.00').start({ owner: 'w1', claimMs: 5_000 }))
  const search = (await mustReadStream(store, 's')).mustFind('01.00')
  expect(search).toMatchObject({
    name: 'Search',
    key: 'k',
    topic: '',
    status: 'inprocess',
    owner: 'w1',
    fence: 2,
    attempt: 1,
  })
  expect(search).toMatchObject({
    isOpen: true,
    isFinal: false,
    isFailed: false,
    isClaimed: true,
    isReady: false,
    isWaiting: false,
  })
  expect([search.claimEndMs, search.dueMs]).toEqual([store.nowMs() + 5_000, store.nowMs() + 600_000])
  expect([search.createdMs, search.touchedMs]).toEqual([store.nowMs(), store.nowMs()])
  expect(search.history.map(({ op }) => op)).toEqual(['init', 'start'])
  advance(5_001)
  const stream = await mustReadStream(store, 's')
  expect(stream.mustFind('01.00').isClaimed).toBe(false)
  expect(stream.mustFind('01')).toMatchObject({ isWaiting: true, isReady: false })
  expect([stream.root.isWaiting, stream.root.hasErrors, stream.root.isSuperseded]).toEqual([true, false, false])
})

test('a missing event is undefined, or an error with a stable code', async () => {
  const { store } = await storeWith()
  const stream = await mustReadStream(store, 's')
  expect(stream.find('09.00')).toBeUndefined()
  expect(() => stream.mustFind('09.00')).toThrow(EventNotFound)
  expect(() => stream.mustFind('09.00')).toThrow(expect.objectContaining({ code: 'event-not-found', sought: '09.00' }))
})

test('XPath selects events and values, with a text or a parsed expression', async () => {
  const { store } = await storeWith()
  const stream = await mustReadStream(store, 's')
  expect(ids(await stream.select("./Event[@status='init']"))).toEqual(['01.00', '02.00'])
  expect(ids(stream.select(await xpath("./Event[@lc:join='wait']")))).toEqual(['01'])
  expect(await stream.values('count(./Event)')).toEqual([4])
  expect(await stream.values("./Event[@id='01']/@name")).toEqual(['Ship'])
  expect([await stream.select('./Nothing'), await stream.values('./Nothing')]).toEqual([[], []])
  expect(ids(await stream.mustSelect('./Event[1]'))).toEqual(['00'])
  await expect(stream.mustSelect('./Nothing')).rejects.toMatchObject({ code: 'event-not-found', sought: './Nothing' })
})

test.each([
  ['select', 'count(./Event)'],
  ['values', './Event'],
  ['select', './Event['],
] as const)('%s refuses %s', async (method, expression) => {
  const { store } = await storeWith()
  const stream = await mustReadStream(store, 's')
  await expect(stream[method](expression)).rejects.toThrow(InvalidValue)
})

test('a foreign write is visible, last in the history', async () => {
  const { store } = await storeWith()
  await writeForeign(store, 's', 'status="init"', 'status="paused"')
  const stream = await mustReadStream(store, 's')
  expect(stream.mustFind('01.00')).toMatchObject({ status: 'paused', isOpen: true, isFinal: false })
  expect(stream.history.map(({ op, provisional }) => [op, provisional])).toEqual([
    ['init', false],
    ['foreign', true],
  ])
})

test('its precondition holds until another changes the stream; a heartbeat does not count', async () => {
  const { store } = await storeWith()
  const pay = (of: { readonly pin: object }) =>
    changeStream(store, 's', { by: 'till', ...of.pin }, s => void s.mustFind('02.00').set({ tag: 'x' }))
  await changeStream(store, 's', { by: 'w' }, s => void s.mustFind('01.00').start({ owner: 'w' }))
  const seen = await mustReadStream(store, 's')
  await changeStream(store, 's', { by: 'w' }, s => void s.mustFind('01.00').touch({ owner: 'w', claimMs: 90_000 }))
  expect(await pay(seen)).toMatchObject({ kind: 'done' })
  expect(await pay(seen)).toMatchObject({ kind: 'refused', refusal: { code: 'changed' } })
})

test('its precondition includes earlier foreign writes, and no later ones', async () => {
  const { store } = await storeWith()
  const set = (of: { readonly pin: object }) =>
    changeStream(store, 's', { by: 'till', ...of.pin }, s => void s.mustFind('02.00').set({ tag: 'x' }))
  await writeForeign(store, 's', 'name="Search"', 'name="Seek"')
  const seen = await mustReadStream(store, 's')
  await writeForeign(store, 's', 'name="Seek"', 'name="Look"')
  expect(await set(seen)).toMatchObject({ kind: 'refused', refusal: { code: 'changed' } })
  expect(await set(await mustReadStream(store, 's'))).toMatchObject({ kind: 'done' })
})

test('foreign irregularities are handled: duplicate ids, open events below and beside final ones', async () => {
  const store = await storeWithText(
    documentText(
      { id: '00', name: 'Start', status: 'completed', next: '01.00' },
      { id: '01.00', name: 'A', status: 'completed', prev: '00', next: '01.01' },
      { id: '01.01', name: 'B', status: 'init', prev: '01.00' },
      { id: '01.01', name: 'C', status: 'init', prev: '01.00' },
      { id: '07.00', name: 'D', status: 'init' },
    ),
  )
  const stream = await mustReadStream(store, 's')
  expect(stream.events.map(({ id, name }) => `${id} ${name}`)).toEqual(['00 Start', '01.00 A', '01.01 B', '07.00 D'])
  expect([stream.isDone, stream.waitingOn]).toEqual([true, []])
  expect([stream.mustFind('01.00').isWaiting, stream.mustFind('01.01').isReady]).toEqual([false, false])
})
