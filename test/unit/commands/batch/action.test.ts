import { expect, test } from 'vitest'
import { problem } from '../../../../src/cli/problem.ts'
import { type Done, firstPin, pinAfter } from '../../../../src/commands/batch/action.ts'

const done = (outcome: 'done' | 'already', version: number): Done => ({
  kind: 'done',
  commandId: 'c',
  result: { outcome, version, changed: [], closed: [], joined: [], added: [], done: false, duplicate: false },
})

const PIN = { ifVersion: 3, ifBorn: 'b', ifSum: 's' }

test('the first change is pinned as previewed; --if-version takes the place of version and foreign write', () => {
  expect(firstPin(PIN, undefined)).toEqual(PIN)
  expect(firstPin(PIN, 7)).toEqual({ ifVersion: 7, ifBorn: 'b' })
  expect(firstPin({}, 7)).toEqual({ ifVersion: 7 })
})

test('after our own change the next one is pinned to it', () => {
  expect(pinAfter(PIN, done('done', 4))).toEqual({ ifVersion: 4, ifBorn: 'b' })
})

test('a stream without an identity was given one that nobody has seen', () => {
  expect(pinAfter({ ifVersion: 0, ifBorn: '' }, done('done', 1))).toEqual({ ifVersion: 1 })
})

test('what was not changed is pinned as before', () => {
  expect(pinAfter(PIN, done('already', 2))).toBe(PIN)
  expect(pinAfter(PIN, problem('claimed', 'no'))).toBe(PIN)
})
