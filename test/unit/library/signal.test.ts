import { expect, test } from 'vitest'
import { changeStream, createStream, mustReadStream, newData, openStore, readData, signal } from '../../../src/index.ts'

const BY = { by: 'test' }

test('a signal goes to the event that waits for it, with data of any size, and once by a repeated command id', async () => {
  await using store = await openStore('memory:')
  const [first, second] = ['Pay', 'Ship'].map(name => ({ name, signal: 'paid' }))
  await createStream(store, 's', BY, {
    root: { name: 'Order' },
    forks: [first, second].filter(fork => fork !== undefined),
  })
  const data = newData('x'.repeat(10_000))
  for (const kind of ['done', 'done']) {
    expect((await signal(store, 's', 'paid', { ...BY, commandId: 'c1', data })).kind).toBe(kind)
  }
  const stream = await mustReadStream(store, 's')
  expect(stream.ready.map(({ id }) => id)).toEqual(['01.00'])
  const { input } = stream.mustFind('01.00')
  expect(input && (await readData(store, stream, input)).text()).toBe('x'.repeat(10_000))
})

test('a signal that no event waits for is kept with data beside the document, for an event to come', async () => {
  await using store = await openStore('memory:')
  await createStream(store, 's', BY, { root: { name: 'Order' }, forks: ['Pay'] })
  await signal(store, 's', 'paid', { ...BY, data: newData('y'.repeat(10_000)) })
  expect((await mustReadStream(store, 's')).signals).toMatchObject([
    { name: 'paid', by: 'test', data: { size: 10_000 } },
  ])
  await changeStream(store, 's', BY, stream => {
    stream.signal('other', { data: 'z' })
    stream.mustFind('01.00').advance({ next: { name: 'Ship', signal: 'paid' } })
  })
  const stream = await mustReadStream(store, 's')
  expect(stream.signals.map(({ name }) => name)).toEqual(['other'])
  const { input } = stream.mustFind('01.01')
  expect(input && (await readData(store, stream, input)).text()).toBe('y'.repeat(10_000))
})

test('a signal without a name, to an absent stream or a final one is refused', async () => {
  await using store = await openStore('memory:')
  await createStream(store, 's', BY, { root: { name: 'Order' } })
  await expect(signal(store, 's', '', BY)).rejects.toThrow('signalName')
  expect(await signal(store, 'absent', 'paid', BY)).toEqual({ kind: 'missing' })
  await changeStream(store, 's', BY, stream => void stream.cancel())
  expect(await signal(store, 's', 'paid', BY)).toMatchObject({ kind: 'refused', refusal: { code: 'already-final' } })
})
