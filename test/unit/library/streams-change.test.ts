import { expect, test } from 'vitest'
import type { StreamEditor } from '../../../src/library/editor.ts'
import { changeStream, createStream, mustReadStream, transact } from '../../../src/library/streams.ts'
import { xpath } from '../../../src/library/xpath.ts'
import { memoryStore } from '../ops/support.ts'
import { storeWith, textOf } from './support.ts'

const AS = { by: 'me' }

async function statuses(...[store]: Parameters<typeof textOf>): Promise<string[]> {
  return (await mustReadStream(store, 's')).events.map(({ id, status }) => `${id} ${status}`)
}

test('a stream is created with names alone, or with attributes, once', async () => {
  const { store } = memoryStore()
  const fresh = { root: { name: 'Order', key: '4711' }, forks: ['A', { name: 'B', topic: 't' }], join: 'J' }
  expect(await createStream(store, 's', { ...AS, commandId: 'c' }, fresh)).toMatchObject({ kind: 'done' })
  const stream = await mustReadStream(store, 's')
  expect(stream.root.key).toBe('4711')
  expect(stream.events.map(({ name, topic }) => name + topic)).toEqual(['Order', 'A', 'Bt', 'J'])
  expect(await createStream(store, 's', AS, fresh)).toMatchObject({ refusal: { code: 'exists' } })
  expect(await createStream(store, 't', AS, { hold: true })).toMatchObject({ result: { added: ['00'] } })
  expect((await mustReadStream(store, 't')).isHeld).toBe(true)
})

test('an editor shows the stream as its steps changed it', async () => {
  const { store } = await storeWith()
  const init = await xpath("./Event[@status='init']")
  const seen: unknown[] = []
  await changeStream(store, 's', AS, stream => {
    const search = stream.mustFind('01.00').start({ owner: 'w1' })
    seen.push([search.status, search.fence, search.isClaimed, stream.ready.length])
    search.touch({ owner: 'w1', msg: 'half' }).advance({ next: 'Rank', forks: ['Ask'], owner: 'w1' })
    seen.push(
      search.successors.map(({ id, name }) => `${id} ${name}`),
      stream.select(init).length,
    )
    for (const next of search.successors) next.complete('ok')
    seen.push([search.isFinal, stream.version, stream.isDone])
    stream.mustFind('02.00').fail('no money')
    seen.push([stream.mustFind('01').isReady, stream.history.length])
  })
  expect(seen).toEqual([['inprocess', 2, true, 1], ['01.01 Rank', '01.01.00 Ask'], 3, [true, 5, false], [true, 6]])
})

test('each method of an event is its operation', async () => {
  const { store } = await storeWith({ forks: ['A', 'B', 'C', 'D', 'E'] })
  await changeStream(store, 's', AS, stream => {
    stream.mustFind('01.00').start({ owner: 'w' }).release({ owner: 'w' }).set({ tag: 't' }).complete()
    stream.mustFind('02.00').fail('f')
    stream.mustFind('03.00').cancel('c')
    stream.mustFind('04.00').abort('a').retry()
    stream.cancel('all')
  })
  const stream = await mustReadStream(store, 's')
  const ops = ['init', 'start', 'release', 'set', 'complete', 'fail', 'cancel', 'abort', 'retry', 'cancel']
  expect(stream.history.map(({ op }) => op)).toEqual(ops)
  expect(await statuses(store)).toEqual([
    '00 canceled',
    '01.00 completed',
    '02.00 aborted',
    '03.00 canceled',
    '04.00 canceled',
    '05.00 canceled',
  ])
  expect([stream.mustFind('02.00').msg, stream.mustFind('03.00').msg, stream.mustFind('01.00').tag]).toEqual([
    'f',
    'c',
    't',
  ])
  await changeStream(store, 's', AS, again => void again.retry({ canceled: true }).abort('enough'))
  expect((await mustReadStream(store, 's')).status).toBe('aborted')
})

test('a suspended stream says since when, by whom and why, and has nothing ready until it is resumed', async () => {
  const { store } = await storeWith()
  await changeStream(store, 's', AS, stream => void stream.mustFind('01.00').start({ owner: 'w1' }))
  await changeStream(store, 's', { by: 'ana' }, stream => void stream.suspend('wrong prices', { stop: true }))
  const stopped = await mustReadStream(store, 's')
  expect(stopped.suspension).toMatchObject({ by: 'ana', why: 'wrong prices' })
  expect([stopped.mustFind('01.00').status, stopped.ready, stopped.isHeld]).toEqual(['init', [], false])
  const refused = await changeStream(store, 's', AS, stream => void stream.mustFind('01.00').start({ owner: 'w1' }))
  expect(refused).toMatchObject({ kind: 'refused', refusal: { code: 'suspended' } })
  await changeStream(store, 's', AS, stream => void stream.resume())
  const again = await mustReadStream(store, 's')
  expect([again.suspension, again.ready.length]).toEqual([undefined, 2])
  expect(await transact(store, 's', { op: 'resume' }, AS)).toMatchObject({
    kind: 'done',
    result: { outcome: 'already' },
  })
})

test('a refused step ends the change: none of it is written', async () => {
  const { store } = await storeWith()
  const before = await textOf(store)
  let after = false
  const outcome = await changeStream(store, 's', AS, stream => {
    stream.mustFind('01.00').complete()
    stream.mustFind('01.00').complete()
    after = true
  })
  expect(outcome).toMatchObject({ kind: 'refused', refusal: { code: 'already-final', event: '01.00' } })
  expect(after).toBe(false)
  expect(await textOf(store)).toBe(before)
})

test('a required event that is missing ends the change too, with the error', async () => {
  const { store } = await storeWith()
  const before = await textOf(store)
  const change = (stream: StreamEditor) => {
    stream.mustFind('01.00').complete()
    stream.mustFind('09.00').complete()
  }
  await expect(changeStream(store, 's', AS, change)).rejects.toMatchObject({ code: 'event-not-found' })
  expect(await textOf(store)).toBe(before)
  expect(await changeStream(store, 'none', AS, change)).toEqual({ kind: 'missing' })
})

test('a repetition with the same command id returns the first results', async () => {
  const { store } = await storeWith()
  const change = (stream: StreamEditor) => void stream.mustFind('01.00').complete()
  const options = { ...AS, commandId: 'message-1' }
  expect(await changeStream(store, 's', options, change)).toMatchObject({ duplicate: false, commandId: 'message-1' })
  expect(await changeStream(store, 's', options, change)).toMatchObject({ duplicate: true, results: [{ version: 2 }] })
  expect(await changeStream(store, 's', AS, change)).toMatchObject({ kind: 'refused' })
})

test('a command id leaves room for the numbers of the steps', async () => {
  const { store } = await storeWith()
  const change = (length: number) =>
    changeStream(
      store,
      's',
      { ...AS, commandId: 'a'.repeat(length) },
      stream => void stream.mustFind('01.00').complete(),
    )
  await expect(change(197)).rejects.toThrow('a command id has at most 196 characters, this one 197')
  expect(await change(196)).toMatchObject({ kind: 'done' })
})

test('a held lease is waited for as long as requested', async () => {
  const { store } = await storeWith()
  await store.acquireLease('s', {
    leaseId: '11111111-1111-4111-8111-111111111111',
    durationS: 60,
    holder: { by: 'x', host: 'h', pid: 1, purpose: 'p', sinceMs: 0 },
  })
  const outcome = await changeStream(store, 's', { ...AS, leaseWaitMs: 0 }, stream => void stream.cancel())
  expect(outcome).toMatchObject({ kind: 'held', lease: { holder: { by: 'x' } } })
  const stopped = AbortSignal.abort(new Error('stop'))
  await expect(changeStream(store, 's', { ...AS, signal: stopped }, () => {})).rejects.toThrow('stop')
})

test('one operation needs no command id', async () => {
  const { store } = await storeWith()
  const outcome = await transact(store, 's', { op: 'complete', event: '01.00' }, AS)
  expect(outcome).toMatchObject({ kind: 'done', commandId: expect.stringMatching(/^[0-9a-f-]{36}$/) })
})

test('a stream says what its failures have meant for it', async () => {
  const { store } = await storeWith()
  const outcome = async () => (await mustReadStream(store, 's')).outcome
  expect(await outcome()).toBeUndefined()
  await changeStream(store, 's', AS, stream => void stream.mustFind('01.00').fail('no'))
  expect(await outcome()).toBe('errors')
  await createStream(store, 'blocked', AS, { root: 'R', steps: [{ name: 'A' }, { name: 'B' }], onFailure: 'block' })
  await changeStream(store, 'blocked', AS, stream => void stream.mustFind('01.00').fail('no'))
  expect((await mustReadStream(store, 'blocked')).outcome).toBe('blocked')
})
