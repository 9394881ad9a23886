import { describe, expect, it } from 'vitest'
import {
  MAX_RECORD_BYTES,
  parsePointer,
  parseRecord,
  recordIn,
  recordLine,
  valueAt,
} from '../../../src/inbox/record.ts'

const AT_MS = Date.parse('2026-07-01T12:00:00.000Z')
const FIELDS = { id: ['id'], key: ['customer', 'no'], seq: ['n'] }

describe('a JSON pointer', () => {
  it.each([
    ['/id', ['id']],
    ['/a/b', ['a', 'b']],
    ['/a~1b/c~0d', ['a/b', 'c~d']],
    ['/~01', ['~1']],
    ['/', ['']],
  ])('%s is read', (text, steps) => {
    expect(parsePointer(text)).toEqual(steps)
  })

  it.each(['', 'id', '/a~2', '/~'])('%j is none', text => {
    expect(() => parsePointer(text)).toThrow('is not a JSON pointer')
  })

  it('finds values of the data only, in objects and lists', () => {
    const data = { list: [{ a: 1 }, 'b'], '': 0 }
    expect(valueAt(data, parsePointer('/list/0/a'))).toBe(1)
    expect(valueAt(data, parsePointer('/list/1'))).toBe('b')
    expect(valueAt(data, parsePointer('/'))).toBe(0)
    for (const text of ['/list/2', '/list/01', '/list/length', '/constructor', '/list/0/a/b', '/__proto__'])
      expect(valueAt(data, parsePointer(text))).toBeUndefined()
  })
})

describe('a record', () => {
  it('has its id, key and number from its data, and is kept in one line', () => {
    const record = recordIn({ json: '{"id":"o-1","customer":{"no":7},"n":3}' }, FIELDS)
    const line = recordLine(record, AT_MS)
    expect(line).toBe(
      '{"id":"o-1","key":"7","seq":3,"at":"2026-07-01T12:00:00.000Z","data":{"id":"o-1","customer":{"no":7},"n":3}}\n',
    )
    const at = '2026-07-01T12:00:00.000Z'
    expect(parseRecord(line)).toEqual({
      id: 'o-1',
      key: '7',
      seq: 3,
      at,
      data: { id: 'o-1', customer: { no: 7 }, n: 3 },
    })
  })

  it('has its id as its key if the data has no other, and a time before which it must not be drained', () => {
    const line = recordLine(recordIn({ json: '{"id":1}' }, FIELDS), AT_MS, AT_MS + 15_000)
    expect(parseRecord(line)).toMatchObject({ id: '1', key: '1', notBefore: '2026-07-01T12:00:15.000Z' })
  })

  it.each([
    ['{"id":', 'the record is not JSON'],
    ['7', '/id is missing'],
    ['{}', '/id is missing'],
    ['{"id":""}', '/id'],
    ['{"id":null}', '/id'],
    ['{"id":{"a":1}}', '/id'],
    // Another number would be the same id, and its record be taken for a duplicate.
    [
      '{"id":12345.0000000000001,"price":12345,"note":"12345"}',
      '/id is not written as a whole number: put it as a text',
    ],
    ['{"id":12345678901234567890}', '/id is a text that is not empty, or a whole number up to 9007199254740991'],
    ['{"id":0.1}', '/id is a text'],
    ['{"id":"\\ud800"}', '/id has half a surrogate pair'],
    ['{"id":"a","customer":{"no":12345678901234567890}}', '/customer/no is a text'],
    ['{"id":"a\\nb"}', '/id has a control character'],
    [`{"id":"${'x'.repeat(201)}"}`, '/id has 201 characters; the limit is 200'],
    ['{"id":"a","customer":{"no":true}}', '/customer/no'],
    ['{"id":"a","n":0}', '/n'],
    ['{"id":"a","n":"1"}', '/n'],
    [`{"id":"a","x":"${'x'.repeat(MAX_RECORD_BYTES)}"}`, `the limit is ${MAX_RECORD_BYTES}`],
  ])('%.40s is refused with the reason', (json, why) => {
    expect(() => recordIn({ json }, FIELDS)).toThrow(why)
  })

  it.each(['', 'x', '[]', '{"id":"a"}', '{"id":"a","data":1}', '{"at":"x","data":1}'])(
    'a line %j is no record',
    line => {
      expect(() => parseRecord(line)).toThrow()
    },
  )
})
