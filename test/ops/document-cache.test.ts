import { describe, expect, it } from 'vitest'
import { DocumentCache } from '../../src/ops/document-cache.ts'
import { type PlannedOperation, plan } from '../../src/ops/plan.ts'
import { EMPTY_DOCUMENT } from '../../src/stream/document.ts'
import { newEvent } from '../../src/stream/event.ts'
import type { Operation } from '../../src/stream/operation.ts'
import { init, memoryStore, NOW, run, writeForeign } from './support.ts'

function planned(operation: Operation, commandId: string): PlannedOperation {
  return { operation, author: { commandId, by: 'w' }, pin: {}, born: 'b', applied: undefined, sentTo: undefined }
}

describe('DocumentCache', () => {
  it('answers for the ETag of the last write only', () => {
    const cache = new DocumentCache()
    cache.remember('s', 'e1', EMPTY_DOCUMENT)
    expect(cache.find('s', 'e1')).toBe(EMPTY_DOCUMENT)
    expect(cache.find('s', 'e2')).toBeUndefined()
    expect(cache.find('t', 'e1')).toBeUndefined()
  })

  it('keeps 20 000 events of the streams written last, and no large stream', () => {
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
    cache.remember('large', 'e', { ...EMPTY_DOCUMENT, events: eventsOf(501) })
    expect(cache.find('large', 'e')).toBeUndefined()
  })

  it('keeps a thousand streams of 10 events and 20 entries', () => {
    const cache = new DocumentCache()
    const events = Array.from({ length: 10 }, (_, at) => newEvent({ id: String(at), name: 'e' }))
    const document = { ...EMPTY_DOCUMENT, events, journal: 'x'.repeat(20 * 300) }
    for (let at = 0; at < 1_000; at++) cache.remember(`s${at}`, 'e', document)
    expect(cache.find('s0', 'e')).toBe(document)
  })

  it('forgets a stream that is done', () => {
    const cache = new DocumentCache()
    const document = (status: string) => ({ ...EMPTY_DOCUMENT, events: [newEvent({ id: '00', status })] })
    cache.remember('s', 'e1', document('inprocess'))
    expect(cache.find('s', 'e1')).toBeDefined()
    cache.remember('s', 'e2', document('canceled'))
    expect([cache.find('s', 'e1'), cache.find('s', 'e2')]).toEqual([undefined, undefined])
  })

  it('weighs history too', () => {
    const cache = new DocumentCache()
    const journal = 'x'.repeat(250 * 1024)
    for (let at = 0; at < 200; at++) cache.remember(`s${at}`, 'e', { ...EMPTY_DOCUMENT, journal })
    expect([cache.find('s0', 'e'), cache.find('s199', 'e')]).toMatchObject([undefined, {}])
    cache.remember('long', 'e', { ...EMPTY_DOCUMENT, journal: journal + journal })
    expect(cache.find('long', 'e')).toBeUndefined()
  })
})

describe('a change of a stream that this process wrote last', () => {
  const operations: Operation[] = [
    { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 },
    { op: 'advance', event: '01.00', owner: 'w', next: { name: 'Done' }, forks: [{ name: 'A' }], join: { name: 'J' } },
    { op: 'fail', event: '02.00', msg: 'no <good> & "more"\n' },
    { op: 'retry', event: '02.00' },
    { op: 'cancel' },
  ]

  it('writes the same bytes with and without the remembered document', () => {
    let body: Uint8Array = new Uint8Array()
    let known = EMPTY_DOCUMENT
    for (const [at, operation] of [init(['A', 'B']), ...operations].entries()) {
      const remembered = plan([planned(operation, `c${at}`)], { body, versionFloor: at }, NOW + at, known)
      const parsed = plan([planned(operation, `c${at}`)], { body, versionFloor: at }, NOW + at)
      if (remembered.decision.kind !== 'put') throw new Error(`${operation.op} changes something`)
      const { body: written, summary } = remembered.decision
      expect(parsed.decision).toMatchObject({ body: written, summary })
      body = remembered.decision.body
      known = remembered.document
    }
  })

  it('sees what somebody else wrote since', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A']))
    await writeForeign(store, 's', 'status="init"', 'status="completed"')
    expect(await run(store, 's', { op: 'complete', event: '01.00' })).toMatchObject({
      refusal: { code: 'already-final' },
    })
    expect((await store.read('s'))?.summary?.status).toBe('completed')
  })
})
