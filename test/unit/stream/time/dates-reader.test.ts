import { expect, test } from 'vitest'
import { timeReaderFor } from '../../../../src/stream/time/dates.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { documentText, type EventText } from '../../../support/stream-builder.ts'

const ISO = '2026-03-01T00:00:00.000Z'
const clock = { nowMs: Date.parse('2026-11-20T00:00:00.000Z') }

const decided = (...events: readonly EventText[]) => timeReaderFor(readDocument(documentText(...events)), clock)

test.each([
  ['no date of an old culture', {}, ''],
  ['an event that was created after the twelfth of a month', { created: '03/25/2026 10:00:00' }, 'mdy'],
  ['an event that was written on such a day', { timestamp: '25/03/2026 10:00:00' }, 'dmy'],
] as const)('one event of many decides how dates are read: %s', (_what, dated, dates) => {
  const others = ['01.00', '02.00'].map(id => ({ id, prev: '00', created: ISO, timestamp: ISO }))
  expect(
    decided({ id: '00', created: ISO, timestamp: ISO }, ...others, { id: '03.00', prev: '00', ...dated }).dates,
  ).toBe(dates)
})

test('the same text has the same time again, another text its own', () => {
  const { read } = decided({ id: '00' })
  expect([ISO, ISO, '2026-03-02T00:00:00.000Z', ISO, '', ISO].map(text => read(text))).toEqual([
    Date.parse(ISO),
    Date.parse(ISO),
    Date.parse('2026-03-02T00:00:00.000Z'),
    Date.parse(ISO),
    undefined,
    Date.parse(ISO),
  ])
})

test('the date order that the document specifies is not decided again', () => {
  const document = readDocument(documentText({ id: '00', created: '03/25/2026 10:00:00' }))
  expect(timeReaderFor({ ...document, dates: 'dmy' }, clock).dates).toBe('dmy')
})
