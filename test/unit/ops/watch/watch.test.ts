import { describe, expect, it } from 'vitest'
import { globOf } from '../../../../src/ops/glob.ts'
import type { Selection } from '../../../../src/ops/selection.ts'
import { watch } from '../../../../src/ops/watch/watch.ts'
import { StoreFull } from '../../../../src/store/errors.ts'
import { HOLDER, init, memoryStore, NOW, run } from '../support.ts'
import { EVERYTHING, probe, told, watching, withoutSummary } from './support.ts'

const named = (...names: string[]): Selection => ({ kind: 'names', names })

describe('watch', () => {
  it('yields all streams at the first poll, then only changed and new ones', async () => {
    const { store } = memoryStore()
    for (const name of ['a', 'b', 'c']) await run(store, name, init())
    const items = await watching(store, EVERYTHING, [
      () => undefined,
      () => run(store, 'b', { op: 'complete', event: '00' }),
      () => run(store, 'd', init()),
    ])
    expect(told(items)).toEqual(['moved a b c', 'polled', 'polled', 'moved b', 'polled', 'moved d', 'polled'])
    expect(items.filter(item => item.kind === 'polled').map(item => item.first)).toEqual([true, false, false, false])
  })

  it('costs one listing per poll and no document, if the summaries are valid', async () => {
    const { store, listings, reads } = probe(memoryStore().store)
    for (const name of ['a', 'b']) await run(store, name, init())
    reads.length = 0
    await watching(store, EVERYTHING, [() => undefined, () => run(store, 'a', { op: 'complete', event: '00' })])
    expect(listings).toHaveLength(3)
    expect(reads).toEqual([])
  })

  it('reads a document without a summary only when it changes', async () => {
    const inner = memoryStore().store
    const found = probe(inner)
    found.row = withoutSummary
    await run(inner, 'a', init())
    const items = await watching(found.store, EVERYTHING, [
      () => undefined,
      () => undefined,
      () => run(inner, 'a', { op: 'complete', event: '00' }),
    ])
    expect(found.reads).toEqual(['a', 'a'])
    const summaries = items.flatMap(item => (item.kind === 'moved' ? item.streams.map(({ summary }) => summary) : []))
    expect(summaries.map(summary => summary?.status)).toEqual(['inprocess', 'completed'])
  })

  it('reports the previous state of a stream, inside the selection or not', async () => {
    const { store } = memoryStore()
    await run(store, 'a', init())
    const done: Selection = { kind: 'filter', filter: { status: ['completed'] } }
    const items = await watching(store, done, [
      () => run(store, 'b', init([], 'b1')),
      () => run(store, 'a', { op: 'complete', event: '00' }),
      () => run(store, 'b', { op: 'complete', event: '00' }),
    ])
    const moved = items.flatMap(item => (item.kind === 'moved' ? item.streams : []))
    expect(moved.map(({ listed, before }) => [listed.name, before])).toEqual([
      ['a', { version: 1, born: 'b0', modifiedMs: NOW }],
      ['b', { version: 1, born: 'b1', modifiedMs: NOW }],
    ])
  })

  it('continues with a stream that no longer passes the filter', async () => {
    const { store } = memoryStore()
    const tag = (text: string) => run(store, 'a', { op: 'set', event: '00', attributes: { tag: text } })
    await run(store, 'a', init())
    await tag('x')
    const filter = { kind: 'filter', filter: { tag: ['x'] } } as const
    const items = await watching(store, filter, [() => tag('y'), () => tag('z')])
    expect(told(items)).toEqual(['moved a', 'polled', 'moved a', 'polled', 'moved a', 'polled'])
  })

  it('includes a stream that begins to pass without a change: by time or by its lease', async () => {
    const { store, advance } = memoryStore()
    await run(store, 'late', { ...init(), root: { name: 'Start', timeout: '00:01:00' } } as never)
    const late = await watching(store, { kind: 'filter', filter: { overdue: true } }, [() => advance(61_000)])
    expect(told(late)).toEqual(['polled', 'moved late', 'polled'])

    const hold = () => store.acquireLease('late', { leaseId: crypto.randomUUID(), durationS: 60, holder: HOLDER })
    const held = await watching(store, { kind: 'filter', filter: { locked: true } }, [() => undefined, hold])
    expect(told(held)).toEqual(['polled', 'polled', 'moved late', 'polled'])
  })

  it('includes by time a stream without a valid summary, and reads it once for that', async () => {
    const { store: inner, advance } = memoryStore()
    const found = probe(inner)
    found.row = withoutSummary
    await run(inner, 'late', { ...init(), root: { name: 'Start', timeout: '00:01:00' } } as never)
    const steps = [() => undefined, () => advance(61_000), () => undefined]
    const items = await watching(found.store, { kind: 'filter', filter: { overdue: true } }, steps)
    expect(told(items)).toEqual(['polled', 'polled', 'moved late', 'polled', 'polled'])
    expect(found.reads).toEqual(['late', 'late'])
  })

  it('reports a removed stream, and treats its return as a new stream', async () => {
    const { store } = memoryStore()
    await run(store, 'a', init())
    const items = await watching(store, EVERYTHING, [
      () => store.remove('a', {}),
      () => undefined,
      () => run(store, 'a', init()),
    ])
    expect(told(items)).toEqual(['moved a', 'polled', 'gone a', 'polled', 'polled', 'moved a', 'polled'])
    const last = items.findLast(item => item.kind === 'moved')
    expect(last?.kind === 'moved' && last.streams[0]?.before).toBeUndefined()
  })

  it('omits streams outside the selection that are removed or change', async () => {
    const { store } = memoryStore()
    for (const name of ['in/a', 'out']) await run(store, name, init())
    const items = await watching(store, { kind: 'filter', filter: { names: globOf('in/*') } }, [
      () => run(store, 'out', { op: 'complete', event: '00' }),
      () => store.remove('out', {}),
    ])
    expect(told(items)).toEqual(['moved in/a', 'polled', 'polled', 'polled'])
    const failed = await watching(store, { kind: 'filter', filter: { failed: true } }, [() => store.remove('in/a', {})])
    expect(told(failed)).toEqual(['polled', 'polled'])
  })

  it('yields an unreadable document with its error, and keeps its previous state', async () => {
    const { store } = memoryStore()
    const found = probe(store)
    await run(store, 'a', init())
    const put = (text: string) =>
      store.update('a', ({ summary }) => ({ kind: 'put', body: Buffer.from(text), summary: summary as never }), {
        waitMs: 0,
        holder: HOLDER,
      })
    const good = Buffer.from((await store.read('a'))?.body ?? []).toString()
    const items = await watching(found.store, EVERYTHING, [
      async () => {
        found.row = withoutSummary
        await put('<broken')
      },
      () => put(`${good} `),
    ])
    const moved = items.flatMap(item => (item.kind === 'moved' ? item.streams : []))
    expect(moved.map(({ fault }) => fault?.code)).toEqual([undefined, 'bad-document', undefined])
    expect(moved.map(({ before }) => before?.version)).toEqual([undefined, 1, 1])
  })
})

describe('watch of names', () => {
  it('reads a few names one by one, and reports which of them are missing', async () => {
    const { store, listings } = probe(memoryStore().store)
    for (const name of ['a', 'ab', 'b']) await run(store, name, init())
    const items = await watching(store, named('b', 'nix', 'a', 'b'), [
      () => store.remove('a', {}),
      () => run(store, 'nix', init()),
    ])
    expect(told(items)).toEqual([
      ...['moved a b', 'looked, missing nix'],
      ...['gone a', 'looked, missing nix a'],
      ...['moved nix', 'looked, missing a'],
    ])
    expect(listings.slice(0, 3).map(({ prefix, limit }) => [prefix, limit])).toEqual([
      ['a', 1],
      ['b', 1],
      ['nix', 1],
    ])
  })

  it('lists many names at once, from the first to the last', async () => {
    const { store, listings } = probe(memoryStore().store)
    const names = Array.from({ length: 12 }, (_, at) => `orders/${at + 10}`)
    for (const name of ['orders', 'orders/0', 'orders/15a', 'orders/99', 'zoo', ...names])
      await run(store, name, init())
    const steps = [() => run(store, 'orders/21', { op: 'complete', event: '00' }), () => store.remove('orders/10', {})]
    const items = await watching(store, { kind: 'list', names: [...names, 'orders/nix'] }, steps)
    expect(told(items).filter(text => !text.startsWith('moved'))).toEqual([
      'looked, missing orders/nix',
      'looked, missing orders/nix',
      'gone orders/10',
      'looked, missing orders/10 orders/nix',
    ])
    const moved = items.flatMap(item => (item.kind === 'moved' ? item.streams.map(({ listed }) => listed.name) : []))
    expect(moved).toEqual([...names, 'orders/21'])
    expect(listings).toHaveLength(3)
    expect(listings[0]).toMatchObject({ prefix: 'orders/', after: 'orders/1' })
  })
})

describe('watch and an outage', () => {
  it('reports it once, continues, and reports the first complete poll', async () => {
    const found = probe(memoryStore().store)
    await run(found.store, 'a', init())
    const items = await watching(found.store, EVERYTHING, [
      () => {
        found.fails.list = 3
      },
      () => run(found.store, 'a', { op: 'complete', event: '00' }),
    ])
    expect(told(items)).toEqual(['moved a', 'polled', 'interrupted', 'moved a', 'resumed', 'polled'])
    expect(found.listings).toHaveLength(5)
  })

  it('yields again the streams it could not read, and not those it has yielded', async () => {
    const found = probe(memoryStore().store)
    const names = Array.from({ length: 12 }, (_, at) => `s${at + 10}`)
    for (const name of names) await run(found.store, name, init())
    // the ninth and later ones have to be read, which fails
    found.row = listed => (listed.name > 's17' ? withoutSummary(listed) : listed)
    found.fails.read = 4
    const items = await watching(found.store, EVERYTHING, [() => undefined])
    expect(told(items)).toEqual([
      `moved ${names.slice(0, 8).join(' ')}`,
      'interrupted',
      `moved ${names.slice(8).join(' ')}`,
      'resumed',
      'polled',
    ])
  })

  it('does not treat streams that an interrupted poll did not reach as gone', async () => {
    const found = probe(memoryStore().store)
    for (const name of ['a', 'b']) await run(found.store, name, init())
    const items = await watching(found.store, EVERYTHING, [
      () => {
        found.fails.list = 1
      },
      () => undefined,
    ])
    expect(told(items)).toEqual(['moved a b', 'polled', 'interrupted', 'resumed', 'polled'])
  })

  it('throws other errors, and every error if a single poll is requested', async () => {
    const found = probe(memoryStore().store)
    found.row = () => {
      throw new StoreFull('no room')
    }
    await run(found.store, 'a', init())
    await expect(watching(found.store, EVERYTHING, [])).rejects.toThrow('no room')
    found.fails.list = 1
    const once = async () => Array.fromAsync(watch(found.store, EVERYTHING, { intervalMs: 0, once: true }))
    await expect(once()).rejects.toThrow('nobody answers')
  })

  it('ends without an error when it is stopped during a poll', async () => {
    const controller = new AbortController()
    const found = probe(memoryStore().store)
    await run(found.store, 'a', init())
    found.row = () => {
      controller.abort()
      throw new DOMException('stopped', 'AbortError')
    }
    const items = await Array.fromAsync(watch(found.store, EVERYTHING, { intervalMs: 0, signal: controller.signal }))
    expect(items).toEqual([])
  })
})

it('a single poll ends after one poll', async () => {
  const { store } = memoryStore()
  await run(store, 'a', init())
  const items = await Array.fromAsync(watch(store, named('a', 'b'), { intervalMs: 0, once: true }))
  expect(told(items)).toEqual(['moved a', 'looked, missing b'])
})
