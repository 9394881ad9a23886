import { describe, expect, it } from 'vitest'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { transact } from '../../../../src/ops/transact/transact.ts'
import { NotPermitted, StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { BadDocument, InvalidValue } from '../../../../src/stream/errors.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { HOLDER, init, intercept, memoryStore, resultOf, run, writeForeign } from '../support.ts'

async function statuses(store: Parameters<typeof readStream>[0], name: string) {
  const view = await readStream(store, name)
  return Object.fromEntries((view?.stream.events ?? []).map(event => [event.id, event.status]))
}

describe('transact', () => {
  it('commits a whole change: document, summary and version', async () => {
    const { store } = memoryStore()
    expect(resultOf(await run(store, 's', init(['A', 'B'])))).toMatchObject({
      version: 1,
      added: ['00', '01.00', '02.00'],
    })
    const result = resultOf(await run(store, 's', { op: 'complete', event: '01.00' }))
    expect(result).toMatchObject({
      outcome: 'done',
      version: 2,
      done: false,
      changed: [{ id: '01.00', to: 'completed' }],
    })
    expect((await store.read('s'))?.summary).toMatchObject({ version: 2, open: 2, total: 3, status: 'inprocess' })
  })

  it('reports a missing stream, a refusal and a held lease without changing anything', async () => {
    const { store } = memoryStore()
    expect(await run(store, 'none', { op: 'cancel' })).toEqual({ kind: 'missing' })
    await run(store, 's', init())
    const before = (await store.read('s'))?.body
    expect(await run(store, 's', { op: 'complete', event: '09.00' })).toMatchObject({
      refusal: { code: 'event-not-found' },
    })
    await store.acquireLease('s', { leaseId: '11111111-1111-4111-8111-111111111111', durationS: 60, holder: HOLDER })
    expect(await run(store, 's', { op: 'cancel' })).toMatchObject({ kind: 'held', lease: { holder: { by: 'tester' } } })
    expect((await store.read('s'))?.body).toEqual(before)
  })

  it('writes under a lease the caller holds and keeps it', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    const leaseId = '11111111-1111-4111-8111-111111111111'
    await store.acquireLease('s', { leaseId, durationS: 60, holder: HOLDER })
    expect(resultOf(await run(store, 's', { op: 'cancel' }, { leaseId })).done).toBe(true)
    expect((await store.read('s'))?.lease.state).toBe('leased')
    const stranger = '22222222-2222-4222-8222-222222222222'
    expect(await run(store, 's', { op: 'retry' }, { leaseId: stranger })).toMatchObject({ kind: 'lost' })
  })

  it('leaves an unreadable document unchanged', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    const body = Buffer.from('<EventStream><Event id="00" name="a"/><Event')
    const garbage = intercept(store, (_, decide, go) => go((current, nowMs) => decide({ ...current, body }, nowMs)))
    const before = (await store.read('s'))?.etag
    await expect(run(garbage, 's', { op: 'cancel' })).rejects.toThrow(BadDocument)
    expect((await store.read('s'))?.etag).toBe(before)
  })

  it('refuses invalid operations before a request is sent', async () => {
    const { store } = memoryStore()
    const options = { commandId: 'c', by: 'me' }
    await expect(transact(store, '', init(), options)).rejects.toThrow(InvalidValue)
    await expect(transact(store, 's', init(), { commandId: 'with blank', by: 'me' })).rejects.toThrow(InvalidValue)
    await expect(transact(store, 's', init(), { commandId: 'c', by: '' })).rejects.toThrow(InvalidValue)
    await expect(transact(store, 's', { op: 'fail', event: '00', msg: 'a\u0000b' }, options)).rejects.toThrow(
      InvalidValue,
    )
    await expect(transact(store, 's', { op: 'advance', event: '00', forks: [] }, options)).rejects.toThrow(InvalidValue)
    await expect(
      transact(
        store,
        's',
        { op: 'advance', event: '00', forks: [], next: { name: 'a' }, join: { name: 'J' } },
        options,
      ),
    ).rejects.toThrow(InvalidValue)
    await expect(transact(store, 's', { op: 'start', event: '00', owner: 'w', claimMs: 0 }, options)).rejects.toThrow(
      InvalidValue,
    )
    expect(await store.read('s')).toBeUndefined()
  })

  it.each(['id', 'status', 'prev', 'next', 'created', 'timestamp', 'lc', '__proto__'])(
    'refuses to set %s, which is not free, before a request is sent',
    async name => {
      const { store } = memoryStore()
      await run(store, 's', init(['A']))
      const before = await store.read('s')
      const attributes = Object.fromEntries([[name, '07.00']])
      const set = { op: 'set', event: '01.00', attributes } as const
      await expect(run(store, 's', set)).rejects.toThrow(InvalidValue)
      expect(await store.read('s')).toEqual(before)
    },
  )

  it('refuses events with attributes that are not free', async () => {
    const { store } = memoryStore()
    const odd = { name: 'A', status: 'completed' }
    await run(store, 's', init(['A']))
    for (const added of [{ forks: [odd] }, { forks: [], next: odd }, { forks: [{ name: 'B' }], join: odd }])
      await expect(run(store, 's', { op: 'advance', event: '01.00', ...added })).rejects.toThrow(InvalidValue)
    const wrong = { op: 'init', root: odd, forks: [], hold: false, born: '' } as const
    await expect(run(store, 't', wrong)).rejects.toThrow(InvalidValue)
    expect(await store.read('t')).toBeUndefined()
  })

  it('makes a repeated command once and returns its first result', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const start = { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 } as const
    const first = resultOf(await run(store, 's', start, { commandId: 'mine' }))
    const again = resultOf(await run(store, 's', start, { commandId: 'mine' }))
    expect(again).toEqual({ ...first, outcome: 'already', duplicate: true })
    expect(await run(store, 's', { op: 'cancel' }, { commandId: 'mine' })).toMatchObject({
      refusal: { code: 'command-id-reused' },
    })
  })
})

describe('a refusal on an event that a foreign writer left open', () => {
  it('still writes the closing, so that readers see the state that the refusal describes', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    await writeForeign(store, 's', 'status="init"', 'status="completed"')
    expect(await run(store, 's', { op: 'complete', event: '00' })).toMatchObject({ refusal: { code: 'already-final' } })
    expect(await statuses(store, 's')).toEqual({ '00': 'completed', '01.00': 'completed' })
    expect((await readStream(store, 's'))?.transactions().map(({ op, by }) => [op, by])).toEqual([
      ['init', 'tester'],
      ['foreign', ''],
      ['settle', 'tester'],
    ])
    const { etag } = (await store.read('s')) ?? {}
    await run(store, 's', { op: 'complete', event: '00' })
    expect((await store.read('s'))?.etag).toBe(etag)
  })
})

describe('init', () => {
  it('under a lease needs a leased blob', async () => {
    const { store } = memoryStore()
    const leaseId = '11111111-1111-4111-8111-111111111111'
    expect(await run(store, 's', init(), { leaseId })).toMatchObject({ kind: 'lost' })
    expect(await store.read('s')).toBeUndefined()
  })

  it('fills a blob of 0 bytes or one that contains no event', async () => {
    for (const body of ['', '<Orders xmlns:x="urn:x" x:keep="1"><!-- mine --></Orders>']) {
      const { store } = memoryStore()
      await store.create('s', Buffer.from(body), (await summaryOf()).summary)
      expect(resultOf(await run(store, 's', init(['A']))).outcome).toBe('done')
      expect(await statuses(store, 's')).toEqual({ '00': 'inprocess', '01.00': 'init' })
      if (body !== '') expect(Buffer.from((await store.read('s'))?.body ?? []).toString()).toContain('<!-- mine -->')
    }
  })

  it('refuses a stream that exists', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    expect(await run(store, 's', init(['B']))).toMatchObject({ refusal: { code: 'exists' } })
    expect(await statuses(store, 's')).toEqual({ '00': 'inprocess' })
  })

  it('whose answer was lost is resolved by its command id', async () => {
    const { store } = memoryStore()
    const lossy: typeof store = Object.create(store, {
      create: {
        value: async (...create: Parameters<typeof store.create>) => {
          await store.create(...create)
          return { kind: 'unknown', cause: new Error('no answer') }
        },
      },
    })
    const bound = new Proxy(lossy, {
      get: (target, key) => (key === 'create' ? target.create : Reflect.get(store, key)?.bind?.(store)),
    })
    expect(resultOf(await run(bound, 's', init()))).toMatchObject({ outcome: 'done', duplicate: false, version: 1 })
  })

  it('that was never applied is retried', async () => {
    const { store } = memoryStore()
    let tries = 0
    const create: typeof store.create = async (...given) => {
      tries++
      return tries === 1 ? { kind: 'unknown', cause: new Error('no answer') } : store.create(...given)
    }
    const lossy = new Proxy(store, {
      get: (target, key) => (key === 'create' ? create : Reflect.get(target, key)?.bind?.(target)),
    })
    expect(resultOf(await run(lossy, 's', init()))).toMatchObject({ outcome: 'done', duplicate: false })
    expect(tries).toBe(2)
  })

  /** A store whose `create` loses its answers; the test decides whether they are applied. */
  function deafCreate(store: StreamStore, applied: boolean): { store: StreamStore; tries: () => number } {
    let tries = 0
    const create: StreamStore['create'] = async (...given) => {
      tries++
      if (applied) await store.create(...given)
      return { kind: 'unknown', cause: new Error('no answer') }
    }
    return { store: having(store, { create }), tries: () => tries }
  }

  function having(store: StreamStore, methods: Partial<StreamStore>): StreamStore {
    return new Proxy(store, {
      get: (target, key) => Reflect.get(methods, key) ?? Reflect.get(target, key)?.bind?.(target),
    })
  }

  it('without an answer does not fail while the store is unreachable: it is looked up when the store is back', async () => {
    const { store } = memoryStore()
    const deaf = deafCreate(store, true)
    let changes = 0
    const flaky = intercept(deaf.store, (_, decide, go) => {
      changes++
      if (changes < 3) throw new StoreUnreachable('nobody answers')
      return go(decide)
    })
    expect(resultOf(await run(flaky, 's', init()))).toMatchObject({ outcome: 'done', duplicate: false })
    expect(changes).toBe(3)
  })

  it.each([
    ['permission is removed', () => new NotPermitted('no more')],
    ['the caller cancels', () => new DOMException('stop', 'AbortError')],
  ])('without an answer is unknown when %s', async (_, fault) => {
    const { store } = memoryStore()
    const dead = intercept(deafCreate(store, false).store, () => Promise.reject(fault()))
    expect(await run(dead, 's', init())).toMatchObject({ kind: 'unknown', cause: { message: 'no answer' } })
  })

  it('that landed without an answer is done, whoever holds the lease', async () => {
    const { store } = memoryStore()
    const deaf = deafCreate(store, true)
    const taken = intercept(deaf.store, async (name, decide, go) => {
      await store.acquireLease(name, { leaseId: '11111111-1111-4111-8111-111111111111', durationS: 60, holder: HOLDER })
      return go(decide)
    })
    expect(resultOf(await run(taken, 's', init()))).toMatchObject({ outcome: 'done', version: 1 })
  })

  it('duplicated by the network is looked up: "exists" may refer to its own first copy', async () => {
    const { store } = memoryStore()
    const create: StreamStore['create'] = async (...given) => {
      await store.create(...given)
      return store.create(...given)
    }
    const doubled = having(store, { create })
    let changes = 0
    const flaky = intercept(doubled, (_, decide, go) => {
      changes++
      if (changes === 1) throw new StoreUnreachable('nobody answers')
      return go(decide)
    })
    expect(resultOf(await run(flaky, 's', init())).version).toBe(1)
    const dead = intercept(doubled, () => Promise.reject(new NotPermitted('no right to read')))
    await expect(run(dead, 't', init())).rejects.toBeInstanceOf(NotPermitted)
  })

  it('that stays unanswered is retried with pauses', async () => {
    const { store } = memoryStore()
    const deaf = deafCreate(store, false)
    const stop = new AbortController()
    const created = run(deaf.store, 's', init(), { signal: stop.signal })
    for (let turn = 0; turn < 200; turn++) await new Promise(resolve => setImmediate(resolve))
    stop.abort()
    expect(await created).toMatchObject({ kind: 'unknown' })
    expect(deaf.tries()).toBeLessThan(10)
  })

  async function summaryOf() {
    const { store } = memoryStore()
    await run(store, 'x', init())
    const stored = await store.read('x')
    if (stored?.summary === undefined) throw new Error('a stream of ours has a summary')
    return { summary: stored.summary }
  }
})

it('a change that was decided but never written, and applied by another with the same command id, is a duplicate', async () => {
  const { store } = memoryStore()
  await run(store, 's', init(['A']))
  const complete = { op: 'complete', event: '01.00' } as const
  const slow = intercept(store, async (_, decide, go) => {
    const seen = await store.read('s')
    const decision = seen && decide(seen, store.nowMs())
    if (decision?.kind !== 'put') throw new Error('there was something to write')
    await run(store, 's', complete, { commandId: 'expiry' })
    decision.discard?.()
    return go(decide)
  })
  expect(resultOf(await run(slow, 's', complete, { commandId: 'expiry' }))).toMatchObject({
    outcome: 'already',
    duplicate: true,
  })
})

describe('a write without an answer', () => {
  it('that was applied is recognized: done once, not a duplicate', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const lossy = intercept(store, async (_, decide, go) => {
      await go(decide)
      return go(decide)
    })
    expect(resultOf(await run(lossy, 's', { op: 'complete', event: '01.00' }))).toMatchObject({
      outcome: 'done',
      duplicate: false,
      version: 2,
      closed: ['00'],
      done: true,
    })
    expect((await readStream(store, 's'))?.transactions().map(({ op }) => op)).toEqual(['init', 'complete'])
  })

  it('that was not applied is planned again on the current state', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const lossy = intercept(store, async (_, decide, go) => {
      const stored = await store.read('s')
      if (stored !== undefined) decide(stored, stored.modifiedMs)
      await run(store, 's', { op: 'complete', event: '02.00' })
      return go(decide)
    })
    expect(resultOf(await run(lossy, 's', { op: 'complete', event: '01.00' }))).toMatchObject({
      version: 3,
      closed: ['00'],
    })
  })

  it('does not violate its own precondition during the lookup', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const lossy = intercept(store, async (_, decide, go) => {
      await go(decide)
      return go(decide)
    })
    expect(resultOf(await run(lossy, 's', { op: 'cancel' }, { ifVersion: 1 }))).toMatchObject({
      outcome: 'done',
      version: 2,
    })
  })

  it('must meet its precondition if another has written since', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const refusedOnce = intercept(store, async (_, decide, go) => {
      const stored = await store.read('s')
      if (stored !== undefined) decide(stored, stored.modifiedMs)
      await run(store, 's', { op: 'complete', event: '02.00' })
      return go(decide)
    })
    expect(await run(refusedOnce, 's', { op: 'cancel' }, { ifVersion: 1 })).toMatchObject({
      kind: 'refused',
      refusal: { code: 'changed' },
    })
    expect(await statuses(store, 's')).toMatchObject({ '01.00': 'init' })
  })

  it('of a heartbeat counts if the claim lasts as long as requested', async () => {
    const { store, advance } = memoryStore()
    await run(store, 's', init(['A']))
    await run(store, 's', { op: 'start', event: '01.00', owner: 'w', claimMs: 1_000 })
    let written = 0
    const lossy = intercept(store, async (_, decide, go) => {
      await go(decide)
      advance(500)
      return go((current, nowMs) => {
        const decision = decide(current, nowMs)
        if (decision.kind === 'put') written++
        return decision
      })
    })
    const touch = { op: 'touch', event: '01.00', owner: 'w', claimMs: 5_000 } as const
    expect(resultOf(await run(lossy, 's', touch)).claim?.attempt).toBe(1)
    expect(written).toBe(0)
  })

  it('leaves its whole group unknown if no read resolves it', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const dead = intercept(store, async (_, decide) => {
      const stored = await store.read('s')
      if (stored !== undefined) decide(stored, stored.modifiedMs)
      return { kind: 'unknown', cause: new Error('silence') }
    })
    const outcomes = await Promise.all([
      run(dead, 's', { op: 'complete', event: '01.00' }),
      run(dead, 's', { op: 'complete', event: '09.00' }),
    ])
    expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown'])
  })
})

describe('group commit', () => {
  it('writes changes of one stream together, each with its own version, entry and outcome', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(Array.from({ length: 50 }, () => 'Work')))
    let writes = 0
    const counted = intercept(store, (_, decide, go) => {
      writes++
      return go(decide)
    })
    const ids = Array.from({ length: 50 }, (_, at) => `${String(at + 1).padStart(2, '0')}.00`)
    const outcomes = await Promise.all(ids.map(event => run(counted, 's', { op: 'complete', event })))
    expect(writes).toBe(1)
    expect(outcomes.map(outcome => resultOf(outcome).version)).toEqual(ids.map((_, at) => at + 2))
    expect(resultOf(outcomes.at(-1) ?? { kind: 'missing' })).toMatchObject({ done: true, closed: ['00'] })
    const view = await readStream(store, 's')
    expect(view?.transactions()).toHaveLength(51)
    expect(view?.document.version).toBe(51)
  })

  it('reports refusals and duplicates of a group beside its changes', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const cancel = { op: 'cancel', event: '01.00' } as const
    const [first, twin, other, refused] = await Promise.all([
      run(store, 's', cancel, { commandId: 'one' }),
      run(store, 's', cancel, { commandId: 'one' }),
      run(store, 's', { op: 'complete', event: '01.00' }),
      run(store, 's', { op: 'complete', event: '00' }),
    ])
    expect(first).toMatchObject({ kind: 'done', result: { version: 2, duplicate: false } })
    expect(twin).toMatchObject({ kind: 'done', result: { version: 2, duplicate: true } })
    expect(other).toMatchObject({ refusal: { code: 'already-final' } })
    expect(refused).toMatchObject({ refusal: { code: 'open-successors' } })
  })

  it('compares a precondition with the version in the queue', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const [pinned, stale] = await Promise.all([
      run(store, 's', { op: 'complete', event: '01.00' }, { ifVersion: 1 }),
      run(store, 's', { op: 'complete', event: '02.00' }, { ifVersion: 1 }),
    ])
    expect(pinned).toMatchObject({ kind: 'done' })
    expect(stale).toMatchObject({ refusal: { code: 'changed' } })
  })

  it('plans the whole group again if its write was refused', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B', 'C']))
    const raced = intercept(store, async (_, decide, go) => {
      const stored = await store.read('s')
      if (stored !== undefined) decide(stored, stored.modifiedMs)
      await run(store, 's', { op: 'complete', event: '01.00' })
      return go(decide)
    })
    const outcomes = await Promise.all([
      run(raced, 's', { op: 'complete', event: '01.00' }),
      run(raced, 's', { op: 'complete', event: '02.00' }),
    ])
    expect(outcomes[0]).toMatchObject({ refusal: { code: 'already-final' } })
    expect(outcomes[1]).toMatchObject({ kind: 'done', result: { version: 3 } })
  })

  it('groups only operations with the same cancellation signals; those that only end a wait may differ', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B', 'C', 'D']))
    let writes = 0
    const counted = intercept(store, (_, decide, go) => {
      writes++
      return go(decide)
    })
    const [one, other] = [new AbortController().signal, new AbortController().signal]
    const signals = [{ signal: one }, { signal: one }, { signal: other }, { signal: other, stopWaiting: one }]
    const ends = signals.map((options, at) => run(counted, 's', { op: 'complete', event: `0${at + 1}.00` }, options))
    expect((await Promise.all(ends)).map(outcome => resultOf(outcome).version)).toEqual([2, 3, 4, 5])
    expect(writes).toBe(2)
  })

  it('fails an operation that cannot be applied alone', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const broken = Object.defineProperty({ op: 'complete', event: '01.00' }, 'msg', {
      get() {
        if (new Error().stack?.includes('applyOperation')) throw new Error('a bug')
        return undefined
      },
      enumerable: true,
    }) as Operation
    const [good, bad, last] = await Promise.allSettled([
      run(store, 's', { op: 'set', event: '00', attributes: { tag: 'a' } }),
      run(store, 's', broken),
      run(store, 's', { op: 'complete', event: '01.00' }),
    ])
    expect(good).toMatchObject({ value: { kind: 'done', result: { version: 2 } } })
    expect(bad).toMatchObject({ reason: { message: 'a bug' } })
    expect(last).toMatchObject({ value: { kind: 'done', result: { version: 3 } } })
  })

  it('fails a whole group if its document is unreadable', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    const body = Buffer.from('<EventStream>')
    const garbage = intercept(store, (_, decide, go) =>
      go((current, nowMs) => decide({ ...current, body, etag: '' }, nowMs)),
    )
    const both = await Promise.allSettled([run(garbage, 's', { op: 'cancel' }), run(garbage, 's', { op: 'settle' })])
    for (const each of both) expect(each).toMatchObject({ reason: expect.any(BadDocument) })
  })

  it.each([
    ['of 100 operations', 250, 10, [100, 100, 50]],
    ['of 1 MiB', 40, 60_000, [17, 17, 6]],
  ])('closes a group at the limit %s', async (_, count, bytes, sizes) => {
    const { store } = memoryStore()
    await run(store, 's', init())
    const groups: number[] = []
    const counted = intercept(store, async (_, decide, go) => {
      const before = (await readStream(store, 's'))?.document.version ?? 0
      const outcome = await go(decide)
      groups.push(((await readStream(store, 's'))?.document.version ?? 0) - before)
      return outcome
    })
    const setTag = (tag: string) => ({ op: 'set' as const, event: '00', attributes: { tag } })
    const large = (at: number) => Object.assign(setTag(String(at)), { padding: 'x'.repeat(bytes) })
    await Promise.all(Array.from({ length: count }, (_, at) => run(counted, 's', large(at))))
    expect(groups).toEqual(sizes)
  })

  it('takes few operations of a large stream at once: planning must end before the lease does', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(Array.from({ length: 10_000 }, () => 'Work')))
    let writes = 0
    const counted = intercept(store, (_, decide, go) => {
      writes++
      return go(decide)
    })
    const tags = Array.from({ length: 60 }, (_, at) => String(at))
    const outcomes = await Promise.all(
      tags.map(tag => run(counted, 's', { op: 'set', event: '00', attributes: { tag } })),
    )
    expect(writes).toBe(2)
    expect(outcomes.map(outcome => resultOf(outcome).version)).toEqual(tags.map((_, at) => at + 2))
  })

  it('neither loses nor duplicates changes when 8 workers make 50 each', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    const workers = Array.from({ length: 8 }, async (_, worker) => {
      for (let at = 0; at < 50; at++) {
        resultOf(await run(store, 's', { op: 'set', event: '00', attributes: { tag: `${worker}-${at}` } }))
      }
    })
    await Promise.all(workers)
    const versions = (await readStream(store, 's'))?.transactions().map(({ version }) => version)
    expect(versions).toEqual(Array.from({ length: 401 }, (_, at) => at + 1))
  })
})

describe('a queue for a lease that another holds', () => {
  const other = '11111111-1111-4111-8111-111111111111'

  async function leasedStream() {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B', 'C']))
    await store.acquireLease('s', { leaseId: other, durationS: 60, holder: HOLDER })
    return store
  }

  it('answers callers that do not wait at once, even behind callers that wait', async () => {
    const store = await leasedStream()
    const patient = ['01.00', '02.00'].map(event =>
      run(store, 's', { op: 'complete', event }, { leaseWaitMs: 600_000, stopWaiting: new AbortController().signal }),
    )
    expect(await run(store, 's', { op: 'cancel' }, { leaseWaitMs: 0 })).toMatchObject({ kind: 'held' })
    expect(await run(store, 's', { op: 'cancel' }, { leaseWaitMs: 0 })).toMatchObject({ kind: 'held' })
    await store.releaseLease('s', other)
    expect((await Promise.all(patient)).map(outcome => resultOf(outcome).version)).toEqual([2, 3])
  })

  it('lets the holder of the lease write, even behind callers that wait for it', async () => {
    const store = await leasedStream()
    const patient = run(store, 's', { op: 'complete', event: '01.00' }, { leaseWaitMs: 600_000 })
    const holders = await run(store, 's', { op: 'complete', event: '02.00' }, { leaseWaitMs: 600_000, leaseId: other })
    expect(resultOf(holders).version).toBe(2)
    await store.releaseLease('s', other)
    expect(resultOf(await patient).version).toBe(3)
  })

  it('counts the wait behind another as a wait: each waits in total as long as it requested', async () => {
    const waits: number[] = []
    const seen: StreamStore = new Proxy(await leasedStream(), {
      get(target, key) {
        if (key !== 'update') return Reflect.get(target, key)?.bind?.(target)
        const update: StreamStore['update'] = (name, decide, options) => {
          waits.push(options.waitMs)
          return target.update(name, decide, options)
        }
        return update
      },
    })
    const outcomes = ['01.00', '02.00', '03.00'].map(event =>
      run(seen, 's', { op: 'complete', event }, { leaseWaitMs: 60, signal: new AbortController().signal }),
    )
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ kind: 'held' })
    expect(waits.map(waitMs => waitMs > 10)).toEqual([true, false, false])
  })

  it('lets a canceled operation leave, while another still waits', async () => {
    const store = await leasedStream()
    const stop = new AbortController()
    const patient = run(store, 's', { op: 'complete', event: '01.00' }, { leaseWaitMs: 600_000 })
    const left = run(store, 's', { op: 'complete', event: '02.00' }, { leaseWaitMs: 600_000, signal: stop.signal })
    stop.abort('enough')
    await expect(left).rejects.toBe('enough')
    await store.releaseLease('s', other)
    expect(resultOf(await patient).version).toBe(2)
    expect(await statuses(store, 's')).toMatchObject({ '01.00': 'completed', '02.00': 'init' })
  })

  it('ends for one operation of a write alone, if only its waiting is aborted', async () => {
    const store = await leasedStream()
    const stop = new AbortController()
    const patient = run(store, 's', { op: 'complete', event: '01.00' }, { leaseWaitMs: 600_000 })
    const stopped = run(
      store,
      's',
      { op: 'complete', event: '02.00' },
      { leaseWaitMs: 600_000, stopWaiting: stop.signal },
    )
    stop.abort()
    expect(await stopped).toMatchObject({ kind: 'held' })
    await store.releaseLease('s', other)
    expect(resultOf(await patient).version).toBe(2)
    expect(await statuses(store, 's')).toMatchObject({ '01.00': 'completed', '02.00': 'init' })
  })

  it('ends for an operation whose waiting is aborted', async () => {
    const store = await leasedStream()
    const stop = new AbortController()
    const stopped = run(store, 's', { op: 'cancel' }, { leaseWaitMs: 600_000, stopWaiting: stop.signal })
    stop.abort()
    expect(await stopped).toMatchObject({ kind: 'held' })
  })
})
