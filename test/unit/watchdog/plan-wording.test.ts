import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newEvent } from '../../../src/stream/event.ts'
import { checkCommandId, checkText } from '../../../src/stream/text.ts'
import type { Deadline } from '../../../src/stream/time/deadlines.ts'
import { expiryCommandId, expiryText } from '../../../src/watchdog/plan.ts'
import { RUNS } from '../../support/arbitraries.ts'
import { MINUTE, START_MS } from './watch-world.ts'

const event = newEvent({ id: '01.00', name: 'Search', timeout: '00:05:00' })
const from = { ms: START_MS, timeoutMs: 5 * MINUTE }
const text = (limit: Partial<Deadline>, isTarget = true) =>
  expiryText(event, { kind: 'stream', dueMs: START_MS + 5 * MINUTE, from, ...limit }, isTarget)
const hash = (id: string) => `hash${id.length}`
const aStrangeCharacter = fc.constantFrom(
  'a',
  '\u001b',
  '[',
  ']',
  '\u0090',
  '\u009c',
  '\u0000',
  '\ud800',
  '😀',
  '\n',
  '"',
  '%',
)
const idOf = (id: string, attempt = '', dueMs = START_MS) =>
  expiryCommandId(newEvent({ id }, attempt === '' ? {} : { attempt }), dueMs, hash)

describe('the message of an expiry', () => {
  it('states which deadline passed, and when', () => {
    expect(text({ kind: 'stream' })).toBe(
      'timed out: the stream has run since 2026-03-01T12:00:00.000Z (timeout 00:05:00)',
    )
    expect(text({ kind: 'never-started' })).toBe(
      'timed out: not started since 2026-03-01T12:00:00.000Z (timeout 00:05:00)',
    )
    expect(text({ kind: 'no-sign-of-life' })).toBe(
      'timed out: no sign of life since 2026-03-01T12:00:00.000Z (timeout 00:05:00)',
    )
    const { from: _, ...absolute } = { kind: 'absolute', dueMs: START_MS, from: undefined } as const
    expect(expiryText(event, absolute, true)).toBe('timed out: it was to end by 2026-03-01T12:00:00.000Z')
  })

  it('names the due event if another is ended for it', () => {
    expect(text({ kind: 'never-started' }, false)).toMatch(/^01\.00 Search timed out: not started/)
  })

  it('can be written with any foreign event names', () => {
    fc.assert(
      fc.property(fc.string({ unit: aStrangeCharacter, maxLength: 900 }), fc.boolean(), (strange, isTarget) => {
        const odd = newEvent({ id: strange, name: strange, timeout: strange })
        const message = expiryText(odd, { kind: 'no-sign-of-life', dueMs: START_MS, from }, isTarget)
        checkText('reason', message)
        expect(message).not.toContain('\u001b')
      }),
      { numRuns: RUNS },
    )
  })
})

describe('a foreign event with hostile texts', () => {
  it('delays no other, however long its texts are', () => {
    const text = '\u0090\n'.repeat(1_000_000)
    const odd = newEvent({ id: text, name: text, timeout: text })
    const message = expiryText(odd, { kind: 'no-sign-of-life', dueMs: START_MS, from }, false)
    expect(message.length).toBeLessThan(1_024)
    expect(expiryCommandId(odd, START_MS, hash)).toBe('watchdog:hash2000000:1:2026-03-01T12:00:00.000Z')
  })
})

describe('the command id of an expiry', () => {
  it('consists of event, attempt and due time', () => {
    expect(idOf('01.00')).toBe('watchdog:01.00:1:2026-03-01T12:00:00.000Z')
    expect(idOf('01.00', '3')).toBe('watchdog:01.00:3:2026-03-01T12:00:00.000Z')
  })

  it('is never the same for two events, whatever their ids', () => {
    const id = fc.oneof(
      fc.constantFrom('a b', 'a%20b', 'a:1', 'a', 'a:1:1', '%', '%25'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    )
    fc.assert(
      fc.property(id, id, (a, b) => {
        for (const each of [idOf(a), idOf(b)]) checkCommandId(each)
        expect(idOf(a) === idOf(b)).toBe(a === b)
      }),
      { numRuns: 10 * RUNS },
    )
  })

  it('has a hash in place of an id that is too long', () => {
    const long = 'x'.repeat(200)
    expect(idOf(long)).toBe('watchdog:hash200:1:2026-03-01T12:00:00.000Z')
    checkCommandId(idOf('ä'.repeat(40)))
  })
})
