import { describe, expect, it } from 'vitest'
import { DocumentCache, documentCache, keepNoDocuments } from '../../../../src/ops/transact/commit.ts'
import { applyGroup, type PendingOperation } from '../../../../src/ops/transact/plan.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { EMPTY_DOCUMENT } from '../../../../src/stream/document.ts'
import { newEvent } from '../../../../src/stream/event.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { init, intercept, memoryStore, NOW, run, writeForeign } from '../support.ts'

function pending(operation: Operation, commandId: string): PendingOperation {
  return {
    operation,
    author: { commandId, by: 'w' },
    pin: {},
    nonce: commandId,
    born: 'b',
  }
}

describe('DocumentCache', () => {
  it('finds a document only by the ETag of its last write', () => {
    const cache = new DocumentCache()
    cache.remember('s', 'e1', EMPTY_DOCUMENT)
    expect(cache.find('s', 'e1')).toBe(EMPTY_DOCUMENT)
    expect(cache.find('s', 'e2')).toBeUndefined()
    expect(cache.find('t', 'e1')).toBeUndefined()
  })

  it('keeps 20 000 events of the most recently written streams, and no stream with more than half of them', () => {
    const cache = new DocumentCache()
    const eventsOf = (count: number) =>
      Array.from({ length: count }, (_, at) => newEvent({ id: String(at), name: 'e' }))
    const document = { ...EMPTY_DOCUMENT, events: eventsOf(500) }
    for (let at = 0; at < 40; at++) cache.remember(`s${at}`, 'e', document)
    cache.remember('s0', 'again', document)
    expect(cache.find('s1', 'e')).toBe(document)
    cache.remember('s40', 'e', document)
    expect([cache.find('s1', 'e'), cache.find('s2', 'e'), cache.find('s0', 'again')]).toEqual([
      undefined,
      document,
      document,
    ])
    cache.remember('half', 'e', { ...EMPTY_DOCUMENT, events: eventsOf(10_000) })
    expect(cache.find('half', 'e')).toBeDefined()
    cache.remember('large', 'e', { ...EMPTY_DOCUMENT, events: eventsOf(10_001) })
    expect(cache.find('large', 'e')).toBeUndefined()
  })

  it('keeps a thousand streams of 10 events and 20 entries', () => {
    const cache = new DocumentCache()
    const events = Array.from({ length: 10 }, (_, at) => newEvent({ id: String(at), name: 'e' }))
    const document = { ...EMPTY_DOCUMENT, events, journal: 'x'.repeat(20 * 300) }
    for (let at = 0; at < 1_000; at++) cache.remember(`s${at}`, 'e', document)
    expect(cache.find('s0', 'e')).toBe(document)
  })

  it('keeps nothing for a process that changes each stream once', async () => {
    const { store } = memoryStore()
    await run(store, 'kept', init())
    expect(documentCache(store).latest('kept')).toBeDefined()
    keepNoDocuments(store)
    await run(store, 's', init())
    expect(documentCache(store).latest('s')).toBeUndefined()
    expect(await run(store, 's', { op: 'set', event: '00', attributes: { tag: 't' } })).toMatchObject({ kind: 'done' })
  })

  it('forgets a completed stream', () => {
    const cache = new DocumentCache()
    const document = (status: string) => ({ ...EMPTY_DOCUMENT, events: [newEvent({ id: '00', status })] })
    cache.remember('s', 'e1', document('inprocess'))
    expect(cache.find('s', 'e1')).toBeDefined()
    cache.remember('s', 'e2', document('canceled'))
    expect([cache.find('s', 'e1'), cache.find('s', 'e2')]).toEqual([undefined, undefined])
  })

  it('includes the history in the size', () => {
    const cache = new DocumentCache()
    const journal = 'x'.repeat(250 * 1024)
    for (let at = 0; at < 200; at++) cache.remember(`s${at}`, 'e', { ...EMPTY_DOCUMENT, journal })
    expect([cache.find('s0', 'e'), cache.find('s199', 'e')]).toMatchObject([undefined, {}])
    cache.remember('long', 'e', { ...EMPTY_DOCUMENT, journal: journal.repeat(80) })
    expect(cache.find('long', 'e')).toBeUndefined()
  })
})

describe('a change of a stream that this process has just written', () => {
  const operations: Operation[] = [
    { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 },
    { op: 'advance', event: '01.00', owner: 'w', next: { name: 'Done' }, forks: [{ name: 'A' }], join: { name: 'J' } },
    { op: 'fail', event: '02.00', msg: 'no <good> & "more"\n' },
    { op: 'retry', event: '02.00' },
    { op: 'cancel' },
  ]

  it('writes the same bytes with and without the cached document', () => {
    let body: Uint8Array = new Uint8Array()
    let known = EMPTY_DOCUMENT
    for (const [at, operation] of [init(['A', 'B']), ...operations].entries()) {
      const remembered = applyGroup([pending(operation, `c${at}`)], { body, versionFloor: at }, NOW + at, [], known)
      const parsed = applyGroup([pending(operation, `c${at}`)], { body, versionFloor: at }, NOW + at)
      if (remembered.decision.kind !== 'put') throw new Error(`${operation.op} changes something`)
      const { body: written, summary } = remembered.decision
      expect(parsed.decision).toMatchObject({ body: written, summary })
      body = remembered.decision.body
      known = remembered.document
    }
  })

  it('reads what another writer has written since', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    await writeForeign(store, 's', 'status="init"', 'status="completed"')
    expect(await run(store, 's', { op: 'complete', event: '01.00' })).toMatchObject({
      refusal: { code: 'already-final' },
    })
    expect((await store.read('s'))?.summary?.status).toBe('completed')
  })
})

describe('changes of a large stream', () => {
  const names = Array.from({ length: 501 }, (_, at) => `E${at}`)

  /** The number of reads of the stream's text. */
  function counting(store: StreamStore): { store: StreamStore; readonly bodies: () => number } {
    let bodies = 0
    const counted = intercept(store, (_, decide, go) =>
      go((current, nowMs) => {
        const { body } = current
        const seen = Object.defineProperty({ ...current }, 'body', {
          get() {
            bodies += 1
            return body
          },
        })
        return decide(seen, nowMs)
      }),
    )
    return { store: counted, bodies: () => bodies }
  }

  it('read none of what this process wrote, and each write is kept', async () => {
    const { store, bodies } = counting(memoryStore().store)
    await run(store, 's', init(names))
    // With different wait limits, so that none shares a write.
    const ends = [1, 2, 3].map(at => run(store, 's', { op: 'complete', event: `0${at}.00` }, { leaseWaitMs: at }))
    expect(await Promise.all(ends)).toMatchObject([{ kind: 'done' }, { kind: 'done' }, { kind: 'done' }])
    expect(bodies()).toBe(0)
    const stored = await store.read('s')
    expect(stored?.summary).toMatchObject({ version: 4, open: names.length + 1 - 3 })
  })

  it('read it again if another wrote in between', async () => {
    const base = memoryStore().store
    let changes = 0
    const written = intercept(base, async (name, decide, go) => {
      changes += 1
      if (changes === 2) await writeForeign(base, name, 'name="E7"', 'name="another"')
      return go(decide)
    })
    const { store, bodies } = counting(written)
    await run(store, 's', init(names))
    const ends = [1, 2].map(at => run(store, 's', { op: 'complete', event: `0${at}.00` }, { leaseWaitMs: at }))
    expect(await Promise.all(ends)).toMatchObject([{ result: { version: 2 } }, { result: { version: 4 } }])
    expect(bodies()).toBe(1)
    expect(Buffer.from((await store.read('s'))?.body ?? []).toString()).toContain('name="another"')
    await run(store, 's', { op: 'complete', event: '03.00' })
    expect(bodies()).toBe(1)
  })
})
