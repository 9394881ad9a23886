import { expect, test } from 'vitest'
import {
  counted,
  countText,
  moreThanText,
  spacedCount,
  spacedCounted,
} from '../../../../src/formats/terminal/numbers.ts'

test('a program reads a count as one word', () => {
  expect([0, 999, 1_000, 1_234_567].map(countText)).toEqual(['0', '999', '1000', '1234567'])
})

test('the dashboard separates the thousands', () => {
  expect([0, 999, 1_000, 12_431, 1_234_567].map(spacedCount)).toEqual(['0', '999', '1 000', '12 431', '1 234 567'])
  expect(spacedCounted(2_000, 'match', 'matches')).toBe('2 000 matches')
})

test('an incomplete count is rounded down, never up', () => {
  expect([1, 201, 1_000, 1_001, 85_432, 85_000, 85_001, 1_299_999].map(moreThanText)).toEqual([
    'more than 0',
    'more than 200',
    'more than 999',
    'more than 1000',
    'more than 85000',
    'more than 84000',
    'more than 85000',
    'more than 1200000',
  ])
})

test('a count of one is singular', () => {
  expect([counted(1, 'stream'), counted(0, 'stream'), counted(2_000, 'match', 'matches')]).toEqual([
    '1 stream',
    '0 streams',
    '2000 matches',
  ])
})
