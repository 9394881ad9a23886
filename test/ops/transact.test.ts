import { describe, expect, it } from 'vitest'
import { readStream } from '../../src/ops/read-stream.ts'
import { transact } from '../../src/ops/transact.ts'
import { BadDocument, InvalidValue } from '../../src/stream/errors.ts'
import { HOLDER, init, intercept, memoryStore, resultOf, run } from './support.ts'

async function statuses(store: Parameters<typeof readStream>[0], name: string) {
  const view = await readStream(store, name)
  return Object.fromEntries((view?.stream.events ?? []).map(event => [event.id, event.status]))
}

describe('transact', () => {
  it('lands a change whole: document, summary and version', async () => {
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
    await store.acquire('s', { leaseId: '11111111-1111-4111-8111-111111111111', durationS: 60, holder: HOLDER })
    expect(await run(store, 's', { op: 'cancel' })).toMatchObject({ kind: 'held', lease: { holder: { by: 'tester' } } })
    expect((await store.read('s'))?.body).toEqual(before)
  })

  it('writes under a lease the caller holds and keeps it', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    const leaseId = '11111111-1111-4111-8111-111111111111'
    await store.acquire('s', { leaseId, durationS: 60, holder: HOLDER })
    expect(resultOf(await run(store, 's', { op: 'cancel' }, { leaseId })).done).toBe(true)
    expect((await store.read('s'))?.lease.state).toBe('leased')
    const stranger = '22222222-2222-4222-8222-222222222222'
    expect(await run(store, 's', { op: 'retry' }, { leaseId: stranger })).toMatchObject({ kind: 'lost' })
  })

  it('leaves a document that cannot be read as it is', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    const body = Buffer.from('<EventStream><Event id="00" name="a"/><Event')
    const garbage = intercept(store, (_, decide, go) => go((current, nowMs) => decide({ ...current, body }, nowMs)))
    const before = (await store.read('s'))?.etag
    await expect(run(garbage, 's', { op: 'cancel' })).rejects.toThrow(BadDocument)
    expect((await store.read('s'))?.etag).toBe(before)
  })

  it('refuses what can never be right before anything is sent', async () => {
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

  it('makes a repeated command once and tells its first result', async () => {
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

describe('init', () => {
  it('fills a blob of 0 bytes and one that holds no event', async () => {
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

  it('whose answer was lost is found by its command id', async () => {
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
      get: (target, key) => (key === 'create' ? target.create : Reflect.get(store, key).bind?.(store)),
    })
    expect(resultOf(await run(bound, 's', init()))).toMatchObject({ outcome: 'done', duplicate: false, version: 1 })
  })

  it('that was never applied is sent again', async () => {
    const { store } = memoryStore()
    let tries = 0
    const create: typeof store.create = async (...given) => {
      tries++
      return tries === 1 ? { kind: 'unknown', cause: new Error('no answer') } : store.create(...given)
    }
    const lossy = new Proxy(store, {
      get: (target, key) => (key === 'create' ? create : Reflect.get(target, key).bind?.(target)),
    })
    expect(resultOf(await run(lossy, 's', init()))).toMatchObject({ outcome: 'done', duplicate: false })
    expect(tries).toBe(2)
  })

  async function summaryOf() {
    const { store } = memoryStore()
    await run(store, 'x', init())
    const stored = await store.read('x')
    if (stored?.summary === undefined) throw new Error('a stream of ours has a summary')
    return { summary: stored.summary }
  }
})

describe('a write without an answer', () => {
  it('that was applied is recognised: done once, not a duplicate', async () => {
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

  it('that was not applied is planned again on what is there now', async () => {
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

  it('does not break its own pin when it is looked up', async () => {
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

  it('of a heartbeat counts if the claim lasts as long as it asked for', async () => {
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

  it('leaves everything of its group unknown when nobody can tell', async () => {
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
  it('writes changes of one stream together; each keeps its own version, entry and outcome', async () => {
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

  it('reports refusals and duplicates of a group beside what it changed', async () => {
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

  it('compares a pin with the version as it stands in the queue', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    const [pinned, stale] = await Promise.all([
      run(store, 's', { op: 'complete', event: '01.00' }, { ifVersion: 1 }),
      run(store, 's', { op: 'complete', event: '02.00' }, { ifVersion: 1 }),
    ])
    expect(pinned).toMatchObject({ kind: 'done' })
    expect(stale).toMatchObject({ refusal: { code: 'changed' } })
  })

  it('plans all of a group again when its write was refused', async () => {
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

  it('loses and doubles nothing when 8 workers make 50 changes each', async () => {
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
