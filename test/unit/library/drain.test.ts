import { expect, test } from 'vitest'
import { readDeadLetters } from '../../../src/inbox/drain/dead-letters.ts'
import {
  createInbox,
  createStream,
  type DrainInboxOptions,
  drain,
  mustReadStream,
  openStore,
  type RecordHandler,
  readStream,
  signal,
  transient,
} from '../../../src/index.ts'

async function world(...ids: readonly string[]) {
  const store = await openStore('memory:')
  const inbox = await createInbox(store, 'orders', { by: 'shop', partitions: 2 })
  await inbox.put(ids.map(id => ({ id, key: id.slice(0, 1), data: { n: id } })))
  const run = (handler: RecordHandler, options: DrainInboxOptions = {}) =>
    drain(store, 'orders', handler, { once: true, by: 'shop', ...options })
  const letters = () => readDeadLetters(store, { name: 'orders', partitions: 2, createdMs: 0, by: '' })
  return { store, inbox, run, letters }
}

test('a drain makes one operation of each record, with the record as its input, once', async () => {
  const { store, run, inbox } = await world('a1', 'a2', 'b1')
  const handler: RecordHandler = ({ id, key }) =>
    id === 'b1'
      ? { do: 'init', stream: 'streams/b1', root: 'Order' }
      : { do: 'append', stream: `cars/${key}`, step: { name: 'Move' }, create: true }
  const outcomes: string[] = []
  const observe: DrainInboxOptions['observe'] = event => {
    if (event.kind === 'done') outcomes.push(`${event.id} ${event.outcome} ${event.stream}`)
  }
  expect(await run(handler, { observe })).toEqual({ done: 3, duplicates: 0, dead: 0 })
  expect(outcomes.sort()).toEqual(['a1 appended cars/a', 'a2 appended cars/a', 'b1 created streams/b1'])
  expect((await mustReadStream(store, 'streams/b1')).events[0]?.input).toMatchObject({ text: '{"n":"b1"}' })
  const moves = (await mustReadStream(store, 'cars/a')).events.filter(({ name }) => name === 'Move')
  expect(moves.map(({ input }) => input?.text)).toEqual(['{"n":"a1"}', '{"n":"a2"}'])
  await inbox.put({ id: 'a1', key: 'a', data: {} })
  expect(await run(handler)).toEqual({ done: 0, duplicates: 1, dead: 0 })
})

test('a handler can want nothing, fail, put a record off, or return what is no operation', async () => {
  const { store, run, letters } = await world('none', 'fails', 'later', 'wrong', 'unknown')
  let tries = 0
  const handler = (({ id }) => {
    if (id === 'none') return undefined
    if (id === 'fails') throw new TypeError('cannot')
    if (id === 'later') return ++tries < 2 ? transient('not yet') : { do: 'init', stream: 's/later', root: 'A' }
    return id === 'wrong' ? { do: 'init', stream: 's/wrong', colour: 'red' } : 'text'
  }) as RecordHandler
  expect(await run(handler)).toEqual({ done: 2, duplicates: 0, dead: 3 })
  expect(await readStream(store, 's/later')).toBeDefined()
  const found = (await letters()).map(({ id, code, why }) => `${id} ${code} ${why}`).sort()
  expect(found).toEqual([
    'fails failed TypeError: cannot',
    expect.stringContaining('unknown invalid-value the operation is an object'),
    expect.stringContaining('wrong invalid-value the operation.colour'),
  ])
})

test('a refusal makes a dead letter, unless the operation ignores it', async () => {
  const { store, run, letters } = await world('x', 'y')
  const handler: RecordHandler = ({ id }) => ({
    ...{ do: 'append', stream: 'plain', step: { name: 'A' } },
    ...(id === 'y' && { ifRefused: 'ignore' }),
  })
  await createStream(store, 'plain', { by: 'shop' }, { root: 'R' })
  expect(await run(handler)).toEqual({ done: 1, duplicates: 0, dead: 1 })
  expect(await letters()).toMatchObject([{ id: 'x', code: 'no-session', stream: 'plain' }])
})

test('a drain of another kind is refused unless forced, and so are an unknown inbox and wrong options', async () => {
  const { store, run } = await world('a')
  const handler: RecordHandler = ({ id }) => ({ do: 'init', stream: `s/${id}`, root: 'A' })
  await run(handler, { as: 'orders' })
  await expect(run(handler, { as: 'invoices' })).rejects.toThrow('the inbox orders is drained to orders, since shop')
  await expect(run(handler, { as: 'invoices', force: true })).resolves.toMatchObject({ dead: 0 })
  await expect(drain(store, 'none', handler)).rejects.toMatchObject({ code: 'inbox-not-found' })
  await expect(run(handler, { rate: 0 })).rejects.toThrow('rate is a whole number from 1')
  await expect(run(handler, { partition: { index: 0, count: 3 } })).rejects.toThrow('cannot be divided by 3')
  await expect(drain(store, 'orders', 'x' as unknown as RecordHandler)).rejects.toThrow('handler')
})

test('in strict order a dead letter blocks its key', async () => {
  const { store, run, letters } = await world('a1', 'a2', 'b1')
  const handler: RecordHandler = ({ id }) => {
    if (id === 'a1') throw new Error('no')
    return { do: 'init', stream: `s/${id}`, root: 'A' }
  }
  expect(await run(handler, { strictOrder: true })).toEqual({ done: 1, duplicates: 0, dead: 2 })
  expect((await letters()).map(({ id, code }) => `${id} ${code}`)).toEqual(['a1 failed', 'a2 blocked'])
  expect(await readStream(store, 's/a2')).toBeUndefined()
})

test('the signal ends a drain after the records being worked on', async () => {
  const { store, run } = await world('a', 'b')
  const stop = new AbortController()
  const handler: RecordHandler = async ({ id }) => {
    stop.abort()
    await signal(store, `s/${id}`, 'x', { by: 'shop', commandId: 'c' })
    return { do: 'init', stream: `s/${id}`, root: 'A' }
  }
  const { done } = await run(handler, { once: false, signal: stop.signal })
  expect(done).toBeGreaterThan(0)
})

test('an operation on a stream that is not there is a dead letter at once', async () => {
  const { run, letters } = await world('a1', 'b1')
  const handler: RecordHandler = ({ id }) =>
    id === 'a1'
      ? { do: 'signal', stream: 'orders/nix', name: 'paid' }
      : { do: 'append', stream: 'cars/nix', step: { name: 'Move' } }
  expect(await run(handler)).toEqual({ done: 0, duplicates: 0, dead: 2 })
  expect((await letters()).map(({ code, why }) => `${code}: ${why}`).sort()).toEqual([
    'stream-not-found: there is no stream cars/nix',
    'stream-not-found: there is no stream orders/nix',
  ])
})
