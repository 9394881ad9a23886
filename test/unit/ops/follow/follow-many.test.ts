import { describe, expect, it } from 'vitest'
import { globOf } from '../../../../src/ops/glob.ts'
import type { StreamSnapshot, StreamStore } from '../../../../src/store/store.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { HOLDER, init, memoryStore, run, writeForeign } from '../support.ts'
import { EVERYTHING, following, probe, toldOfMany, withoutSummary } from '../watch/support.ts'

const done: Operation = { op: 'complete', event: '01.00' }
const tagged = (tag: string): Operation => ({ op: 'set', event: '00', attributes: { tag } })
const reborn = (born: string): Operation => ({ ...init(['A']), born }) as Operation
const none = () => undefined

/** Streams `a`, `b` and so on, a second apart, each with its `init`. */
async function streams(...names: string[]) {
  const { store, advance } = memoryStore()
  for (const name of names) {
    await run(store, name, init(['A', 'B']))
    advance(1_000)
  }
  return { ...probe(store), inner: store, advance }
}

describe('a transaction', () => {
  it('is reported once and in time order, whatever the order of names; unchanged streams are not read', async () => {
    const { store, inner, reads, advance } = await streams('a', 'b', 'c')
    const items = await following(store, EVERYTHING, [
      none,
      async () => {
        for (const name of ['b', 'a', 'b']) {
          advance(1_000)
          await run(inner, name, tagged(`${name}`.repeat(reads.length + 1)))
          await run(inner, name, tagged('x'))
        }
      },
      none,
      () => run(inner, 'c', done),
    ])
    expect(toldOfMany(items)).toEqual([
      ...['b 2 set', 'b 3 set', 'a 2 set', 'a 3 set', 'b 4 set', 'b 5 set'],
      'c 2 complete',
    ])
    expect(reads).toEqual(['a', 'b', 'c'])
  })

  it('at the same time as others is ordered by stream and version', async () => {
    const { store, inner } = await streams('a', 'b')
    const steps = [
      async () => {
        for (const name of ['b', 'a']) for (const tag of ['x', 'y']) await run(inner, name, tagged(tag))
      },
    ]
    expect(toldOfMany(await following(store, EVERYTHING, steps))).toEqual(['a 2 set', 'a 3 set', 'b 2 set', 'b 3 set'])
  })

  it('between listing and reading is reported once', async () => {
    const { store, inner } = await streams('a')
    const racing: StreamStore = new Proxy(store, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key)
        if (key !== 'read') return typeof value === 'function' ? value.bind(target) : value
        return async (name: string) => {
          await run(inner, name, tagged(crypto.randomUUID()))
          return target.read(name)
        }
      },
    })
    const items = await following(racing, EVERYTHING, [() => run(inner, 'a', tagged('x')), none, none])
    expect(toldOfMany(items)).toEqual(['a 2 set', 'a 3 set'])
  })

  it('on a new stream is reported from its beginning', async () => {
    const { store, inner } = await streams('a')
    const steps = [
      async () => {
        await run(inner, 'new', init(['A', 'B']))
        await run(inner, 'new', done)
      },
    ]
    expect(toldOfMany(await following(store, EVERYTHING, steps))).toEqual(['new 1 init', 'new 2 complete'])
  })

  it('on a stream is reported from when the stream matches, including the one that makes it leave', async () => {
    const { store, inner } = await streams('a', 'b')
    await run(inner, 'b', tagged('x'))
    const failed = { kind: 'filter', filter: { failed: true } } as const
    const fail: Operation = { op: 'fail', event: '01.00', msg: 'no' }
    expect(toldOfMany(await following(store, failed, [() => run(inner, 'b', fail)]))).toEqual(['b 3 fail'])
    const open = { kind: 'filter', filter: { names: globOf('a'), status: ['inprocess'] } } as const
    const cancel: Operation = { op: 'cancel', event: '00' }
    expect(toldOfMany(await following(store, open, [() => run(inner, 'a', cancel)]))).toEqual(['a 2 cancel'])
  })

  it('is needed to read a document: heartbeats are not enough', async () => {
    const { store, inner, reads, advance } = await streams('a')
    await run(inner, 'a', { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 } as Operation)
    const fence = (await inner.read('a'))?.summary?.version ?? 0
    const items = await following(store, EVERYTHING, [
      async () => {
        advance(1_000)
        const etag = (await inner.read('a'))?.etag
        await run(inner, 'a', { op: 'touch', event: '01.00', owner: 'w', fence, claimMs: 60_000 } as Operation)
        expect((await inner.read('a'))?.etag).not.toBe(etag)
      },
    ])
    expect(toldOfMany(items)).toEqual([])
    expect(reads).toEqual([])
  })

  it('by a writer that keeps no journal is reported each time', async () => {
    const { inner } = await streams('a')
    const all = probe(inner)
    all.row = withoutSummary
    const foreign = (from: string, to: string) => () =>
      writeForeign(inner, 'a', `name="A" status="${from}"`, `name="A" status="${to}"`)
    const told = await following(all.store, EVERYTHING, [
      foreign('init', 'completed'),
      none,
      foreign('completed', 'init'),
      foreign('init', 'completed'),
      () => run(inner, 'a', { op: 'complete', event: '02.00' }),
    ])
    expect(toldOfMany(told)).toEqual(['a ? foreign', 'a ? foreign', 'a 2 foreign', 'a 3 complete'])
  })
})

describe('the past', () => {
  it('is requested with --lines, for all streams together; only relevant documents are read', async () => {
    const { store, inner, reads, advance } = await streams('a', 'b', 'c', 'd', 'e')
    advance(60_000)
    await run(inner, 'b', tagged('x'))
    reads.length = 0
    const last = (latest: number) => following(store, EVERYTHING, [], { past: { latest } })
    expect(toldOfMany(await last(1))).toEqual(['b 2 set'])
    expect(new Set(reads).has('b')).toBe(true)
    expect(toldOfMany(await last(3))).toEqual(['d 1 init', 'e 1 init', 'b 2 set'])
    expect(toldOfMany(await last(Number.POSITIVE_INFINITY))).toHaveLength(6)
    expect(toldOfMany(await last(0))).toEqual([])
  })

  it('if short, leaves old streams unread', async () => {
    const names = Array.from({ length: 120 }, (_, at) => `s${String(at).padStart(3, '0')}`)
    const { store, reads } = await streams(...names)
    reads.length = 0
    const items = await following(store, EVERYTHING, [], { past: { latest: 1 } })
    expect(toldOfMany(items)).toEqual(['s119 1 init'])
    expect(reads.length).toBeLessThan(100)
  })

  it('since a time reads only streams modified since', async () => {
    const { store, inner, reads, advance } = await streams('a', 'b')
    advance(3_600_000)
    const sinceMs = inner.nowMs()
    await run(inner, 'b', tagged('x'))
    reads.length = 0
    const past = { latest: Number.POSITIVE_INFINITY, sinceMs }
    expect(toldOfMany(await following(store, EVERYTHING, [], { past }))).toEqual(['b 2 set'])
    expect(reads).toEqual(['b'])
  })

  it('joins the present without a gap or a repetition', async () => {
    const { store, inner } = await streams('a', 'b')
    const items = await following(store, EVERYTHING, [() => run(inner, 'a', done), none], { past: { latest: 1 } })
    expect(toldOfMany(items)).toEqual(['b 1 init', 'a 2 complete'])
  })

  it('counts only requested entries', async () => {
    const { store, inner } = await streams('a', 'b')
    const options = { past: { latest: 1 }, keeps: (stream: string) => stream === 'a' }
    const items = await following(store, EVERYTHING, [() => run(inner, 'b', done)], options)
    expect(toldOfMany(items)).toEqual(['a 1 init'])
  })

  it('alone ends after one poll', async () => {
    const { store } = await streams('a', 'b')
    const past = { latest: Number.POSITIVE_INFINITY }
    const items = await following(store, { kind: 'names', names: ['b', 'nix'] }, [none, none], {
      past,
      intervalMs: undefined as never,
    })
    expect(toldOfMany(items)).toEqual(['missing nix', 'b 1 init'])
    expect(items.filter(({ kind }) => kind === 'polled')).toEqual([{ kind: 'polled', streams: 1 }])
  })
})

describe('an outage', () => {
  it('of the listing leaves no gap', async () => {
    const { store, inner, fails } = await streams('a')
    const items = await following(store, EVERYTHING, [
      () => {
        fails.list = 2
      },
      () => run(inner, 'a', done),
    ])
    expect(toldOfMany(items)).toEqual(['interrupted', 'a 2 complete', 'resumed, 0 broken, 0 gone'])
  })

  it('of the documents leaves no gap either, although the watch reports a change once', async () => {
    const { store, inner, fails } = await streams('a', 'b')
    const items = await following(store, EVERYTHING, [
      async () => {
        await run(inner, 'a', done)
        await run(inner, 'b', done)
        fails.read = 3
      },
      ...[none, none, none, none],
    ])
    expect(toldOfMany(items)).toEqual(['interrupted', 'a 2 complete', 'b 2 complete', 'resumed, 0 broken, 0 gone'])
  })

  it('is followed by a report of possible gaps: streams created again, restored or removed', async () => {
    const { store, inner, fails, advance } = await streams('anew', 'back', 'gone')
    const old = await inner.read('back')
    for (const tag of ['x', 'y']) await run(inner, 'back', tagged(tag))
    const putBack = async ({ name, body, summary }: StreamSnapshot) => {
      await inner.remove(name, {})
      if (summary !== undefined) await inner.create(name, body, summary)
    }
    const items = await following(store, EVERYTHING, [
      () => {
        fails.list = 1
      },
      async () => {
        advance(1_000)
        await inner.remove('anew', {})
        await run(inner, 'anew', reborn('b1'))
        if (old !== undefined) await putBack(old)
        await run(inner, 'back', done)
        await inner.remove('gone', {})
      },
    ])
    expect(toldOfMany(items)).toEqual([
      ...['interrupted', 'anew other-life', 'back older-copy'],
      ...['anew 1 init', 'back 2 complete', 'resumed, 2 broken, 1 gone', 'gone gone'],
    ])
  })

  it('at the first poll is an error', async () => {
    const first = await streams('a')
    first.fails.list = 1
    await expect(following(first.store, EVERYTHING, [])).rejects.toThrow('nobody answers')
    first.fails.read = 1
    await expect(following(first.store, EVERYTHING, [], { past: { latest: 1 } })).rejects.toThrow('nobody answers')
  })
})

describe('an unreadable document', () => {
  const put = (store: StreamStore, text: string) =>
    store.update('a', ({ summary }) => ({ kind: 'put', body: Buffer.from(text), summary: summary as never }), {
      waitMs: 0,
      holder: HOLDER,
    })

  it('is reported once for each state; the others continue, and none of its entries is missing later', async () => {
    const { store, inner } = await streams('a', 'b')
    const unread = probe(store)
    unread.row = withoutSummary
    await run(inner, 'a', done)
    const good = Buffer.from((await inner.read('a'))?.body ?? []).toString()
    const items = await following(unread.store, EVERYTHING, [
      () => put(inner, '<broken'),
      () => run(inner, 'b', tagged('x')),
      () => put(inner, '<broken still'),
      () => put(inner, good.replace('</EventStream>', ' </EventStream>')),
      () => run(inner, 'b', done),
    ])
    expect(toldOfMany(items)).toEqual(['a unreadable', 'b 2 set', 'a unreadable', 'b 3 complete'])
  })

  it('is reported at the beginning, within the requested past', async () => {
    const { store, inner } = await streams('a', 'b')
    await put(inner, '<broken')
    const items = await following(store, EVERYTHING, [], { past: { latest: 5 } })
    expect(toldOfMany(items)).toEqual(['a unreadable', 'b 1 init'])
    const unread = probe(store)
    unread.row = withoutSummary
    expect(toldOfMany(await following(unread.store, EVERYTHING, []))).toEqual(['a unreadable'])
  })
})

it('a removed stream is reported, and its name begins again', async () => {
  const { store, inner } = await streams('a')
  const items = await following(store, EVERYTHING, [() => inner.remove('a', {}), () => run(inner, 'a', reborn('b1'))])
  expect(toldOfMany(items)).toEqual(['gone a', 'a 1 init'])
})

it('a writer that only drops the identity of a stream does not make it another stream', async () => {
  const { store, inner } = await streams('a')
  const unread = probe(store)
  unread.row = withoutSummary
  const items = await following(unread.store, EVERYTHING, [
    () => writeForeign(inner, 'a', ' lc:born="b0"', ''),
    () => run(inner, 'a', tagged('x')),
  ])
  expect(toldOfMany(items)).toEqual(['a 2 set'])
})

it('a follow that is stopped during a poll ends without an error', async () => {
  const { store, inner } = await streams('a')
  const controller = new AbortController()
  const stopping: StreamStore = new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (key !== 'read') return typeof value === 'function' ? value.bind(target) : value
      return async () => {
        controller.abort()
        throw new DOMException('stopped', 'AbortError')
      }
    },
  })
  const items = await following(stopping, EVERYTHING, [() => run(inner, 'a', done)], { signal: controller.signal })
  expect(toldOfMany(items)).toEqual([])
})
