import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AzureBlobOptions } from '../../../../../src/store/azure/store.ts'
import { StoreUnreachable } from '../../../../../src/store/errors.ts'
import type { ChangeOptions, ChangeOutcome, StreamSnapshot, StreamStore } from '../../../../../src/store/store.ts'
import { bytes, changeOptions, holder, leased, stored, summary, text } from '../../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../../support/azurite.ts'
import { type Fault, type FaultProxy, type Operation, startFaultProxy } from '../../../../support/fault-proxy.ts'
import { limitToEnd, PATIENT, SOON, StoppedClock } from '../support.ts'

/** Reads and writes the actual state, without the proxy. */
let direct: StreamStore & { container: string }
let proxy: FaultProxy
let store: StreamStore
let opened: StreamStore[]
/** Of the machine of the stores behind the proxy. */
let clock: StoppedClock

/** A closed port that no other process gets. */
const NO_PORT = 1_023

beforeEach(async () => {
  const { port } = await sharedAzurite()
  opened = []
  clock = new StoppedClock()
  direct = await openAzuriteStore(port, PATIENT)
  proxy = await startFaultProxy({ target: { port } })
  store = await open()
  await direct.create('s', bytes(''), summary())
})

afterEach(async () => {
  proxy.heal()
  await Promise.all([direct, ...opened].map(each => each.close()))
  await proxy.stop()
})

async function open(options: Partial<AzureBlobOptions> = {}): Promise<StreamStore> {
  const { container } = direct
  const made = await openAzuriteStore(proxy.port, { container, machine: clock, ...PATIENT, ...options })
  opened.push(made)
  return made
}

/** Appends a command id, once: a later decision that finds it skips. */
function append(id: string, onDecide: (current: StreamSnapshot) => void = () => {}) {
  return (current: StreamSnapshot) => {
    onDecide(current)
    const body = text(current.body)
    if (body.includes(`${id};`)) return { kind: 'leave' as const }
    return { kind: 'put' as const, body: bytes(`${body}${id};`), summary: summary() }
  }
}

const change = (id: string, options: Partial<ChangeOptions> = {}, through = store): Promise<ChangeOutcome> =>
  through.update('s', append(id), changeOptions(options))

const body = async (): Promise<string> => text((await stored(direct, 's')).body)

const idsOf = (operation: Operation): unknown[] =>
  proxy.requests
    .filter(request => request.operation === operation)
    .map(request => request.headers['x-ms-proposed-lease-id'])

function inject(...faults: Fault[]): void {
  for (const fault of faults) proxy.add(fault)
}

describe('a change without faults', () => {
  it('takes two round trips for one acquire, one get and one put; the release follows', async () => {
    // Requests sent together overlap, however busy the machine is; others are not delayed forever.
    const both = () => proxy.count('acquire') + proxy.count('get') === 2
    const met = () => vi.waitUntil(both, 5_000).catch(() => {})
    inject({ kind: 'delay', on: 'acquire', before: met }, { kind: 'delay', on: 'get', before: met })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    const rounds = proxy.rounds - proxy.count('release')
    expect(rounds).toBe(2)
    await store.close()
    expect(proxy.requests.map(request => request.operation).sort()).toEqual(['acquire', 'get', 'put', 'release'])
  })

  it('names in its put the lease, the ETag it read and the MD5 of the body', async () => {
    const { etag } = await stored(direct, 's')
    await change('a')
    const put = proxy.requests.find(request => request.operation === 'put')
    expect(put?.headers['if-match']).toBe(etag)
    expect([put?.headers['x-ms-lease-id']]).toEqual(idsOf('acquire'))
    expect(put?.headers['content-md5']).toMatch(/==$/)
  })

  it('uses a new lease id each time and is not refused because of its own release', async () => {
    for (const id of ['a', 'b', 'c']) {
      expect(await change(id, { waitMs: 0 })).toMatchObject({ kind: 'committed' })
      await nextTurn()
    }
    expect(new Set(idsOf('acquire')).size).toBe(3)
    expect(proxy.count('acquire')).toBe(3)
  })

  it('reads again if another writer wrote between its read and its acquire', async () => {
    inject({
      kind: 'delay',
      on: 'acquire',
      nth: 1,
      before: () => direct.update('s', append('other'), changeOptions()),
    })
    inject({ kind: 'delay', on: 'get', nth: 2, before: async () => expect(await body()).toBe('other;') })
    const seen: string[] = []
    await store.update(
      's',
      append('a', current => seen.push(text(current.body))),
      changeOptions(),
    )
    expect(seen).toEqual(['other;'])
    expect(await body()).toBe('other;a;')
  })
})

describe('a change soon after one of this process', () => {
  beforeEach(async () => {
    await change('a')
    // The lease is kept for that turn of the event loop.
    await vi.waitUntil(() => proxy.count('release') === 1)
    proxy.reset()
  })

  it('reads nothing: the acquire shows that the state is current', async () => {
    const { etag } = await stored(direct, 's')
    expect(await change('b')).toMatchObject({ kind: 'committed' })
    await store.close()
    expect(proxy.requests.map(request => request.operation)).toEqual(['acquire', 'put', 'release'])
    expect(proxy.requests[1]?.headers['if-match']).toBe(etag)
    expect(await body()).toBe('a;b;')
  })

  it('is not needed if it is in that state: nothing is read or written', async () => {
    expect(await change('a')).toEqual({ kind: 'left' })
    expect([proxy.count('get'), proxy.count('put')]).toEqual([0, 0])
  })

  it('reads under its lease if another writer came between', async () => {
    await direct.update('s', append('other'), changeOptions())
    const seen: string[] = []
    await store.update(
      's',
      append('b', current => seen.push(text(current.body))),
      changeOptions(),
    )
    expect(seen).toEqual(['a;other;'])
    expect(proxy.count('get')).toBe(1)
    expect(await body()).toBe('a;other;b;')
    // With others about, the state of before is not tried again.
    await nextTurn()
    await direct.update('s', append('again'), changeOptions())
    proxy.reset()
    await change('c')
    expect(await body()).toBe('a;other;b;again;c;')
  })

  it('reads beside the acquire if some seconds have passed', async () => {
    clock.pass(2_000)
    expect(await change('b')).toMatchObject({ kind: 'committed' })
    expect(proxy.count('get')).toBe(1)
    expect(await body()).toBe('a;b;')
  })
})

describe('an acquire', () => {
  it.each(['lose-request', 'lose-answer', 'error-before', 'error-after', 'duplicate', 'truncate'] as const)(
    '%s: is retried with the same id, and the change is committed once',
    async kind => {
      inject({ kind, on: 'acquire', nth: 1 })
      expect(await change('a', { waitMs: 0 })).toMatchObject({ kind: 'committed' })
      expect(proxy.injected).toHaveLength(1)
      expect(new Set(idsOf('acquire')).size).toBe(1)
      expect(await body()).toBe('a;')
    },
  )

  it('without any answer is abandoned as unreachable, and the lease it may have taken is released', async () => {
    inject({ kind: 'lose-answer', on: 'acquire', times: 3 })
    await expect(change('a')).rejects.toBeInstanceOf(StoreUnreachable)
    await store.close()
    expect(proxy.count('acquire')).toBe(3)
    expect(proxy.count('put')).toBe(0)
    expect((await stored(direct, 's')).lease.state).toBe('available')
  })

  it('that never reaches the service reports that', async () => {
    const nowhere = await openAzuriteStore(NO_PORT, { container: direct.container })
    opened.push(nowhere)
    await expect(change('a', {}, nowhere)).rejects.toThrow(/ECONNREFUSED/)
  })
})

/** A recent change whose lease the next one reuses. Only microtasks may come between the two. */
async function inBurst(where: string): Promise<void> {
  if (where === 'alone') return
  expect(await change('w')).toMatchObject({ kind: 'committed' })
  proxy.reset()
}

/** A third and more of the whole time limit of a change. */
const passing = async (): Promise<void> => clock.pass(12_000)

const WHERE = [
  ['alone', ''],
  ['in a burst', 'w;'],
] as const

describe.each(WHERE)('a put, %s,', (where, before) => {
  it.each([
    { kind: 'lose-request', puts: 2 },
    { kind: 'lose-answer', puts: 1 },
    { kind: 'error-before', puts: 2 },
    { kind: 'error-after', puts: 1 },
    { kind: 'duplicate', puts: 1 },
    { kind: 'truncate', puts: 1 },
  ] as const)('$kind: committed once, with $puts puts', async ({ kind, puts }) => {
    await inBurst(where)
    inject({ kind, on: 'put', nth: 1 })
    const outcome = await change('a')
    const found = await stored(direct, 's')
    expect(outcome).toEqual({ kind: 'committed', etag: found.etag })
    expect(text(found.body)).toBe(`${before}a;`)
    expect(proxy.injected).toHaveLength(1)
    expect(proxy.count('put')).toBe(puts)
  })

  it('without an answer on an open connection times out and is resolved by a read', async () => {
    await inBurst(where)
    const endLimit = limitToEnd()
    inject({ kind: 'lose-answer', on: 'put', nth: 1, silent: true })
    const changed = change('a')
    await vi.waitFor(async () => expect(await body()).toBe(`${before}a;`), SOON)
    endLimit()
    expect(await changed).toMatchObject({ kind: 'committed' })
    expect(proxy.count('put')).toBe(1)
    expect(await body()).toBe(`${before}a;`)
  })

  it('duplicated by the network is unknown, not failed, if no read can show which copy was refused', async () => {
    await inBurst(where)
    inject(
      { kind: 'duplicate', on: 'put', nth: 1 },
      { kind: 'lose-request', on: 'get', when: () => proxy.count('put') > 0, before: passing },
    )
    expect(await change('a')).toMatchObject({ kind: 'unknown' })
    expect(await body()).toBe(`${before}a;`)
    proxy.heal()
    inject(
      { kind: 'duplicate', on: 'put', nth: 1 },
      { kind: 'lose-request', on: 'get', times: 4, when: () => proxy.count('put') > 1 },
    )
    expect(await change('b')).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe(`${before}a;b;`)
  })

  it('that lands after the second one is refused by the service', async () => {
    await inBurst(where)
    inject({ kind: 'late', on: 'put', nth: 1, after: request => request.operation === 'put' })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(proxy.count('put')).toBe(2)
    await proxy.deliverLate()
    expect(await body()).toBe(`${before}a;`)
  })

  it('that lands just before the second one makes that one fail, and is found', async () => {
    await inBurst(where)
    inject({ kind: 'late', on: 'put', nth: 1 }, { kind: 'delay', on: 'put', nth: 2, before: () => proxy.deliverLate() })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(proxy.injected.map(one => one.kind)).toEqual(['late', 'delay'])
    expect(await body()).toBe(`${before}a;`)
  })

  it('that is unanswered and then overwritten by another: found in the current state, not repeated', async () => {
    const takeOver = async () => {
      await direct.breakLease('s', 0)
      await direct.update('s', append('other'), changeOptions())
    }
    await inBurst(where)
    inject(
      { kind: 'lose-answer', on: 'put', nth: 1 },
      { kind: 'delay', on: 'get', when: () => proxy.count('put') > 0, times: 1, before: takeOver },
    )
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe(`${before}a;other;`)
    expect(proxy.count('put')).toBe(1)
  })

  it('that is lost while another writes: decided again on the current state', async () => {
    const takeOver = async () => {
      await direct.breakLease('s', 0)
      await direct.update('s', append('other'), changeOptions())
    }
    await inBurst(where)
    inject({ kind: 'lose-request', on: 'put', nth: 1, before: takeOver })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe(`${before}other;a;`)
  })

  it('is unknown if no answer arrives before the deadline, and is not retried automatically afterwards', async () => {
    await inBurst(where)
    inject(
      { kind: 'lose-answer', on: 'put', nth: 1 },
      { kind: 'lose-request', on: 'get', when: () => proxy.count('put') > 0, before: passing },
    )
    expect(await change('a')).toMatchObject({
      kind: 'unknown',
      cause: expect.any(StoreUnreachable),
    })
    expect(await body()).toBe(`${before}a;`)
    expect(proxy.count('put')).toBe(1)
  })

  it('is unknown if the caller cancels while it is in flight', async () => {
    const stop = new AbortController()
    await inBurst(where)
    inject({ kind: 'lose-answer', on: 'put', silent: true, before: async () => stop.abort(new Error('stop')) })
    expect(await change('a', { signal: stop.signal })).toMatchObject({ kind: 'unknown' })
  })
})

describe.each(WHERE)('a lease lost in the middle, %s:', (where, before) => {
  it('because an operator broke it: acquired again, committed once', async () => {
    await inBurst(where)
    inject({ kind: 'delay', on: 'put', nth: 1, before: () => direct.breakLease('s', 0) })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    const puts = proxy.requests.filter(({ operation }) => operation === 'put')
    expect(puts).toHaveLength(2)
    expect(new Set(puts.map(({ headers }) => headers['x-ms-lease-id'])).size).toBe(2)
    expect(await body()).toBe(`${before}a;`)
  })

  it('because another took it and keeps it: held, nothing written', async () => {
    const take = async () => {
      await direct.breakLease('s', 0)
      await leased(direct, 's', 'grace')
    }
    await inBurst(where)
    inject({ kind: 'delay', on: 'put', nth: 1, before: take })
    const outcome = await change('a', { waitMs: 0 })
    expect(outcome).toMatchObject({ kind: 'held', lease: { holder: { by: 'grace' } } })
    expect(await body()).toBe(before)
  })

  it('to another after an unanswered put that can no longer land: held, not unknown', async () => {
    const take = async () => {
      await direct.breakLease('s', 0)
      await direct.acquireLease('s', { leaseId: randomUUID(), durationS: 60, holder: holder('grace') })
    }
    await inBurst(where)
    inject({ kind: 'lose-request', on: 'put', nth: 1, before: take })
    expect(await change('a', { waitMs: 0 })).toMatchObject({ kind: 'held' })
    expect(await body()).toBe(before)
  })

  it.each([
    { what: 'the machine slept', wallMs: 60_000, monotonicMs: 0 },
    { what: 'two thirds of the lease are over', wallMs: 10_001, monotonicMs: 10_001 },
  ])('because $what before the put: nothing is sent under the old lease', async ({ wallMs, monotonicMs }) => {
    let decisions = 0
    const decide = append('a', () => {
      decisions += 1
      if (decisions === 1) clock.pass(monotonicMs, wallMs)
    })
    await inBurst(where)
    expect(await store.update('s', decide, changeOptions())).toMatchObject({ kind: 'committed' })
    expect(decisions).toBe(2)
    const put = proxy.requests.find(request => request.operation === 'put')
    const ids = idsOf('acquire')
    expect(ids).toHaveLength(where === 'alone' ? 2 : 1)
    expect(put?.headers['x-ms-lease-id']).toBe(ids.at(-1))
  })
})

describe('a given lease', () => {
  it('is neither acquired nor released; a lost answer is resolved under it', async () => {
    const leaseId = await leased(direct, 's')
    inject({ kind: 'lose-answer', on: 'put', nth: 1 })
    expect(await change('a', { leaseId })).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe('a;')
    expect(proxy.count('acquire') + proxy.count('release')).toBe(0)
    expect(await direct.renewLease('s', leaseId)).toMatchObject({ kind: 'ok' })
  })

  it('that is lost after an applied put whose answer was lost: committed, not lost', async () => {
    const leaseId = await leased(direct, 's')
    inject(
      { kind: 'lose-answer', on: 'put', nth: 1 },
      { kind: 'delay', on: 'get', nth: 2, before: () => direct.breakLease('s', 0) },
    )
    expect(await change('a', { leaseId })).toMatchObject({ kind: 'committed' })
  })

  it('that is lost after a put that never arrived: lost, nothing written', async () => {
    const leaseId = await leased(direct, 's')
    inject({ kind: 'lose-request', on: 'put', nth: 1, before: () => direct.breakLease('s', 0) })
    expect(await change('a', { leaseId })).toMatchObject({ kind: 'lost', code: expect.stringMatching(/^Lease/) })
    expect(await body()).toBe('')
  })
})

describe('consecutive changes', () => {
  const puts = () => proxy.requests.filter(({ operation }) => operation === 'put')

  it('share one lease; each but the first sends only a put on the state that the previous one wrote', async () => {
    const etags = [(await stored(direct, 's')).etag]
    for (const id of ['a', 'b']) {
      const outcome = await change(id)
      if (outcome.kind === 'committed') etags.push(outcome.etag)
    }
    await store.close()
    expect(proxy.requests.map(({ operation }) => operation).sort()).toEqual(['acquire', 'get', 'put', 'put', 'release'])
    expect(puts().map(({ headers }) => headers['if-match'])).toEqual(etags.slice(0, 2))
    expect(new Set(puts().map(({ headers }) => headers['x-ms-lease-id']))).toEqual(new Set(idsOf('acquire')))
    expect(await body()).toBe('a;b;')
  })

  it('release the lease after a few, and at the end of the turn of the event loop', async () => {
    for (let at = 0; at < 9; at += 1) await change(`${at}`)
    expect(proxy.count('acquire')).toBe(3)
    await nextTurn()
    await change('late')
    expect(proxy.count('acquire')).toBe(4)
    await store.close()
    expect(proxy.count('release')).toBe(4)
    expect((await stored(direct, 's')).lease.state).toBe('available')
  })

  it('do not reuse a lease that is no longer young', async () => {
    const decide = append('a', () => clock.pass(5_001))
    expect(await store.update('s', decide, changeOptions())).toMatchObject({ kind: 'committed' })
    await change('b')
    expect(proxy.count('acquire')).toBe(2)
  })

  it.each([
    [
      'an acquire',
      async () => (await store.acquireLease('s', { leaseId: randomUUID(), durationS: 15, holder: holder('ada') })).kind,
    ],
    ['a read', async () => (await stored(store, 's')).lease.state],
    ['an optimistic change', async () => (await change('b', { write: 'optimistic', waitMs: 0 })).kind],
  ])('release the lease at once for %s', async (_, ask) => {
    await change('a')
    expect(await ask()).toMatch(/^(acquired|committed|removed|available)$/)
  })

  it('that write nothing decide on a state that was read', async () => {
    await change('a')
    const seen: string[] = []
    const decide = (current: StreamSnapshot) => {
      seen.push(text(current.body))
      return { kind: 'leave' as const }
    }
    const takeOver = async () => {
      await direct.breakLease('s', 0)
      await direct.update('s', append('other'), changeOptions())
    }
    proxy.reset()
    inject({ kind: 'delay', on: 'get', nth: 1, before: takeOver })
    expect(await store.update('s', decide, changeOptions())).toEqual({ kind: 'left' })
    expect(seen).toEqual(['a;', 'a;other;'])
    expect(proxy.count('acquire')).toBe(0)
  })
})

describe('a decision to skip', () => {
  const refuse = () => ({ kind: 'leave' as const })

  it('is left before any put', async () => {
    expect(await store.update('s', refuse, changeOptions())).toEqual({ kind: 'left' })
  })

  it('is unknown after a put that may still land', async () => {
    inject({ kind: 'late', on: 'put', nth: 1 })
    let decisions = 0
    const decide = (current: StreamSnapshot) => {
      decisions += 1
      return decisions === 1 ? append('a')(current) : refuse()
    }
    expect(await store.update('s', decide, changeOptions())).toMatchObject({ kind: 'unknown' })
  })
})

describe('a release', () => {
  it.each(['lose-request', 'lose-answer', 'error-before', 'error-after'] as const)(
    '%s: is retried, and blocks no other writer',
    async kind => {
      inject({ kind, on: 'release', nth: 1 })
      await change('a')
      await store.close()
      expect(proxy.injected).toHaveLength(1)
      expect(proxy.count('release')).toBe(2)
      expect((await stored(direct, 's')).lease.state).toBe('available')
    },
  )
})

describe('an explicit lease operation whose answer is lost', () => {
  it('release: "not yours" on the second try means released', async () => {
    const leaseId = await leased(direct, 's')
    inject({ kind: 'lose-answer', on: 'release', nth: 1 })
    expect(await store.releaseLease('s', leaseId)).toEqual({ kind: 'ok', leaseId })
    expect(proxy.count('release')).toBe(2)
  })

  it.each(['acquire', 'renew', 'change', 'break'] as const)('%s: is retried and succeeds', async operation => {
    const leaseId = operation === 'acquire' ? randomUUID() : await leased(direct, 's')
    inject({ kind: 'lose-answer', on: operation, nth: 1 })
    const made = {
      acquire: () => store.acquireLease('s', { leaseId, durationS: 15, holder: holder('ada') }),
      renew: () => store.renewLease('s', leaseId),
      change: () => store.changeLeaseId('s', leaseId, randomUUID()),
      break: () => store.breakLease('s', 0),
    }
    expect((await made[operation]()).kind).toMatch(/^(acquired|ok|broken)$/)
    expect(proxy.count(operation)).toBe(2)
  })

  it('that is never answered: neither held nor lost', async () => {
    const leaseId = await leased(direct, 's')
    for (const on of ['renew', 'acquire', 'release'] as const) inject({ kind: 'lose-answer', on })
    expect(await store.renewLease('s', leaseId)).toMatchObject({ kind: 'unknown' })
    expect(await store.acquireLease('s', { leaseId, durationS: 15, holder: holder('ada') })).toMatchObject({
      kind: 'unknown',
    })
    expect(await store.releaseLease('s', leaseId)).toMatchObject({ kind: 'unknown' })
  })

  it('remove: a missing blob means removed; without an ETag it is not repeated', async () => {
    const { etag } = await stored(direct, 's')
    inject({ kind: 'lose-request', on: 'delete', times: 1 })
    expect(await store.remove('s', {})).toMatchObject({ kind: 'unknown' })
    inject({ kind: 'lose-request', on: 'delete', times: 1 }, { kind: 'lose-answer', on: 'delete', nth: 2 })
    expect(await store.remove('s', { etag })).toEqual({ kind: 'removed' })
    expect(proxy.count('delete')).toBe(3)
  })
})

describe('a create', () => {
  it('that the caller cancels in flight is unknown: it may have landed', async () => {
    const stop = new AbortController()
    inject({ kind: 'lose-answer', on: 'put', silent: true })
    const created = store.create('new', bytes('a;'), summary(), stop.signal)
    await vi.waitFor(async () => expect(await direct.read('new')).toBeDefined(), SOON)
    stop.abort(new Error('stop'))
    expect(await created).toMatchObject({ kind: 'unknown', cause: { message: 'stop' } })
  })

  it('that is canceled before it is sent throws the reason', async () => {
    const created = store.create('new', bytes('a;'), summary(), AbortSignal.abort(new Error('stop')))
    await expect(created).rejects.toThrow('stop')
    expect(proxy.count('put')).toBe(0)
  })
})

describe('a blob larger than any document', () => {
  it('is not read to the end', async () => {
    const { container } = direct
    const patient = await openAzuriteStore((await sharedAzurite()).port, { container, limits: { bodyMs: 100_000 } })
    opened.push(patient)
    await patient.create('huge', new Uint8Array(40 * 1024 * 1024), summary())
    const { length } = (await stored(patient, 'huge')).body
    expect(length).toBeGreaterThan(32 * 1024 * 1024)
    expect(length).toBeLessThan(34 * 1024 * 1024)
  })
})

describe('many changes over an unreliable network', () => {
  const kinds = ['lose-request', 'lose-answer', 'late', 'error-before', 'error-after', 'duplicate', 'truncate'] as const

  it('lose, duplicate and reorder nothing (seed 42)', async () => {
    const bad = await startFaultProxy({
      target: { port: (await sharedAzurite()).port },
      seed: 42,
      faults: kinds.map(kind => ({ kind, probability: 0.02, after: request => request.operation === 'put' })),
    })
    const worker = () => openAzuriteStore(bad.port, { container: direct.container, ...PATIENT })
    const workers = await Promise.all([worker(), worker(), worker(), worker()])
    const outcomes = new Map<string, string>()
    const work = workers.map(async (through, w) => {
      for (let i = 0; i < 15; i += 1) {
        const id = `${w}.${i}`
        const outcome = await change(id, { waitMs: 100_000 }, through).catch(() => ({ kind: 'failed' }))
        outcomes.set(id, outcome.kind)
      }
    })
    await Promise.all(work)
    await bad.deliverLate()
    await Promise.all(workers.map(through => through.close()))
    await bad.stop()
    const written = (await body()).split(';').filter(id => id !== '')
    expect(new Set(written).size).toBe(written.length)
    for (const [id, kind] of outcomes) {
      if (kind === 'committed') expect(written).toContain(id)
      else if (kind !== 'unknown') expect(written).not.toContain(id)
    }
    expect(bad.injected.length).toBeGreaterThan(10)
    expect([...outcomes.values()].filter(kind => kind === 'committed').length).toBeGreaterThan(40)
    for (const w of [0, 1, 2, 3]) {
      const own = written.filter(id => id.startsWith(`${w}.`)).map(id => Number(id.split('.')[1]))
      expect(own).toEqual([...own].sort((a, b) => a - b))
    }
  })
})
