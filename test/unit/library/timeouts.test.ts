import { expect, test } from 'vitest'
import { changeStream, createStream, mustReadStream, transact } from '../../../src/library/streams.ts'
import { advance, worker } from '../../../src/library/worker.ts'
import { storeWith } from './support.ts'

const BY = { by: 'shop' }

const GIVEN: readonly (readonly [string | Date, string])[] = [
  ['2h', '02:00:00'],
  ['30s', '00:00:30'],
  ['1h30m', '01:30:00'],
  ['2d', '2.00:00:00'],
  ['PT5M', '00:05:00'],
  ['00:05:00', '00:05:00'],
  ['1.02:00:00', '1.02:00:00'],
  ['2026-11-20T14:00:00+01:00', '2026-11-20T13:00:00.000Z'],
  [new Date('2026-11-20T13:00:00Z'), '2026-11-20T13:00:00.000Z'],
]

test.each(GIVEN)(
  'a timeout of %s is written in the form that all readers understand, in whatever way it is given',
  async (timeout, wire) => {
    const { store } = await storeWith()
    const spec = { name: 'Search', timeout }
    await createStream(store, 't', BY, { root: spec, forks: [spec], join: spec })
    await changeStream(store, 's', BY, stream => {
      stream
        .mustFind('02.00')
        .set({ timeout })
        .advance({ next: spec, forks: [spec], join: spec })
    })
    const raw = { op: 'set', event: '00', attributes: { timeout } }
    await transact(store, 's', raw as never, BY)
    await worker(store, { name: 'Search', match: 's', until: 'once' }, () => advance({ next: spec }))
    const [s, t] = [await mustReadStream(store, 's'), await mustReadStream(store, 't')]
    expect(t.events.map(event => event.timeout)).toEqual([wire, wire, wire])
    const others = new Set(['01.00', '01'])
    expect(
      s.events.filter(({ id, name }) => name === 'Search' && !others.has(id)).map(event => event.timeout),
    ).not.toContain('')
    expect(new Set(s.events.map(event => event.timeout))).toEqual(new Set(['', wire]))
  },
)

test('a timeout given in the form that people type ends at the right time', async () => {
  const { store } = await storeWith({ forks: [{ name: 'Search', timeout: '2h' }] })
  await changeStream(store, 's', BY, stream => void stream.mustFind('01.00').start({ owner: 'w' }))
  const search = (await mustReadStream(store, 's')).mustFind('01.00')
  expect((search.dueMs ?? 0) - (search.touchedMs ?? 0)).toBe(2 * 3_600_000)
})

test('an empty timeout is none, and removes one', async () => {
  const { store } = await storeWith({
    forks: [
      { name: 'Search', timeout: '' },
      { name: 'Pay', timeout: '2h' },
    ],
  })
  await changeStream(store, 's', BY, stream => void stream.mustFind('02.00').set({ timeout: '' }))
  const stream = await mustReadStream(store, 's')
  expect(stream.events.map(event => event.timeout)).toEqual(['', '', ''])
})
