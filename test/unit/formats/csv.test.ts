import { expect, test } from 'vitest'
import { csvRecord } from '../../../src/formats/csv.ts'

test('a cell with a comma or a quote is quoted, and a record ends with CRLF', () => {
  expect(csvRecord(['a', 'b,c', 'say "no"', 1, true, null, undefined])).toBe('a,"b,c","say ""no""",1,true,,\r\n')
})

test('a list and an object are their JSON', () => {
  expect(csvRecord([['a', 'b'], { by: 'x' }, []])).toBe('"[""a"",""b""]","{""by"":""x""}",[]\r\n')
})

test('a text that a spreadsheet would run as a formula gets an apostrophe; a number stays a number', () => {
  expect(csvRecord(['=HYPERLINK(1)', '+1', '-1', '@SUM', '＝1', -1])).toBe("'=HYPERLINK(1),'+1,'-1,'@SUM,'＝1,-1\r\n")
})

test('control characters are made visible: a record is one line, and safe on a terminal', () => {
  expect(csvRecord(['a\r\nb', '\u001b[31m', '\t=1', '\u202ex'])).toBe('a␍␊b,␛[31m,␉=1,\\u{202e}x\r\n')
})
