import { expect, test } from 'vitest'
import { problem } from '../../../../src/cli/problem.ts'
import { type Done, firstPin, pinAfter } from '../../../../src/commands/batch/action.ts'

const done = (outcome: 'done' | 'already', version: number): Done => ({
  kind: 'done',
  commandId: 'c',
  result: {
    outcome,
    version,
    changed: [],
    closed: [],
    joined: [],
    opened: [],
    added: [],
    done: false,
    duplicate: false,
  },
})

const PIN = { ifVersion: 3, ifBorn: 'b', ifSum: 's' }

test('the first change gets the previewed state as precondition; --if-version replaces version and foreign write', () => {
  expect(firstPin(PIN, undefined)).toEqual(PIN)
  expect(firstPin(PIN, 7)).toEqual({ ifVersion: 7, ifBorn: 'b' })
  expect(firstPin({}, 7)).toEqual({ ifVersion: 7 })
})

test('after our own change the next one expects that change', () => {
  expect(pinAfter(PIN, done('done', 4))).toEqual({ ifVersion: 4, ifBorn: 'b' })
})

test('a stream without an identity counts as changed if it has been given one', () => {
  expect(pinAfter({ ifVersion: 0, ifBorn: '' }, done('done', 1))).toEqual({ ifVersion: 1 })
})

test('an unchanged stream keeps its precondition', () => {
  expect(pinAfter(PIN, done('already', 2))).toBe(PIN)
  expect(pinAfter(PIN, problem('claimed', 'no'))).toBe(PIN)
})
