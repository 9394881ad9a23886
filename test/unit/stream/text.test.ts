import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { InvalidValue } from '../../../src/stream/errors.ts'
import { checkCommandId, checkText, cleanProgramText, cutBytes, encodeCommandId } from '../../../src/stream/text.ts'

const bytes = (text: string) => Buffer.byteLength(text)
const anyText = fc.string({ unit: 'binary' })

describe('checkText', () => {
  it.each(['', 'plain', 'tab\t lf\n cr\r', '\u0085\u007f\ud7ff\ue000\ufffd', '😀'])('accepts %j', text => {
    expect(() => checkText('msg', text)).not.toThrow()
  })

  it.each([
    ['\u0000', 'U+0000'],
    ['\u001b', 'U+001B'],
    ['\u001f', 'U+001F'],
    ['\ufffe', 'U+FFFE'],
    ['\uffff', 'U+FFFF'],
    ['\ud83d', 'U+D83D'],
    ['\ude00', 'U+DE00'],
    ['\ude00\ud83d', 'U+DE00'],
  ])('refuses %j, which XML cannot hold, and names the position', (text, name) => {
    expect(() => checkText('topic', `ab${text}`)).toThrow(
      new InvalidValue(`topic: character 3 is ${name}, which XML cannot hold`),
    )
  })

  it.each([
    ['msg', 4096],
    ['reason', 1024],
    ['topic', 1024],
    ['key', 1024],
  ])('limits %s to %d bytes of UTF-8', (kind, limit) => {
    expect(() => checkText(kind, 'x'.repeat(limit))).not.toThrow()
    expect(() => checkText(kind, 'é'.repeat(limit / 2))).not.toThrow()
    expect(() => checkText(kind, '😀'.repeat(limit / 4))).not.toThrow()
    const tooLong = new InvalidValue(`${kind}: longer than ${limit} bytes`)
    expect(() => checkText(kind, 'x'.repeat(limit + 1))).toThrow(tooLong)
    expect(() => checkText(kind, `${'é'.repeat(limit / 2)}x`)).toThrow(tooLong)
    expect(() => checkText(kind, '€'.repeat(Math.ceil(limit / 3)))).toThrow(tooLong)
  })
})

describe('cleanProgramText', () => {
  it.each([
    ['colours', '\u001b[1;31merror\u001b[0m: disk', 'error: disk'],
    ['a cursor sequence with intermediates', 'a\u001b[?25l\u001b[2 qb', 'ab'],
    ['an unfinished CSI', 'a\u001b[31', 'a'],
    ['a CSI of one byte', 'a\u009b31mb', 'ab'],
    ['an OSC ended by BEL', 'a\u001b]0;title\u0007b', 'ab'],
    ['an OSC ended by ST', 'a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\b', 'alinkb'],
    ['an OSC of one byte', 'a\u009d0;title\u009cb', 'ab'],
    ['an unfinished OSC, with its line', 'a\u001b]52;c;ZXZpbA==\nb', 'a\nb'],
    ['an OSC unfinished at the end', 'a\u001b]0;title', 'a'],
    ['an OSC interrupted by another escape', 'a\u001b]0;ti\u001b[31mb', 'ab'],
    ['a DCS over several lines', 'a\u001bPq\n#0\u001b\\b', 'ab'],
    ['an unfinished DCS, with its line', 'a\u001bPq;;\nb', 'a\nb'],
    ['a DCS of one byte', 'a\u0090q\u009cb', 'ab'],
    ['APC, PM and SOS', 'a\u001b_x\u001b\\\u001b^x\u001b\\\u001bXx\u001b\\b', 'ab'],
    ['a charset switch', 'a\u001b(Bb', 'ab'],
    ['a single escape', 'a\u001bcb\u001b0c', 'abc'],
    ['an escape at the end', 'a\u001b', 'a'],
    ['escapes inside an escape', '\u001b\u001b[31mred', 'red'],
  ])('strips %s', (_, text, clean) => {
    expect(cleanProgramText(text, 100)).toBe(clean)
  })

  it('replaces characters that XML cannot hold', () => {
    expect(cleanProgramText('a\u0000b\ud83dc\uffffd\t\n\r😀', 100)).toBe('a\ufffdb\ufffdc\ufffdd\t\n\r😀')
  })

  it('cuts at a whole character', () => {
    expect(cleanProgramText('a😀', 4)).toBe('a')
    expect(cleanProgramText('a😀', 5)).toBe('a😀')
    expect(cleanProgramText('aé', 2)).toBe('a')
    expect(cleanProgramText('€€', 5)).toBe('€')
    expect(cleanProgramText('\u0000x', 2)).toBe('')
    expect(cleanProgramText('abc', 0)).toBe('')
  })

  it('always makes a text that checkText accepts', () => {
    const noisy = fc.array(
      fc.oneof(anyText, fc.constantFrom('\u001b', '\u001b]', '\u001b[', '\u009b', '\ud83d', '\u0000')),
    )
    fc.assert(
      fc.property(noisy, fc.nat(40), (parts, limit) => {
        const clean = cleanProgramText(parts.join(''), limit)
        expect(() => checkText('msg', clean)).not.toThrow()
        expect(bytes(clean)).toBeLessThanOrEqual(limit)
        expect(clean).not.toMatch(/[\u001b\u009b\u009d\u0090]/)
      }),
    )
  })
})

describe('cutBytes', () => {
  it.each([
    ['\u007f', 1],
    ['\u0080', 2],
    ['\u07ff', 2],
    ['\u0800', 3],
    ['\uffff', 3],
    ['\u{10000}', 4],
  ])('counts %j as %d bytes', (text, size) => {
    expect(cutBytes(text, size)).toBe(text)
    expect(cutBytes(text, size - 1)).toBe('')
  })

  it('keeps the longest prefix that fits', () => {
    fc.assert(
      fc.property(anyText, fc.nat(60), (text, limit) => {
        const cut = cutBytes(text, limit)
        expect(text.startsWith(cut)).toBe(true)
        expect(bytes(cut)).toBeLessThanOrEqual(limit)
        const next = [...text.slice(cut.length)][0]
        if (next !== undefined) expect(bytes(cut + next)).toBeGreaterThan(limit)
      }),
    )
  })
})

describe('command ids', () => {
  it.each(['a', 'AZaz09._:/@+%-', 'x'.repeat(200)])('accepts %j as it is', id => {
    expect(() => checkCommandId(id)).not.toThrow()
    expect(encodeCommandId(id)).toBe(id)
  })

  it.each([
    ['', 'a command id cannot be empty'],
    ['x'.repeat(201), 'a command id has at most 200 characters, this one 201'],
    ['a b', 'command id:   is not one of A-Z a-z 0-9 . _ : / @ + % -'],
    ['a\u001b', 'command id: ␛ is not one of A-Z a-z 0-9 . _ : / @ + % -'],
    ['é', 'command id: é is not one of A-Z a-z 0-9 . _ : / @ + % -'],
  ])('refuses %j', (id, message) => {
    expect(() => checkCommandId(id)).toThrow(new InvalidValue(message))
  })

  it.each([
    ['a b', 'a%20b'],
    ["!~*'()", '%21%7E%2A%27%28%29'],
    ['é😀', '%C3%A9%F0%9F%98%80'],
    ['\ud83d', '%EF%BF%BD'],
  ])('encodes %j as %s', (text, id) => {
    expect(encodeCommandId(text)).toBe(id)
  })

  it('refuses a command id that is empty, or too long once encoded', () => {
    expect(() => encodeCommandId('')).toThrow(InvalidValue)
    expect(encodeCommandId(' '.repeat(66))).toHaveLength(198)
    expect(() => encodeCommandId(' '.repeat(67))).toThrow(InvalidValue)
  })

  it('always returns a valid command id or refuses', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 16 }), text => {
        const id = encodeCommandId(text)
        expect(() => checkCommandId(id)).not.toThrow()
        expect(encodeCommandId(id)).toBe(id)
      }),
    )
  })
})
