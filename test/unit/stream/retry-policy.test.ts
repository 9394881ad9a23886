import { describe, expect, it } from 'vitest'
import { normalRetry, parseRetry, pauseMs, retryPolicy, retryText } from '../../../src/stream/retry-policy.ts'

const DAY_MS = 86_400_000

describe('a retry policy', () => {
  it.each([
    ['5 2s..1m', { attempts: 5, firstMs: 2_000, capMs: 60_000 }],
    ['  3  ', { attempts: 3, firstMs: 1_000, capMs: 60_000 }],
    ['1 10s', { attempts: 1, firstMs: 10_000, capMs: 10_000 }],
    ['1000 1s..366d', { attempts: 1_000, firstMs: 1_000, capMs: 366 * DAY_MS }],
    ['2 5s..5s', { attempts: 2, firstMs: 5_000, capMs: 5_000 }],
  ])('%s is read', (text, policy) => {
    expect(parseRetry(text)).toEqual(policy)
    expect(retryPolicy(text)).toEqual(policy)
  })

  it.each([
    ['0', /0 attempts: the first attempt counts/],
    ['1001', /"1001" is not a number of attempts from 1 to 1000/],
    ['x', /"x" is not a number of attempts/],
    ['2.5', /not a number of attempts/],
    ['3 1m..2s', /the longest pause is shorter than the first; write 2s..1m/],
    ['3 1s..2s..3s', /write the first pause and the longest/],
    ['3 1s..367d', /a pause is at most 366 days/],
    ['3 soon', /is not a duration/],
  ])('%s is refused, and in a document it is none', (text, error) => {
    expect(() => parseRetry(text)).toThrow(error)
    expect(retryPolicy(text)).toBeUndefined()
  })

  it('has one form in documents, and defaults for the part that is not given', () => {
    expect(normalRetry(' 3  2s .. 1m ')).toBe('3 2s..1m')
    expect(normalRetry('3 2s')).toBe('3 2s..2s')
    expect(normalRetry('3')).toBe('3 1s..1m')
    expect(retryText('4', undefined)).toBe('4 1s..1m')
    expect(retryText(undefined, '2s..3s')).toBe('5 2s..3s')
    expect(retryText(undefined, undefined)).toBeUndefined()
    expect(retryPolicy(undefined)).toBeUndefined()
  })
})

describe('the pause after an attempt', () => {
  const policy = { attempts: 9, firstMs: 2_000, capMs: 60_000 }
  const ids = Array.from({ length: 200 }, (_, at) => `c${at}`)

  it.each([
    [1, 2_000],
    [2, 4_000],
    [5, 32_000],
    [6, 60_000],
    [5_000, 60_000],
  ])('%i is between half of %i ms and all of it, and differs by command', (attempt, longestMs) => {
    const pauses = ids.map(id => pauseMs(policy, attempt, id))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(longestMs / 2)
    expect(Math.min(...pauses)).toBeLessThan(longestMs * 0.55)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(longestMs)
    expect(Math.max(...pauses)).toBeGreaterThan(longestMs * 0.95)
    expect(pauseMs(policy, attempt, 'c1')).toBe(pauseMs(policy, attempt, 'c1'))
  })
})
