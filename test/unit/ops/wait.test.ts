import { describe, expect, test } from 'vitest'
import { globOf } from '../../../src/ops/glob.ts'
import type { Selection } from '../../../src/ops/selection.ts'
import { type WaitItem, type WaitTarget, waitFor } from '../../../src/ops/wait.ts'
import { NotPermitted, StoreUnreachable } from '../../../src/store/errors.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { init, memoryStore, run, writeForeign } from './support.ts'

const SUCCESS: WaitTarget = { kind: 'stream', end: 'success' }
const named = (...names: string[]): Selection => ({ kind: 'names', names })
const matching = (pattern: string): Selection => ({ kind: 'filter', filter: { names: globOf(pattern) } })

/** A store that can be made to fail or to have no summaries, and records the documents that were read. */
function fickle(store: StreamStore) {
  const state = {
    bald: false,
    down: undefined as Error | undefined,
    readsDown: undefined as Error | undefined,
    read: [] as string[],
  }
  const proxy: StreamStore = new Proxy(store, {
    get(target, key) {
      if (key === 'list') {
        return async function* (query: object) {
          if (state.down !== undefined) throw state.down
          for await (const page of target.list(query)) {
            yield state.bald ? page.map(({ summary: _, ...row }) => row) : page
          }
        }
      }
      if (key === 'read') {
        return async (name: string) => {
          if (state.readsDown !== undefined) throw state.readsDown
          state.read.push(name)
          return target.read(name)
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { store: proxy, state }
}

interface Given {
  readonly target?: WaitTarget
  readonly mayAppear?: boolean
}

/** Waits; after each poll, and at the beginning of an outage, the next step is taken. After the last one it is canceled. */
async function wait(store: StreamStore, selection: Selection, steps: (() => unknown)[], given: Given = {}) {
  const { target = SUCCESS, mayAppear = false } = given
  const controller = new AbortController()
  const items: WaitItem[] = []
  for await (const item of waitFor(store, selection, target, { intervalMs: 0, mayAppear, signal: controller.signal })) {
    items.push(item.kind === 'polled' ? { ...item, open: new Map(item.open) } : item)
    if (item.kind !== 'polled' && item.kind !== 'interrupted') continue
    const step = steps.shift()
    if (step === undefined) controller.abort()
    else await step()
  }
  return items
}

function told(items: readonly WaitItem[]): string[] {
  return items.flatMap(item => {
    switch (item.kind) {
      case 'ended':
        return [`${item.stream.name} ${item.stream.state}`]
      case 'polled':
        return [[...item.open.values()].map(({ name, state }) => `${name} ${state}`).join(', ')].map(
          open => `(${open})`,
        )
      case 'missing':
        return [`missing ${item.names.join(' ')}`]
      case 'unreadable':
        return [`${item.stream} unreadable`]
      default:
        return [item.kind]
    }
  })
}

async function two() {
  const { store } = memoryStore()
  await run(store, 'a', init(['A']))
  await run(store, 'b', init(['A']))
  return store
}

describe('the end of streams', () => {
  test('each end is reported once, as reached or missed; the wait ends when no stream is open', async () => {
    const store = await two()
    const items = await wait(store, named('a', 'b'), [
      () => run(store, 'b', { op: 'complete', event: '01.00' }),
      () => run(store, 'a', { op: 'fail', event: '01.00', msg: 'no answer' }),
    ])
    expect(told(items)).toEqual(['(a open, b open)', 'b met', '(a open)', 'a otherwise', '()'])
    expect(items).toContainEqual({
      kind: 'ended',
      stream: {
        name: 'a',
        state: 'otherwise',
        last: {
          status: 'completed',
          outcome: 'errors',
          failedId: '01.00',
          failure: 'no answer',
          dueMs: undefined,
          waitingOn: [],
        },
      },
    })
  })

  test('streams that have already ended are reported at the first poll', async () => {
    const store = await two()
    await run(store, 'a', { op: 'cancel' })
    expect(told(await wait(store, named('a'), []))).toEqual(['a otherwise', '()'])
    const done: WaitTarget = { kind: 'stream', end: 'done' }
    expect(told(await wait(store, named('a', 'a'), [], { target: done }))).toEqual(['a met', '()'])
  })

  test('no document is read if the summaries suffice', async () => {
    const { store, state } = fickle(await two())
    await wait(store, named('a', 'b'), [
      () => run(store, 'a', { op: 'complete', event: '01.00' }),
      () => (state.read = []),
    ])
    expect(state.read).toEqual([])
  })

  test('an end remains reported when the stream is reopened', async () => {
    const store = await two()
    const items = await wait(store, named('a', 'b'), [
      () => run(store, 'a', { op: 'fail', event: '01.00' }),
      () => run(store, 'a', { op: 'retry' }),
      () => undefined,
    ])
    expect(told(items).filter(text => text.startsWith('a '))).toEqual(['a otherwise'])
  })

  test('a stream that is reopened before its end is seen is waited for', async () => {
    const store = await two()
    const items = await wait(store, named('a'), [
      async () => {
        await run(store, 'a', { op: 'fail', event: '01.00' })
        await run(store, 'a', { op: 'retry' })
      },
      () => run(store, 'a', { op: 'complete', event: '01.00' }),
    ])
    expect(told(items)).toEqual(['(a open)', '(a open)', 'a met', '()'])
  })
})

describe('missing streams', () => {
  test('a missing name ends the wait at once, before any other report', async () => {
    const store = await two()
    await run(store, 'a', { op: 'cancel' })
    expect(told(await wait(store, named('a', 'nix', 'nada'), []))).toEqual(['missing nix nada'])
  })

  test('unless the stream may appear', async () => {
    const store = await two()
    const items = await wait(
      store,
      named('new'),
      [() => run(store, 'new', init()), () => run(store, 'new', { op: 'complete', event: '00' })],
      { mayAppear: true },
    )
    expect(told(items)).toEqual(['(new missing)', '(new open)', 'new met', '()'])
  })

  test('a removed stream has missed the target, unless it may appear again', async () => {
    const store = await two()
    const remove = () => store.remove('a', {})
    expect(told(await wait(store, named('a', 'b'), [remove]))).toEqual(['(a open, b open)', 'a removed', '(b open)'])
    await run(store, 'a', init())
    expect(told(await wait(store, named('a'), [remove, () => run(store, 'a', init())], { mayAppear: true }))).toEqual([
      '(a open)',
      '(a missing)',
      '(a open)',
    ])
  })

  test('a filter without matches ends the wait, unless streams may appear', async () => {
    const { store } = memoryStore()
    expect(told(await wait(store, matching('a*'), []))).toEqual(['no-match'])
    const items = await wait(store, matching('a*'), [() => run(store, 'a1', init())], { mayAppear: true })
    expect(told(items)).toEqual(['()', '(a1 open)'])
  })
})

test('a filter means the streams that match at the beginning', async () => {
  const store = await two()
  const inprocess: Selection = { kind: 'filter', filter: { status: ['inprocess'] } }
  const items = await wait(store, inprocess, [
    () => run(store, 'c', init(['A'])),
    () => run(store, 'a', { op: 'complete', event: '01.00' }),
    () => run(store, 'b', { op: 'cancel' }),
  ])
  expect(told(items)).toEqual(['(a open, b open)', '(a open, b open)', 'a met', '(b open)', 'b otherwise', '()'])
})

describe('an event', () => {
  const completed: WaitTarget = { kind: 'event', event: '01.00', status: 'completed' }

  test('is searched for in the documents of changed streams', async () => {
    const { store, state } = fickle(await two())
    const items = await wait(
      store,
      named('a', 'b'),
      [() => (state.read = []), () => run(store, 'b', { op: 'complete', event: '01.00' })],
      { target: completed },
    )
    expect(told(items)).toEqual(['(a open, b open)', '(a open, b open)', 'b met', '(a open)'])
    expect(items).toContainEqual(
      expect.objectContaining({ stream: expect.objectContaining({ event: { id: '01.00', status: 'completed' } }) }),
    )
    expect(state.read).toEqual(['b'])
  })

  test('that never exists has missed the target when its stream ends', async () => {
    const store = await two()
    const items = await wait(store, named('a'), [() => run(store, 'a', { op: 'cancel' })], {
      target: { kind: 'event', event: '07.00', status: 'completed' },
    })
    expect(told(items)).toEqual(['(a open)', 'a otherwise', '()'])
  })

  test('is not missed when the store does not answer the read', async () => {
    const { store, state } = fickle(await two())
    const items = await wait(
      store,
      named('a'),
      [
        async () => {
          await run(store, 'a', { op: 'complete', event: '01.00' })
          state.readsDown = new StoreUnreachable('no route')
        },
        () => (state.readsDown = undefined),
        () => undefined,
      ],
      { target: completed },
    )
    expect(told(items).filter(text => text !== '(a open)')).toEqual(['interrupted', 'resumed', 'a met', '()'])
  })
})

describe('faults', () => {
  test('an outage is reported once and waited out', async () => {
    const { store, state } = fickle(await two())
    const items = await wait(store, named('a'), [
      () => (state.down = new StoreUnreachable('no route')),
      async () => {
        state.down = undefined
        await run(store, 'a', { op: 'complete', event: '01.00' })
      },
    ])
    expect(told(items)).toEqual(['(a open)', 'interrupted', 'resumed', 'a met', '()'])
  })

  test.each([named('a'), matching('a')])(
    'a store that does not answer at the first poll is an error: %j',
    async selection => {
      const { store, state } = fickle(await two())
      state.down = new StoreUnreachable('no route')
      await expect(wait(store, selection, [])).rejects.toThrow('no route')
    },
  )

  test('an error other than an outage fails the wait at any time', async () => {
    const { store, state } = fickle(await two())
    await expect(wait(store, named('a'), [() => (state.down = new NotPermitted('expired'))])).rejects.toThrow('expired')
  })

  test.each([SUCCESS, { kind: 'event', event: '01.00', status: 'completed' } as const])(
    'an unreadable document is reported once and waited for: %j',
    async target => {
      const { store, state } = fickle(await two())
      state.bald = true
      const items = await wait(
        store,
        named('a'),
        [
          () => writeForeign(store, 'a', '<Event ', '<Event'),
          () => writeForeign(store, 'a', '<Event', ' <Event'),
          () => writeForeign(store, 'a', '<Eventname', '<Event name'),
          () => run(store, 'a', { op: 'complete', event: '01.00' }),
        ],
        { target },
      )
      expect(told(items)).toEqual([
        '(a open)',
        'a unreadable',
        '(a unreadable)',
        '(a unreadable)',
        '(a open)',
        'a met',
        '()',
      ])
    },
  )

  test('cancelling keeps the known state of open streams', async () => {
    const store = await two()
    const items = await wait(store, named('a'), [])
    const [looked] = items
    expect(looked?.kind === 'polled' && looked.open.get('a')).toMatchObject({
      state: 'open',
      last: { status: 'inprocess', waitingOn: ['01.00'] },
    })
  })
})
