import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { escapeHostile, jsonText, jsonTime, jsonTimeOf } from '../../../src/formats/json.ts'
import { yamlDocuments } from '../../../src/formats/yaml.ts'

const HOSTILE = '\u0000\u001b\u007f\u0080\u009b\u202e\u2066\u2028\ufeff\u{e0041}x"\\'

test('dangerous characters are written as \\u escapes and read back unchanged', () => {
  const text = jsonText({ text: HOSTILE }, 0)
  expect(text).toBe('{"text":"\\u0000\\u001b\\u007f\\u0080\\u009b\\u202e\\u2066\\u2028\\ufeff\\udb40\\udc41x\\"\\\\"}')
  expect(JSON.parse(text)).toEqual({ text: HOSTILE })
})

test('any text reads back unchanged and contains no control character', () => {
  const text = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(text, value => {
      const written = jsonText([value], 0)
      expect(JSON.parse(written)).toEqual([value])
      expect(written).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/)
      expect(escapeHostile(written)).toBe(written)
    }),
  )
})

test('YAML is safe too, in documents of leasectl', () => {
  const written = yamlDocuments([{ a: 'a\u202eb' }, { b: '00:05:00' }])
  expect(written).not.toMatch(/[\u007f-\u009f\u202e\u2066]/)
  expect(parseAllDocuments(written).map(document => document.toJS())).toEqual([
    { apiVersion: 'leasectl/v1', a: 'a\u202eb' },
    { apiVersion: 'leasectl/v1', b: '00:05:00' },
  ])
})

test('times are RFC 3339 in UTC; a time beyond that form is the last possible time, or null', () => {
  expect(jsonTime(Date.UTC(2026, 2, 1, 12))).toBe('2026-03-01T12:00:00.000Z')
  expect(jsonTime(undefined)).toBeNull()
  expect(jsonTime(Number.NaN)).toBeNull()
  expect(jsonTime(Date.UTC(29_403, 0, 1))).toBe('9999-12-31T23:59:59.999Z')
  expect(jsonTime(-8_999_999_999_999_999)).toBe('0000-01-01T00:00:00.000Z')
  expect(jsonTime(Number.MAX_SAFE_INTEGER)).toBe('9999-12-31T23:59:59.999Z')
  expect(jsonTimeOf('2026-03-01T13:00:00+01:00')).toBe('2026-03-01T12:00:00.000Z')
  expect([jsonTimeOf('soon'), jsonTimeOf(''), jsonTimeOf(undefined)]).toEqual([null, null, null])
})
