import { describe, expect, test } from 'vitest'
import { type CopyOptions, copyInto } from '../../../src/ops/copy.ts'
import { readStream } from '../../../src/ops/read-stream.ts'
import { StoreClosed, StoreUnreachable } from '../../../src/store/errors.ts'
import type { CreateOutcome, StreamStore } from '../../../src/store/store.ts'
import { BORN, Play } from '../../support/stream-builder.ts'
import { storeWith } from '../commands/store-with.ts'
import { HOLDER, init, intercept, memoryStore, run, writeForeign } from './support.ts'

const OPTIONS: CopyOptions = { existing: 'refuse', holder: HOLDER, leaseWaitMs: 0 }
const bytes = (text: string) => Buffer.from(text)

/** A document and a later state of the same stream. */
function twoStates() {
  const play = Play.started('A', 'B')
  const older = bytes(play.text)
  const newer = bytes(play.after({ op: 'start', event: '01.00' }).text)
  return { older, newer }
}

const etagOf = async (store: StreamStore, name: string) => (await store.read(name))?.etag
const bodyOf = async (store: StreamStore, name: string) => Buffer.from((await store.read(name))?.body ?? []).toString()

/** A store that gives another answer to creates. */
function creating(
  store: StreamStore,
  answer: (go: () => Promise<CreateOutcome>) => Promise<CreateOutcome>,
): StreamStore {
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      const bound = value.bind(target)
      return property === 'create' ? (...args: unknown[]) => answer(() => bound(...args)) : bound
    },
  })
}

test('the bytes arrive unchanged, with a summary that listings can use', async () => {
  const { store } = memoryStore()
  const { newer } = twoStates()
  expect(await copyInto(store, 's', newer, OPTIONS)).toEqual({ kind: 'created', version: 2 })
  const stored = await store.read('s')
  expect(Buffer.from(stored?.body ?? []).equals(newer)).toBe(true)
  expect(stored?.summary).toMatchObject({ version: 2, status: 'inprocess', open: 3, total: 3, lastBy: 'tester' })
})

test('the copied stream can be worked on', async () => {
  const { store } = memoryStore()
  await copyInto(store, 's', twoStates().newer, OPTIONS)
  expect(await run(store, 's', { op: 'complete', event: '01.00', owner: 'w1' })).toMatchObject({ kind: 'done' })
  expect((await readStream(store, 's'))?.transactions().map(({ version }) => version)).toEqual([1, 2, 3])
})

test('an unreadable document is refused, and nothing is written', async () => {
  const { store } = memoryStore()
  await expect(copyInto(store, 's', bytes('<EventStream><Event'), OPTIONS)).rejects.toMatchObject({
    code: 'bad-document',
    stream: 's',
  })
  expect(await store.read('s')).toBeUndefined()
})

describe('if the name exists', () => {
  test('the same bytes count as done, whatever the mode', async () => {
    const { store } = memoryStore()
    const { newer } = twoStates()
    await copyInto(store, 's', newer, OPTIONS)
    const before = await etagOf(store, 's')
    for (const existing of ['refuse', 'skip', { replace: undefined }, { replace: before }] as const) {
      expect(await copyInto(store, 's', newer, { ...OPTIONS, existing })).toEqual({ kind: 'already', version: 2 })
    }
    expect(await etagOf(store, 's')).toBe(before)
  })

  test.each([
    ['refuse', 'exists'],
    ['skip', 'skipped'],
    [{ replace: undefined }, 'changed'],
    [{ replace: 'another etag' }, 'changed'],
  ] as const)('with %j another document is kept: %s', async (existing, kind) => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', older, OPTIONS)
    expect(await copyInto(store, 's', newer, { ...OPTIONS, existing })).toMatchObject({ kind })
    expect(await bodyOf(store, 's')).toBe(older.toString())
  })

  test('the document is replaced if it is as inspected', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', older, OPTIONS)
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(store, 's', newer, { ...OPTIONS, existing })).toEqual({ kind: 'replaced', version: 2 })
    expect(await bodyOf(store, 's')).toBe(newer.toString())
    expect((await store.read('s'))?.summary?.version).toBe(2)
  })

  test('an earlier state of the same stream never replaces a later one', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', newer, OPTIONS)
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(store, 's', older, { ...OPTIONS, existing })).toEqual({ kind: 'older', version: 1, found: 2 })
    expect(await bodyOf(store, 's')).toBe(newer.toString())
  })

  test('nor if a foreign writer removed the version: fences and the summary still show it', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', newer, OPTIONS)
    await writeForeign(store, 's', ' lc:v="2"', '')
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(store, 's', older, { ...OPTIONS, existing })).toMatchObject({ kind: 'older', found: 2 })
  })

  test('another incarnation of the stream may be replaced at any version', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', newer, OPTIONS)
    const other = bytes(older.toString().replace(/lc:born="[^"]*"/, 'lc:born="b2"'))
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(store, 's', other, { ...OPTIONS, existing })).toEqual({ kind: 'replaced', version: 1 })
  })

  test('an unreadable document is not overwritten', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', older, OPTIONS)
    await writeForeign(store, 's', '</EventStream>', '')
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(store, 's', newer, { ...OPTIONS, existing })).toMatchObject({ kind: 'unreadable' })
    expect(await bodyOf(store, 's')).not.toContain('</EventStream>')
  })

  test('the copy waits for the lease of another, no longer than its limit', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', older, OPTIONS)
    const leaseId = '11111111-1111-4111-8111-111111111111'
    await store.acquireLease('s', { leaseId, durationS: 60, holder: HOLDER })
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(store, 's', newer, { ...OPTIONS, existing })).toMatchObject({ kind: 'held' })
    expect(await bodyOf(store, 's')).toBe(older.toString())
  })
})

describe('a lost answer', () => {
  const lost: CreateOutcome = { kind: 'unknown', cause: new Error('no answer') }

  test('of a create that landed is resolved by its bytes', async () => {
    const { store } = memoryStore()
    const { newer } = twoStates()
    const losing = creating(store, async go => {
      await go()
      return lost
    })
    expect(await copyInto(losing, 's', newer, OPTIONS)).toEqual({ kind: 'created', version: 2 })
  })

  test('of a create that did not land leads to a retry', async () => {
    const { store } = memoryStore()
    let tries = 0
    const losing = creating(store, go => (++tries === 1 ? Promise.resolve(lost) : go()))
    expect(await copyInto(losing, 's', twoStates().newer, OPTIONS)).toMatchObject({ kind: 'created' })
    expect(tries).toBe(2)
  })

  test('remains unknown if no read resolves it before the deadline', async () => {
    const { store } = memoryStore()
    const dark: StreamStore = new Proxy(
      creating(store, async () => lost),
      {
        get(target, property) {
          if (property === 'read') return async () => Promise.reject(new StoreUnreachable('gone'))
          return Reflect.get(target, property, target)
        },
      },
    )
    const outcome = await copyInto(dark, 's', twoStates().newer, { ...OPTIONS, deadlineMs: 1 })
    expect(outcome).toMatchObject({ kind: 'unknown' })
  })

  test('of a replacement that landed is resolved by its bytes', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', older, OPTIONS)
    const losing = intercept(store, async (_name, decide, go) => {
      await go(decide)
      return go(decide)
    })
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(losing, 's', newer, { ...OPTIONS, existing })).toEqual({ kind: 'replaced', version: 2 })
  })

  test('of a replacement followed by another write is unknown, and that write is not overwritten', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', older, OPTIONS)
    const losing = intercept(store, async (_name, decide, go) => {
      await go(decide)
      await run(store, 's', { op: 'set', event: '02.00', attributes: { tag: 'x' } })
      return go(decide)
    })
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(losing, 's', newer, { ...OPTIONS, existing })).toMatchObject({ kind: 'unknown' })
    expect(await bodyOf(store, 's')).toContain('tag="x"')
  })

  test('of a replacement is unknown too if the driver knows only the last decision', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', older, OPTIONS)
    const existing = { replace: await etagOf(store, 's') }
    const losing = intercept(store, async (_name, decide) => {
      const before = await store.read('s')
      if (before !== undefined) decide(before, store.nowMs())
      await run(store, 's', { op: 'set', event: '02.00', attributes: { tag: 'x' } })
      const after = await store.read('s')
      if (after !== undefined) expect(decide(after, store.nowMs())).toEqual({ kind: 'leave' })
      return { kind: 'committed', etag: after?.etag ?? '' }
    })
    expect(await copyInto(losing, 's', newer, { ...OPTIONS, existing })).toMatchObject({ kind: 'unknown' })
  })
})

test('a replacement that was decided but never written does not count: the next attempt is judged by the present document', async () => {
  const { store } = memoryStore()
  const { older, newer } = twoStates()
  await copyInto(store, 's', older, OPTIONS)
  const slow = intercept(store, async (_name, decide, go) => {
    const seen = await store.read('s')
    const decision = seen && decide(seen, store.nowMs())
    if (decision?.kind !== 'put') throw new Error('there was something to write')
    decision.discard?.()
    return go(decide)
  })
  const existing = { replace: await etagOf(store, 's') }
  expect(await copyInto(slow, 's', newer, { ...OPTIONS, existing })).toEqual({ kind: 'replaced', version: 2 })
  expect(await bodyOf(store, 's')).toBe(newer.toString())
})

describe('a create without an answer that finds another document', () => {
  const silence: CreateOutcome = { kind: 'unknown', cause: new Error('no answer') }
  const claim = { op: 'start', event: '02.00', owner: 'w1', claimMs: 60_000 } as const
  const beat = { op: 'touch', event: '01.00', owner: 'w1', claimMs: 60_000 } as const

  /** The create is applied, and another action follows before its answer is missed. */
  function landing(store: StreamStore, then: () => Promise<unknown>): StreamStore {
    return creating(store, async go => {
      await go()
      await then()
      return silence
    })
  }

  /** The first create does not arrive, or only its answer, that the name exists, is lost. */
  const vain = (store: StreamStore) => creating(store, async () => silence)

  /** A state at version 2 in which a worker holds a claim. */
  function claimed(): Buffer {
    const play = Play.started('A', 'B')
    return bytes(play.after({ op: 'start', event: '01.00', owner: 'w1', claimMs: 60_000 }).text)
  }

  const foreign = bytes('<EventStream><Event id="00" name="Start" status="init"/></EventStream>')

  test.each(['refuse', 'skip', { replace: undefined }, { replace: 'another etag' }] as const)(
    'with %j is unknown if that document may be based on ours',
    async existing => {
      const { store } = memoryStore()
      const worked = landing(store, () => run(store, 's', claim))
      const outcome = await copyInto(worked, 's', claimed(), { ...OPTIONS, existing })
      expect(outcome).toEqual(silence)
      expect((await readStream(store, 's'))?.document.version).toBe(3)
    },
  )

  test.each([
    ['a heartbeat, which does not raise the version', claimed(), (store: StreamStore) => run(store, 's', beat)],
    [
      'a foreign writer that removed incarnation id and version',
      claimed(),
      (store: StreamStore) => writeForeign(store, 's', ' lc:v="2"', '').then(() => withoutBorn(store)),
    ],
    ['a writer that broke it', claimed(), (store: StreamStore) => writeForeign(store, 's', '</EventStream>', '')],
    ['a worker that gave it an id', foreign, (store: StreamStore) => run(store, 's', { op: 'complete', event: '00' })],
  ] as const)('is unknown too after %s', async (_, body, then) => {
    const { store } = memoryStore()
    const before = await copyInto(
      landing(store, () => then(store)),
      's',
      body,
      OPTIONS,
    )
    expect(before).toEqual(silence)
    expect(await bodyOf(store, 's')).not.toBe(body.toString())
  })

  test('is not unknown if that document is another incarnation', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A'], 'b9'))
    expect(await copyInto(vain(store), 's', claimed(), OPTIONS)).toEqual({ kind: 'exists' })
    const skipping = { ...OPTIONS, existing: 'skip' } as const
    expect(await copyInto(vain(store), 's', claimed(), skipping)).toEqual({ kind: 'skipped' })
  })

  test('is not unknown if that is an earlier state of the same stream: versions never decrease', async () => {
    const { store } = memoryStore()
    const { older, newer } = twoStates()
    await copyInto(store, 's', older, OPTIONS)
    expect(await copyInto(vain(store), 's', newer, OPTIONS)).toEqual({ kind: 'exists' })
  })

  test('replaces the document it inspected before, as after an answer', async () => {
    const { store } = memoryStore()
    const completed = bytes(Play.started('A', 'B').after({ op: 'complete', event: '02.00' }).text)
    await copyInto(store, 's', claimed(), OPTIONS)
    const existing = { replace: await etagOf(store, 's') }
    expect(await copyInto(vain(store), 's', completed, { ...OPTIONS, existing })).toEqual({
      kind: 'replaced',
      version: 2,
    })
  })

  const withoutBorn = (store: StreamStore) => writeForeign(store, 's', ` lc:born="${BORN}"`, '')
})

test.each([
  ['a copy', (store: StreamStore) => copyInto(store, 's', twoStates().newer, OPTIONS)],
  ['a create', (store: StreamStore) => run(store, 's', init())],
])(
  '%s without an answer is unknown at once when the store is closed, because no answer can follow',
  async (_, make) => {
    let asked = 0
    const isClosed = async () => {
      asked += 1
      throw new StoreClosed('the store was closed')
    }
    const create = async () => ({ kind: 'unknown', cause: 'cut' }) as const
    const closed = storeWith(memoryStore().store, { create, read: isClosed, update: isClosed })
    expect((await make(closed)).kind).toBe('unknown')
    expect(asked).toBe(1)
  },
)
