import { expect, test } from 'vitest'
import { commandHash } from '../../../../src/stream/operations/command-hash.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'

const AUTHOR = { commandId: 'c', by: 'me', why: 'so' }

const hashOf = (operation: object): string => commandHash(operation as Operation, AUTHOR)

test('the order of names does not affect the hash, the order of lists does', () => {
  const forks = [
    { name: 'A', key: 'k' },
    { name: 'B', key: 'k' },
  ]
  const asked = { op: 'advance', event: '00', forks }
  expect(hashOf({ forks: forks.map(({ name, key }) => ({ key, name })), event: '00', op: 'advance' })).toBe(
    hashOf(asked),
  )
  expect(hashOf({ ...asked, forks: forks.toReversed() })).not.toBe(hashOf(asked))
  expect(hashOf({ ...asked, forks: { 0: forks[0], 1: forks[1] } })).not.toBe(hashOf(asked))
})

test('a message that repeats the reason does not affect the hash, another value that repeats it does', () => {
  const asked = { op: 'fail', event: '01.00' }
  expect(hashOf({ ...asked, msg: 'so' })).toBe(hashOf(asked))
  expect(hashOf({ ...asked, msg: 'other' })).not.toBe(hashOf(asked))
  expect(hashOf({ ...asked, tag: 'so' })).not.toBe(hashOf(asked))
})

test('an empty value equals a missing value', () => {
  expect(hashOf({ op: 'set', event: '00', attributes: { tag: null } })).toMatch(/^[0-9a-f]{16}$/)
  expect(hashOf({ op: 'set', event: '00', attributes: { tag: null } })).not.toBe(hashOf({ op: 'set', event: '00' }))
})
