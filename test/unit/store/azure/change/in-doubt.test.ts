import { expect, it } from 'vitest'
import type { BlobState } from '../../../../../src/store/azure/blobs.ts'
import { InDoubtWrites } from '../../../../../src/store/azure/change/in-doubt.ts'

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

/** A Put under a lease gets no answer; then the lease is over, and the same state is read again. */
function unansweredUnderLease(writes: InDoubtWrites, etag: string): InDoubtWrites {
  writes.begin(etag, 'lease')({ md5: 'second', result: 'unanswered' })
  writes.leaseEnded('lease', 'LeaseLost')
  writes.observe(state(etag))
  return writes
}

it('a Put sent under an expired lease is never applied', () => {
  expect(unansweredUnderLease(new InDoubtWrites(), '"1"').write).toBeUndefined()
})

it('an earlier Put without a lease may still be applied to the state that it named', () => {
  const writes = new InDoubtWrites()
  writes.begin('"1"', undefined)({ md5: 'first', result: 'unanswered' })
  unansweredUnderLease(writes, '"1"')
  expect(writes.resolve(state('"1"'))).toBe('unknown')
  expect(writes.resolve(state('"2"'))).toBe('committed')
})

it('an earlier Put without a lease has failed once its state is replaced', () => {
  const writes = new InDoubtWrites()
  writes.begin('"1"', undefined)({ md5: 'first', result: 'unanswered' })
  writes.ruleOut(state('"2"'))
  expect(unansweredUnderLease(writes, '"2"').write).toBeUndefined()
})
