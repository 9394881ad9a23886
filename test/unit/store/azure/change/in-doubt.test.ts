import { expect, it } from 'vitest'
import type { BlobState } from '../../../../../src/store/azure/blobs.ts'
import { PutFate } from '../../../../../src/store/azure/change/in-doubt.ts'

const state = (etag: string): BlobState => ({
  stored: {
    name: 's',
    etag,
    size: 0,
    body: new Uint8Array(),
    modifiedMs: 0,
    versionFloor: 0,
    lease: { state: 'available' },
  },
  md5: 'another',
  metadata: {},
  headers: {},
})

/** A Put under a lease that got no answer; then the lease is over, and the same state is read again. */
function unansweredUnderLease(fate: PutFate, etag: string): PutFate {
  fate.sending(etag, 'lease')({ md5: 'second', applied: 'unknown' })
  fate.leaseIsOver('lease', 'LeaseLost')
  fate.read(state(etag))
  return fate
}

it('what was sent under a lease that is over is never applied', () => {
  expect(unansweredUnderLease(new PutFate(), '"1"').ghost).toBeUndefined()
})

it('what was sent without a lease before it may still be, on the state that it named', () => {
  const fate = new PutFate()
  fate.sending('"1"', undefined)({ md5: 'first', applied: 'unknown' })
  unansweredUnderLease(fate, '"1"')
  expect(fate.whenLeft(state('"1"'))).toBe('unknown')
  expect(fate.whenLeft(state('"2"'))).toBe('committed')
})

it('what was sent without a lease on a state that is gone is over', () => {
  const fate = new PutFate()
  fate.sending('"1"', undefined)({ md5: 'first', applied: 'unknown' })
  fate.notIn(state('"2"'))
  expect(unansweredUnderLease(fate, '"2"').ghost).toBeUndefined()
})
