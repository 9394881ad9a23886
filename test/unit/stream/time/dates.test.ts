import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT } from '../../../../src/stream/document.ts'
import { newEvent } from '../../../../src/stream/event.ts'
import { decideDates, isoTime, readTime, timeReaderFor } from '../../../../src/stream/time/dates.ts'

const at = (text: string) => Date.parse(text)
const NOW = at('2026-07-31T12:00:00Z')
const AFTERNOON = at('2013-05-06T15:04:05Z')

describe('readTime, ISO 8601', () => {
  it.each([
    ['2013-05-06T15:04:05.000Z', AFTERNOON],
    ['2013-05-06T15:04:05Z', AFTERNOON],
    ['2013-05-06t15:04:05z', AFTERNOON],
    ['2013-05-06T15:04:05', AFTERNOON],
    ['2013-05-06 15:04:05', AFTERNOON],
    ['2013-05-06T15:04:05.1234567Z', AFTERNOON + 123],
    ['2013-05-06T15:04:05,5Z', AFTERNOON + 500],
    ['2013-05-06T17:04:05+02:00', AFTERNOON],
    ['2013-05-06T17:04:05+0200', AFTERNOON],
    ['2013-05-06T09:34:05-05:30', AFTERNOON],
    ['2013-05-07T03:04:05+12:00', AFTERNOON],
    ['2013-05-06T15:04Z', AFTERNOON - 5000],
    [' 2013-05-06T15:04:05Z\n', AFTERNOON],
    ['2024-02-29T00:00:00Z', at('2024-02-29T00:00:00Z')],
    ['2000-02-29T00:00:00Z', at('2000-02-29T00:00:00Z')],
    ['1970-01-01T00:00:00Z', 0],
  ])('reads %j', (text, ms) => {
    expect(readTime(text)).toBe(ms)
  })

  it.each([
    '',
    'now',
    '2013-05-06',
    '2013-13-01T00:00:00Z',
    '2013-00-01T00:00:00Z',
    '2013-05-00T00:00:00Z',
    '2013-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2013-04-31T00:00:00Z',
    '2013-06-31T00:00:00Z',
    '2013-09-31T00:00:00Z',
    '2013-11-31T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2013-05-06T24:00:00Z',
    '2013-05-06T15:60:00Z',
    '2013-05-06T15:04:60Z',
    '1969-12-31T23:59:59Z',
    '0001-01-01T00:00:00Z',
    '0070-01-01T00:00:00Z',
    '1970-01-01T00:00:00+01:00',
    '2013-05-06T15:04:05Z!',
  ])('does not read %j', text => {
    expect(readTime(text)).toBeUndefined()
  })

  it.each(['/', ':', 'a', '\u0660'])('does not read our own form with %j in place of any character', wrong => {
    const right = '2013-05-06T15:04:05.000Z'
    for (let place = 0; place < right.length; place += 1) {
      if (right[place] !== wrong)
        expect(readTime(right.slice(0, place) + wrong + right.slice(place + 1))).toBeUndefined()
    }
  })

  it('writes every time as Date does, and refuses what is none', () => {
    const written = (write: (ms: number) => string, ms: number) => {
      try {
        return write(ms)
      } catch (error) {
        return error instanceof RangeError ? 'RangeError' : String(error)
      }
    }
    const byDate = (ms: number) => new Date(ms).toISOString()
    const ends = [0, -1, -0.5, 86_399_999, 86_400_000, 253_402_300_799_999, 253_402_300_800_000, 8.64e15, 8.64e15 + 1]
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...ends), fc.integer({ min: -1e13, max: 1e13 }), fc.double()), ms => {
        expect(written(isoTime, ms)).toBe(written(byDate, ms))
      }),
    )
  })

  it('reads every time that isoTime writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: at('9999-12-31T23:59:59.999Z') }), ms => {
        expect(readTime(isoTime(ms))).toBe(ms)
        expect(isoTime(ms)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }),
    )
  })
})

describe('readTime, dates that .NET wrote in the culture of its machine', () => {
  it.each([
    ['5/6/2013 3:04:05 PM', AFTERNOON],
    ['5/6/2013 3:04:05\u202fPM', AFTERNOON],
    ['5/6/2013 3:04:05\u00a0pm', AFTERNOON],
    ['5/6/2013 3:04:05 p.m.', AFTERNOON],
    ['05/06/2013 15:04:05', AFTERNOON],
    ['5/6/2013 12:00:00 AM', at('2013-05-06T00:00:00Z')],
    ['5/6/2013 12:00:00 PM', at('2013-05-06T12:00:00Z')],
    ['25/12/2013 10:00:00', at('2013-12-25T10:00:00Z')],
    ['12/25/2013 10:00:00', at('2013-12-25T10:00:00Z')],
    ['6.5.2013 15:04:05', AFTERNOON],
    ['06.05.2013 15:04:05', AFTERNOON],
    ['06-05-2013 15:04:05', AFTERNOON],
    ['06/05/2013 15.04.05', at('2013-06-05T15:04:05Z')],
    ['2013/5/6 15:04:05', AFTERNOON],
    ['2013-05-06 3:04:05 PM', AFTERNOON],
    ['2013.5.6 15:04:05', AFTERNOON],
  ])('reads %j', (text, ms) => {
    expect(readTime(text)).toBe(ms)
  })

  it.each([
    '13/13/2013 10:00:00',
    '2/30/2013 10:00:00',
    '5/6/2013 13:00:00 PM',
    '5/6/2013 25:00:00',
    '5/6/13 10:00:00',
    '5/6.2013 10:00:00',
    '1/1/0001 12:00:00 AM',
    '5/6/2013',
  ])('does not read %j', text => {
    expect(readTime(text)).toBeUndefined()
  })

  it('follows the given order if both are possible, and no order if only one is', () => {
    expect(readTime('6/5/2013 15:04:05', { dates: 'dmy' })).toBe(AFTERNOON)
    expect(readTime('5/6/2013 15:04:05', { dates: 'mdy' })).toBe(AFTERNOON)
    expect(readTime('12/25/2013 10:00:00', { dates: 'dmy' })).toBe(at('2013-12-25T10:00:00Z'))
    expect(readTime('25/12/2013 10:00:00', { dates: 'mdy' })).toBe(at('2013-12-25T10:00:00Z'))
    expect(readTime('6.5.2013 15:04:05', { dates: 'mdy' })).toBe(AFTERNOON)
  })

  it('prefers a reading that is not more than a day after the clock', () => {
    const clock = { dates: 'mdy', nowMs: at('2026-08-07T12:00:00Z') } as const
    expect(readTime('09/07/2026 00:00:00', clock)).toBe(at('2026-07-09T00:00:00Z'))
    expect(readTime('07/09/2026 00:00:00', { ...clock, dates: 'dmy' })).toBe(at('2026-07-09T00:00:00Z'))
    expect(readTime('08/08/2026 00:00:00', clock)).toBe(at('2026-08-08T00:00:00Z'))
    expect(readTime('10/09/2027 00:00:00', clock)).toBe(at('2027-10-09T00:00:00Z'))
    const eve = { dates: 'mdy', nowMs: at('2026-08-31T12:00:00Z') } as const
    expect(readTime('09/01/2026 12:00:00', eve)).toBe(at('2026-09-01T12:00:00Z'))
    expect(readTime('09/01/2026 12:00:01', eve)).toBe(at('2026-01-09T12:00:01Z'))
    const dmyEve = { ...eve, dates: 'dmy' } as const
    expect(readTime('01/09/2026 12:00:00', dmyEve)).toBe(at('2026-09-01T12:00:00Z'))
    expect(readTime('01/09/2026 12:00:01', dmyEve)).toBe(at('2026-01-09T12:00:01Z'))
  })
})

describe('decideDates', () => {
  const clock = { nowMs: NOW }

  it.each([
    ['no texts', [], ''],
    ['ISO only', ['2013-05-06T15:04:05.000Z', ''], ''],
    ['other separators only', ['13.05.2013 10:00:00', '13-05-2013 10:00:00'], ''],
    ['dates that are the same either way', ['5/5/2013 10:00:00'], ''],
    ['unreadable', ['13/13/2013 10:00:00', 'a/b'], ''],
    ['a field above 12 comes second', ['5/6/2013 1:00:00 AM', '5/13/2013 1:00:00 AM'], 'mdy'],
    ['a field above 12 comes first', ['5/6/2013 01:00:00', '13/5/2013 01:00:00'], 'dmy'],
    ['only decided dates', ['13/5/2013 01:00:00'], 'dmy'],
    ['a reading after the clock', ['5/6/2013 01:00:00', '10/07/2026 01:00:00'], 'dmy'],
    ['the majority of writers', ['13/5/2013 01:00:00', '5/13/2013 01:00:00', '14/5/2013 01:00:00'], 'dmy'],
    ['writers that disagree, nothing ambiguous', ['13/5/2013 01:00:00', '5/13/2013 01:00:00'], ''],
    ['no evidence', ['5/6/2013 01:00:00'], 'mdy'],
  ])('%s', (_, texts, expected) => {
    expect(decideDates(texts, clock)).toBe(expected)
  })

  it('takes the order that is nearest to Last-Modified', () => {
    const texts = ['01/02/2026 10:00:00', '05/06/2026 10:00:00']
    const nearMay = { nowMs: NOW, lastModifiedMs: at('2026-05-06T10:00:09Z') }
    const nearJune = { nowMs: NOW, lastModifiedMs: at('2026-06-05T10:00:09Z') }
    expect(decideDates(texts, nearMay)).toBe('mdy')
    expect(decideDates(texts, nearJune)).toBe('dmy')
    expect(decideDates([...texts].reverse(), nearJune)).toBe('dmy')
    expect(decideDates([...texts, '13/05/2026 01:00:00'], nearMay)).toBe('dmy')
  })

  it('takes month first if Last-Modified is equally far from both', () => {
    const middle = (at('2026-05-06T10:00:00Z') + at('2026-06-05T10:00:00Z')) / 2
    expect(decideDates(['05/06/2026 10:00:00'], { nowMs: NOW, lastModifiedMs: middle })).toBe('mdy')
  })
})

describe('timeReaderFor', () => {
  const document = (created: string, timestamp: string, dates: '' | 'mdy' | 'dmy' = '') => ({
    ...EMPTY_DOCUMENT,
    dates,
    events: [newEvent({ id: '00', created, timestamp })],
  })

  it('decides over all created and timestamp texts of the document', () => {
    const byTimestamp = timeReaderFor(document('6/5/2013 15:04:05', '13/5/2013 15:04:05'), { nowMs: NOW })
    expect(byTimestamp.dates).toBe('dmy')
    expect(byTimestamp.read('6/5/2013 15:04:05')).toBe(AFTERNOON)
    expect(timeReaderFor(document('13/5/2013 15:04:05', ''), { nowMs: NOW }).dates).toBe('dmy')
  })

  it('uses Last-Modified if the texts do not decide', () => {
    const clock = { nowMs: NOW, lastModifiedMs: AFTERNOON }
    expect(timeReaderFor(document('6/5/2013 15:04:05', ''), clock).dates).toBe('dmy')
  })

  it('follows the order that the document specifies', () => {
    const fixed = timeReaderFor(document('5/6/2013 15:04:05', '13/5/2013 15:04:05', 'mdy'), { nowMs: NOW })
    expect(fixed.dates).toBe('mdy')
    expect(fixed.read('5/6/2013 15:04:05')).toBe(AFTERNOON)
    expect(fixed.read('10/07/2026 01:00:00')).toBe(at('2026-07-10T01:00:00Z'))
    expect(fixed.read('')).toBeUndefined()
  })
})

describe('of two readings, one in the future', () => {
  const nowMs = at('2026-01-04T12:00:00Z')

  it('is not taken if it is more than a day ahead and the other one is not', () => {
    expect(readTime('05/01/2026 12:00:00', { dates: '', nowMs })).toBe(at('2026-01-05T12:00:00Z'))
    expect(readTime('05/01/2026 12:00:01', { dates: '', nowMs })).toBe(at('2026-05-01T12:00:01Z'))
    expect(readTime('01/05/2026 12:00:00', { dates: 'dmy', nowMs })).toBe(at('2026-01-05T12:00:00Z'))
    expect(readTime('01/05/2026 12:00:01', { dates: 'dmy', nowMs })).toBe(at('2026-05-01T12:00:01Z'))
  })
})
