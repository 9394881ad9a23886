import { describe, expect, it } from 'vitest'
import {
  normalRetry,
  parseAttempts,
  parseBackoff,
  parseRetry,
  pauseMs,
  retryPolicy,
  retryText,
} from '../../../src/stream/retry-policy.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 86_400 * SECOND

describe('a retry policy', () => {
  it.each([
    ['5 2s..1m', 5, 2 * SECOND, MINUTE],
    ['5', 5, SECOND, MINUTE],
    [' 12  2s..1m ', 12, 2 * SECOND, MINUTE],
    ['5\t30s', 5, 30 * SECOND, 30 * SECOND],
    ['3 2s .. 1m', 3, 2 * SECOND, MINUTE],
    ['1000 1s..366d', 1_000, SECOND, 366 * DAY],
  ])('reads %j', (text, attempts, firstMs, capMs) => {
    expect(parseRetry(text)).toEqual({ attempts, firstMs, capMs })
    expect(retryPolicy(text)).toEqual({ attempts, firstMs, capMs })
  })

  it.each([
    ['', '"" is not a number of attempts from 1 to 1000, as in 5 2s..1m'],
    ['0', '0 attempts: the first attempt counts, so 1 means that nothing is tried again'],
    ['1001', '"1001" is not a number of attempts'],
    ['x5', '"x5" is not a number'],
    ['5x', '"5x" is not a number'],
    ['5 2s..1m..2m', '"2s..1m..2m": write the first pause and the longest, as in 2s..1m'],
    ['5 1m..2s', '"1m..2s": the longest pause is shorter than the first; write 2s..1m'],
    ['5 1s..367d', '"1s..367d": a pause is at most 366 days'],
    ['5 ..1m', 'an empty duration'],
    ['5 1s..', 'an empty duration'],
  ])('refuses %j with the reason, and there is none in a document', (text, why) => {
    expect(() => parseRetry(text)).toThrow(why)
    expect(retryPolicy(text)).toBeUndefined()
  })

  it('quotes no more than the beginning of a long text', () => {
    expect(() => parseAttempts('9'.repeat(200))).toThrow(`"${'9'.repeat(60)}" is not`)
  })

  it('is none without a text', () => {
    expect(retryPolicy(undefined)).toBeUndefined()
  })

  it('takes one pause for both', () => {
    expect(parseBackoff(' 30s ')).toEqual({ firstMs: 30 * SECOND, capMs: 30 * SECOND })
  })

  it('is written from its parts, the other part by default', () => {
    expect(retryText(undefined, undefined)).toBeUndefined()
    expect(retryText('3', undefined)).toBe('3 1s..1m')
    expect(retryText(undefined, '2s..5s')).toBe('5 2s..5s')
    expect(retryText('3', '2s')).toBe('3 2s..2s')
    expect(() => retryText('0', undefined)).toThrow('0 attempts')
  })

  it.each([
    ['7', '7 1s..1m'],
    ['  12   2s  ..  1m ', '12 2s..1m'],
    ['5 30s', '5 30s..30s'],
  ])('is written as %j in one form', (text, normal) => {
    expect(normalRetry(text)).toBe(normal)
    expect(parseRetry(normal)).toEqual(parseRetry(text))
  })

  it('pauses between half and all of a time that doubles up to the longest, the same for the same command', () => {
    const policy = { attempts: 9, firstMs: SECOND, capMs: 5 * SECOND }
    const longest = [SECOND, 2 * SECOND, 4 * SECOND, 5 * SECOND, 5 * SECOND]
    for (const [at, most] of longest.entries()) {
      for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
        const ms = pauseMs(policy, at + 1, id)
        expect(ms).toBeGreaterThanOrEqual(most / 2)
        expect(ms).toBeLessThanOrEqual(most)
        expect(pauseMs(policy, at + 1, id)).toBe(ms)
      }
    }
    expect(new Set(['a', 'b', 'c', 'd'].map(id => pauseMs(policy, 1, id))).size).toBeGreaterThan(1)
    expect(pauseMs(policy, 5_000, 'a')).toBeLessThanOrEqual(5 * SECOND)
  })
})
