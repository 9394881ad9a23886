import { BlobServiceClient } from '@azure/storage-blob'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { StoreUnreachable } from '../../../../../src/store/errors.ts'
import type {
  ChangeOptions,
  ChangeOutcome,
  StreamSnapshot,
  StreamStore,
  WriteMode,
} from '../../../../../src/store/store.ts'
import { bytes, changeOptions, leased, stored, summary, text } from '../../../../contract/harness.ts'
import { connectionStringAt, openAzuriteStore, sharedAzurite } from '../../../../support/azurite.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../../../../support/fault-proxy.ts'
import { behindProxy, limitToEnd, PATIENT, SOON, type StoppedClock } from '../support.ts'

/** Reads and writes the actual state, without the proxy. */
let direct: StreamStore & { container: string }
let proxy: FaultProxy
let store: StreamStore
/** Of the store's machine: received times stay fresh. */
let clock: StoppedClock
let end: () => Promise<void>

beforeEach(async () => {
  ;({ direct, proxy, store, clock, end } = await behindProxy())
})

afterEach(async () => {
  await end()
})

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
  through.update('s', append(id), changeOptions({ write: 'optimistic', ...options }))

const other = (id = 'other') => direct.update('s', append(id), changeOptions({ write: 'optimistic' }))

const body = async (): Promise<string> => text((await stored(direct, 's')).body)

function inject(...faults: Fault[]): void {
  for (const fault of faults) proxy.add(fault)
}

/** Makes the store cache the current state, and forgets the requests for that. */
async function warm(): Promise<void> {
  expect(await change('w')).toMatchObject({ kind: 'committed' })
  proxy.reset()
}

const operations = () => proxy.requests.map(request => request.operation)

describe('an optimistic change without faults', () => {
  it('reads, then puts with the ETag it read and the MD5 of the body, and requests no lease', async () => {
    const { etag } = await stored(direct, 's')
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(operations()).toEqual(['get', 'put'])
    const { headers } = proxy.requests[1] ?? {}
    expect(headers).toMatchObject({ 'if-match': etag, 'content-md5': expect.stringMatching(/==$/) })
    expect(headers).not.toHaveProperty('x-ms-lease-id')
  })

  it('takes one round trip if this process wrote last', async () => {
    await warm()
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) expect(await change(id)).toMatchObject({ kind: 'committed' })
    expect(operations()).toEqual(['put', 'put', 'put', 'put', 'put', 'put'])
    expect(await body()).toBe('w;a;b;c;d;e;f;')
  })

  it('keeps the metadata and content headers of others through reads and writes from the cache', async () => {
    const blob = await foreignBlob()
    const { etag } = await blob.download()
    await blob.upload('', 0, {
      metadata: { theirs: '4711' },
      blobHTTPHeaders: { blobContentType: 'text/xml', blobCacheControl: 'no-store' },
      conditions: { ifMatch: etag ?? '' },
    })
    for (const id of ['a', 'b', 'c']) await change(id)
    expect(await blob.getProperties()).toMatchObject({
      metadata: { theirs: '4711' },
      contentType: 'text/xml',
      cacheControl: 'no-store',
    })
  })

  it('never skips because of a cached state: it reads and decides again', async () => {
    await warm()
    await other()
    const seen: string[] = []
    const decide = (current: StreamSnapshot) => {
      seen.push(text(current.body))
      return seen.length === 1 ? { kind: 'leave' as const } : append('a')(current)
    }
    expect(await store.update('s', decide, changeOptions({ write: 'optimistic' }))).toMatchObject({
      kind: 'committed',
    })
    expect(seen).toEqual(['w;', 'w;other;'])
    expect(await body()).toBe('w;other;a;')
  })

  it('never fails because of a cached state: it reads and decides again', async () => {
    await warm()
    await other()
    const decide = (current: StreamSnapshot) => {
      if (!text(current.body).includes('other')) throw new Error('no such event')
      return append('a')(current)
    }
    expect(await store.update('s', decide, changeOptions({ write: 'optimistic' }))).toMatchObject({
      kind: 'committed',
    })
  })

  it('is left after one read if there is nothing to do', async () => {
    await warm()
    expect(await change('w')).toEqual({ kind: 'left' })
    expect(operations()).toEqual(['get'])
  })

  it('reads and decides again if another wrote before it', async () => {
    await warm()
    await other()
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(operations()).toEqual(['put', 'get', 'put'])
    expect(await body()).toBe('w;other;a;')
  })

  it('takes the lease after two conflicts, so that other writers cannot block it forever', async () => {
    let times = 0
    inject({ kind: 'delay', on: 'put', times: 2, before: () => other(`${times++}`) })
    // Now it is too late for others.
    const late = { ...changeOptions(), waitMs: 0 }
    inject({ kind: 'delay', on: 'put', before: () => direct.update('s', append('late'), late) })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    await store.close()
    expect(operations()).toEqual(['get', 'put', 'get', 'put', 'acquire', 'get', 'put', 'release'])
    expect(await body()).toBe('0;1;a;')
  })

  it('continues under the lease of the previous change while that is held, with only a put', async () => {
    let times = 0
    inject({ kind: 'delay', on: 'put', times: 2, before: () => other(`${times++}`) })
    await change('a')
    proxy.reset()
    expect(await change('b')).toMatchObject({ kind: 'committed' })
    expect(operations()).toEqual(['put'])
    expect(await body()).toBe('0;1;a;b;')
  })

  it('is held if another takes the lease first', async () => {
    let times = 0

    inject({ kind: 'delay', on: 'put', times: 2, before: () => other(`${times++}`) })
    inject({ kind: 'delay', on: 'acquire', times: 1, before: () => leased(direct, 's', 'grace') })
    expect(await change('a', { waitMs: 30 })).toMatchObject({ kind: 'held', lease: { holder: { by: 'grace' } } })
    expect(await body()).toBe('0;1;')
  })

  it('returns missing, not unknown, if the stream is removed between its read and its put', async () => {
    inject({ kind: 'delay', on: 'put', nth: 1, before: () => direct.remove('s', {}) })
    expect(await change('a')).toEqual({ kind: 'missing' })
  })
})

describe('an optimistic change beside a lease', () => {
  it('that is held costs one put and one read with a cached state; nothing is written', async () => {
    await warm()
    const before = await stored(direct, 's')
    await direct.acquireLease('s', { leaseId: crypto.randomUUID(), durationS: 60, holder: changeOptions().holder })
    expect(await change('a', { waitMs: 0 })).toMatchObject({ kind: 'held', lease: { state: 'leased' }, lastBy: 'ada' })
    expect(operations()).toEqual(['put', 'get'])
    expect(await stored(direct, 's')).toMatchObject({ etag: before.etag })
  })

  it('waits until it is released and then reads what its holder wrote', async () => {
    await warm()
    const leaseId = await leased(direct, 's')
    inject({
      kind: 'delay',
      on: 'get',
      nth: 2,
      before: async () => {
        await direct.update('s', append('holder'), changeOptions({ leaseId }))
        await direct.releaseLease('s', leaseId)
      },
    })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe('w;holder;a;')
  })

  it('that is taken during the change and kept: held, not unknown, because the service refused the put', async () => {
    inject({ kind: 'delay', on: 'put', nth: 1, before: () => leased(direct, 's', 'grace') })
    expect(await change('a', { waitMs: 30 })).toMatchObject({ kind: 'held', lease: { holder: { by: 'grace' } } })
    expect(await body()).toBe('')
  })

  it('that is taken after a put that may still land: unknown, not held', async () => {
    const take = () =>
      direct.acquireLease('s', { leaseId: crypto.randomUUID(), durationS: 60, holder: changeOptions().holder })
    inject({ kind: 'late', on: 'put', nth: 1 }, { kind: 'delay', on: 'get', nth: 2, before: take })
    expect(await change('a', { waitMs: 30 })).toMatchObject({ kind: 'unknown', cause: expect.any(StoreUnreachable) })
    await direct.breakLease('s', 0)
    await proxy.deliverLate()
    expect(await body()).toBe('a;')
  })

  it('that is taken after a put that landed without an answer: committed, not held', async () => {
    const take = () =>
      direct.acquireLease('s', { leaseId: crypto.randomUUID(), durationS: 60, holder: changeOptions().holder })
    inject({ kind: 'lose-answer', on: 'put', nth: 1 }, { kind: 'delay', on: 'get', nth: 2, before: take })
    expect(await change('a', { waitMs: 0 })).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe('a;')
  })

  it('never overwrites the put of a holder whose lease was broken: that put is refused and done again', async () => {
    const meanwhile = async () => {
      await direct.breakLease('s', 0)
      expect(await change('fast', {}, direct)).toMatchObject({ kind: 'committed' })
    }
    inject({ kind: 'delay', on: 'put', nth: 1, before: meanwhile })
    expect(await change('slow', { write: 'lease' })).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe('fast;slow;')
  })
})

describe.each(['cold', 'warm'])('an optimistic put, %s,', temperature => {
  const before = temperature === 'warm' ? 'w;' : ''
  beforeEach(async () => {
    if (temperature === 'warm') await warm()
  })

  it.each([
    { kind: 'lose-request', puts: 2 },
    { kind: 'lose-answer', puts: 1 },
    { kind: 'error-before', puts: 2 },
    { kind: 'error-after', puts: 1 },
    { kind: 'duplicate', puts: 1 },
    { kind: 'truncate', puts: 1 },
  ] as const)('$kind: committed once, with $puts puts', async ({ kind, puts }) => {
    inject({ kind, on: 'put', nth: 1 })
    const outcome = await change('a')
    const found = await stored(direct, 's')
    expect(outcome).toEqual({ kind: 'committed', etag: found.etag })
    expect(text(found.body)).toBe(`${before}a;`)
    expect(proxy.injected).toHaveLength(1)
    expect(proxy.count('put')).toBe(puts)
  })

  it('without an answer on an open connection times out and is resolved by a read', async () => {
    const endLimit = limitToEnd()
    inject({ kind: 'lose-answer', on: 'put', nth: 1, silent: true })
    const changed = change('a')
    await vi.waitFor(async () => expect(await body()).toBe(`${before}a;`), SOON)
    endLimit()
    expect(await changed).toMatchObject({ kind: 'committed' })
    expect(proxy.count('put')).toBe(1)
  })

  it('that lands after the second one is refused by the service', async () => {
    inject({ kind: 'late', on: 'put', nth: 1, after: request => request.operation === 'put' })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    await proxy.deliverLate()
    expect(proxy.count('put')).toBe(2)
    expect(await body()).toBe(`${before}a;`)
  })

  it('that lands just before the second one makes that one fail, and is found', async () => {
    inject({ kind: 'late', on: 'put', nth: 1 }, { kind: 'delay', on: 'put', nth: 2, before: () => proxy.deliverLate() })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(proxy.injected.map(one => one.kind)).toEqual(['late', 'delay'])
    expect(await body()).toBe(`${before}a;`)
  })

  it('that is unanswered and then overwritten by another: found in the current state, not repeated', async () => {
    inject({ kind: 'lose-answer', on: 'put', nth: 1, before: async () => {} })
    inject({ kind: 'delay', on: 'get', when: () => proxy.count('put') > 0, times: 1, before: () => other() })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe(`${before}a;other;`)
    expect(proxy.count('put')).toBe(1)
  })

  it('that is lost while another writes: decided again on the current state', async () => {
    inject({ kind: 'lose-request', on: 'put', nth: 1, before: () => other() })
    expect(await change('a')).toMatchObject({ kind: 'committed' })
    expect(await body()).toBe(`${before}other;a;`)
  })

  it('is unknown if no answer arrives before the deadline, and is not retried automatically afterwards', async () => {
    // Three of them exceed the whole time limit of a change.
    const passing = async () => clock.pass(12_000)
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
    inject({ kind: 'lose-answer', on: 'put', silent: true, before: async () => stop.abort(new Error('stop')) })
    expect(await change('a', { signal: stop.signal })).toMatchObject({ kind: 'unknown' })
  })

  it('that may still land makes a decision to skip unknown', async () => {
    inject({ kind: 'late', on: 'put', nth: 1 })
    let decisions = 0
    const decide = (current: StreamSnapshot) => {
      decisions += 1
      return decisions === 1 ? append('a')(current) : { kind: 'leave' as const }
    }
    expect(await store.update('s', decide, changeOptions({ write: 'optimistic' }))).toMatchObject({
      kind: 'unknown',
    })
  })
})

describe('lease holders, optimistic writers and foreign writers on one stream', () => {
  const kinds = ['lose-request', 'lose-answer', 'late', 'error-before', 'error-after', 'duplicate', 'truncate'] as const
  const CHANGES = 8

  it('lose, duplicate and reorder nothing over an unreliable network (seed 7)', async () => {
    const bad = await startFaultProxy({
      target: { port: (await sharedAzurite()).port },
      seed: 7,
      faults: kinds.map(kind => ({ kind, probability: 0.02, after: request => request.operation === 'put' })),
    })
    const open = () => openAzuriteStore(bad.port, { container: direct.container, ...PATIENT })
    const modes: readonly WriteMode[] = ['lease', 'lease', 'optimistic', 'optimistic', 'optimistic']
    const stores = await Promise.all(modes.map(open))
    const outcomes = new Map<string, string>()
    const work = modes.map(async (write, w) => {
      for (let at = 0; at < CHANGES; at += 1) {
        const outcome = await change(`${w}.${at}`, { write, waitMs: 100_000 }, stores[w]).catch(() => ({
          kind: 'failed',
        }))
        outcomes.set(`${w}.${at}`, outcome.kind)
      }
    })
    await Promise.all([...work, foreignWriter('9', outcomes), foreignWriter('10', outcomes)])
    await bad.deliverLate()
    await Promise.all(stores.map(each => each.close()))
    await bad.stop()
    const written = (await body()).split(';').filter(id => id !== '')
    expect(new Set(written).size).toBe(written.length)
    for (const [id, kind] of outcomes) {
      if (kind === 'committed') expect(written).toContain(id)
      else if (kind !== 'unknown') expect(written).not.toContain(id)
    }
    expect(bad.injected.length).toBeGreaterThan(10)
    expect([...outcomes.values()].filter(kind => kind === 'committed').length).toBeGreaterThan(CHANGES * 5)
    for (const w of ['0', '1', '2', '3', '4', '9', '10']) {
      const own = written.filter(id => id.startsWith(`${w}.`)).map(id => Number(id.split('.')[1]))
      expect(own).toEqual([...own].sort((a, b) => a - b))
    }
  })

  /** Uses only the ETag: reads, appends, puts, and retries if refused. */
  async function foreignWriter(writer: string, outcomes: Map<string, string>): Promise<void> {
    const blob = await foreignBlob()
    for (let at = 0; at < CHANGES; ) {
      const found = await blob.downloadToBuffer()
      const { etag = '' } = await blob.getProperties()
      const next = `${found}${writer}.${at};`
      // Read before the ETag was requested: a write in between must not be lost.
      const again = await blob.downloadToBuffer(0, undefined, { conditions: { ifMatch: etag } }).catch(() => undefined)
      if (again === undefined || !again.equals(found)) continue
      const landed = await blob.upload(next, next.length, { conditions: { ifMatch: etag } }).then(
        () => true,
        (error: { statusCode?: number }) => {
          if (error.statusCode === 412 || error.statusCode === 409) return false
          throw error
        },
      )
      if (!landed) continue
      outcomes.set(`${writer}.${at}`, 'committed')
      at += 1
    }
  }
})

async function foreignBlob() {
  const { port } = await sharedAzurite()
  const service = BlobServiceClient.fromConnectionString(connectionStringAt(port))
  return service.getContainerClient(direct.container).getBlockBlobClient('s')
}
