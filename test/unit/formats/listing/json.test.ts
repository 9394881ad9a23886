import { expect, test } from 'vitest'
import { fieldColumns, listingRow, usualColumns } from '../../../../src/formats/listing/columns.ts'
import { LISTING_FIELDS } from '../../../../src/formats/listing/fields.ts'
import { listingJson } from '../../../../src/formats/listing/json.ts'
import type { SummarizedStream } from '../../../../src/ops/summaries.ts'
import { runningItem } from '../../../../src/stream/summary-items.ts'
import { summary } from '../../../contract/harness.ts'

const NOW = Date.UTC(2026, 10, 20, 12)

function stream(over: Parameters<typeof summary>[0] = {}): SummarizedStream {
  const listed = { name: 's', etag: '"1"', size: 1, modifiedMs: NOW, lease: { state: 'available' } } as const
  return { listed, summary: summary(over), fault: undefined, pin: {} }
}

const row = (item: SummarizedStream, time: 'relative' | 'utc' = 'relative') =>
  listingRow(usualColumns(time), item, NOW, time).map(cell => (typeof cell === 'string' ? cell : cell.text))

test('the names for --fields are the fields of the JSON, in their order, and each has a column', () => {
  const unreadable = { ...stream(), summary: undefined, fault: { code: 'bad-document', message: 's: line 1' } }
  expect(Object.keys(listingJson(unreadable, NOW))).toEqual(LISTING_FIELDS)
  expect(fieldColumns(LISTING_FIELDS, 'relative')).not.toContain(undefined)
})

test('an overdue stream is marked with a word in every style of times', () => {
  expect(row(stream({ dueMs: NOW - 180_000 }))[3]).toBe('overdue 3m')
  expect(row(stream({ dueMs: NOW - 180_000 }), 'utc')[3]).toBe('overdue 11:57:00Z')
  expect(row(stream({ dueMs: NOW + 180_000 }), 'utc')[3]).toBe('12:03:00Z')
})

test('long lists of ids are cut, and ids that the summary omitted are counted', () => {
  expect(row(stream({ waitingOn: ['01', '02', '03', '04', '+7'] }))[2]).toBe('01, 02, 03 +8')
})

const claim = (id: string, endMs: number) =>
  runningItem({ id, name: 'Pay', owner: 'pay@aks-9', attempt: 2, sinceMs: NOW, lastSeenMs: NOW, claimEndMs: endMs })

test('an abandoned event is named first, with its worker and the time since its claim ended', () => {
  const running = [claim('02.00', NOW + 1), claim('03.00', NOW - 2_400_000)]
  const item = stream({ waitingOn: ['01.00', '02.00', '03.00'], ready: ['Search|find'], running })
  expect(row(item)[2]).toBe('03.00 Pay abandoned (pay@aks-9, 40m), 01.00 Search, 02.00 Pay')
})

test('failed and canceled events are counted apart, and canceled ones include those of a cascade', () => {
  expect(row(stream({ total: 9, open: 1, done: 2, failed: 3, canceled: 1 }))[5]).toBe('2/1/3/3')
})

test('the JSON has claims as objects and says whether one has ended and whether failures are acknowledged', () => {
  const over = { running: [claim('02.00', NOW)], claimEndMs: NOW, failed: 1, failedAtMs: NOW, failedName: 'Pay' }
  expect(listingJson(stream({ ...over, canceled: 2, ackMs: NOW }), NOW)).toMatchObject({
    abandoned: true,
    acknowledged: true,
    failedName: 'Pay',
    canceled: 2,
    running: [{ id: '02.00', name: 'Pay', owner: 'pay@aks-9', attempt: 2, abandoned: true }],
  })
  expect(listingJson(stream(over), NOW - 1)).toMatchObject({ abandoned: false, acknowledged: false })
})

test('the status may be foreign, have errors below, or be missing', () => {
  expect(row(stream({ status: 'paused' }))[1]).toBe('? paused')
  expect(row(stream({ status: 'completed', outcome: 'errors' }))[1]).toBe('± with errors')
  expect(row(stream({ status: '' }))[1]).toBe('? no status')
})

test('a stream without events has no other fields; an unreadable stream has the reason, without its name twice', () => {
  const empty: SummarizedStream = { ...stream(), summary: undefined }
  expect(row(empty)).toEqual(['s', '? not started', '-', '-', '-', '-', '-'])
  const fault = { code: 'bad-document', message: 's: line 1: \u001b[2J' }
  expect(row({ ...empty, fault })).toEqual(['s', '? bad-document', 'line 1: ␛[2J', '?', '?', '?', '-'])
})
