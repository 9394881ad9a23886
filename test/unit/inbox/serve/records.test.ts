import { describe, expect, test } from 'vitest'
import { parsePointer } from '../../../../src/inbox/record.ts'
import { type BodyForm, MOST_RECORDS, recordsOf } from '../../../../src/inbox/serve/records.ts'

const FIELDS = { id: parsePointer('/id'), key: parsePointer('/key') }

const read = (text: string, form: BodyForm = 'json', givenId?: string) =>
  recordsOf(Buffer.from(text), form, FIELDS, givenId)

function jsonsOf(text: string, form: BodyForm = 'json'): string[] {
  const found = read(text, form)
  if (found.kind !== 'records') throw new Error(JSON.stringify(found))
  return found.records.map(({ json }) => json)
}

describe('a body', () => {
  test('of one record keeps its text, in one line, with every digit', () => {
    expect(jsonsOf('\ufeff {"id": "i", "n": 1.0000000000000000001,\n "x": "a\\nb"}\r\n')).toEqual([
      '{"id": "i", "n": 1.0000000000000000001,  "x": "a\\nb"}',
    ])
  })

  test('of an array is divided at its own commas alone', () => {
    const records = ['{"id":"a","x":"],[\\"\\\\"}', '{"id":"b","y":[1,{"z":[]}]}', '{"id":"c\\\\"}']
    expect(jsonsOf(`[ ${records.join(' ,\n')} ]`)).toEqual(records)
    expect(jsonsOf(' [ ] ')).toEqual([])
  })

  test('with a character between its brackets that is no blank of JSON is refused', () => {
    expect(read('[\u00a0]', 'json')).toMatchObject({ kind: 'bad' })
  })

  test('of lines leaves out empty ones', () => {
    expect(jsonsOf('{"id":1}\r\n\n  \n{"id":2}', 'ndjson')).toEqual(['{"id":1}', '{"id":2}'])
  })

  test('is divided as JSON.parse does, whatever its values are', () => {
    const values = [
      { id: 'a', t: '"\\[{,' },
      { id: 2, deep: [[[['],']]]] },
      { id: 'é\u2028', n: null },
    ]
    expect(jsonsOf(JSON.stringify(values, null, 2)).map(json => JSON.parse(json))).toEqual(values)
  })

  test('with bad records puts none of them, and names each by index', () => {
    expect(read('[{"id":"a"},{"x":1},nonsense,"b",{"id":"c"}]')).toEqual({
      kind: 'bad',
      message: '3 of 5 are not records: none was put',
      bad: [
        { index: 1, message: '/id is missing' },
        { index: 2, message: 'the record is not JSON' },
        { index: 3, message: '/id is missing' },
      ],
      badCount: 3,
    })
    expect(read('{"id":"a"}\n\n{"id":""}\n', 'ndjson')).toMatchObject({ bad: [{ index: 1, line: 3 }], badCount: 1 })
  })

  test('lists the first of very many bad records, and counts all', () => {
    const found = read(`[${Array.from({ length: 500 }, () => '1').join(',')}]`)
    expect(found).toMatchObject({ kind: 'bad', badCount: 500 })
    expect(found.kind === 'bad' && found.bad.length).toBe(100)
  })

  test.each([
    '',
    ' \n',
    '[',
    '[{"id":1}',
    '[{"id":1}] x',
    '[{"id":1}][]',
    '[{"id":1},]',
    '[,{"id":1}]',
    '[{"id":1} {"id":2}]',
    '[{"id":1]}',
    '[{"id":"]',
    '{"id":1}{"id":2}',
    '{"id":"a\nb"}',
    '[{"id":1}}',
    'null',
    '{"id":"\\u0007"}',
  ])('of %j is refused', text => {
    expect(read(text)).toMatchObject({ kind: 'bad' })
  })

  test('that is not UTF-8, or has no lines, is refused', () => {
    expect(recordsOf(Buffer.from('{"id":"\xff"}', 'latin1'), 'json', FIELDS)).toMatchObject({
      kind: 'bad',
      message: 'the body is not UTF-8',
    })
    expect(read('\n\n', 'ndjson')).toMatchObject({ kind: 'bad', message: 'the body is empty' })
  })

  test('with too many records, or one that is too long, is too large', () => {
    const many = Array.from({ length: MOST_RECORDS + 1 }, (_, id) => `{"id":${id}}`)
    expect(read(`[${many.join(',')}]`)).toMatchObject({ kind: 'too-large' })
    expect(read(many.join('\n'), 'ndjson')).toMatchObject({ kind: 'too-large' })
    expect(read(`[${many.slice(1).join(',')}]`)).toMatchObject({ kind: 'records' })
    const long = `{"id":1,"x":"${'y'.repeat(256 * 1024)}"}`
    expect(read(long)).toMatchObject({ kind: 'too-large' })
    expect(read(`[{"id":0},${long}]`)).toMatchObject({ kind: 'bad', bad: [{ index: 1 }] })
  })
})

describe('an id given beside the record', () => {
  test('is its id, if the record has none or the same', () => {
    expect(read('{"v":1}', 'json', 'k')).toMatchObject({ kind: 'records', records: [{ id: 'k', json: '{"v":1}' }] })
    expect(read('{"id":7}', 'json', '7')).toMatchObject({ kind: 'records', records: [{ id: '7' }] })
    expect(read('[{"v":1}]', 'json', 'k')).toMatchObject({ kind: 'records', records: [{ id: 'k' }] })
  })

  test('is refused for several records, for another id, and with characters that an id cannot have', () => {
    expect(read('[{"v":1},{"v":2}]', 'json', 'k')).toMatchObject({ kind: 'bad' })
    expect(read('{"id":"a"}', 'json', 'k')).toMatchObject({ kind: 'bad', badCount: 1 })
    expect(read('{"v":1}', 'json', 'a\u0085')).toMatchObject({ kind: 'bad', badCount: 1 })
    expect(read('{"v":1}', 'json', 'x'.repeat(201))).toMatchObject({ kind: 'bad', badCount: 1 })
    expect(read('{"v":1}', 'json', '')).toMatchObject({ kind: 'bad', badCount: 1 })
  })
})
