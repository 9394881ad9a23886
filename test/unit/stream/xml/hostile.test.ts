import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT } from '../../../../src/stream/document.ts'
import { BadDocument } from '../../../../src/stream/errors.ts'
import { newEvent } from '../../../../src/stream/event.ts'
import { decodeDocument } from '../../../../src/stream/xml/decode.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'

function fault(text: string): BadDocument {
  try {
    readDocument(text)
  } catch (error) {
    if (error instanceof BadDocument) return error
    throw error
  }
  throw new Error(`accepted: ${text.slice(0, 200)}`)
}

const SMALL = writeDocument({
  ...EMPTY_DOCUMENT,
  version: 2,
  events: [
    { ...newEvent({ id: '00', name: 'é "😀"' }, { owner: 'w' }), content: '<![CDATA[x]]><a/>' },
    newEvent({ id: '01', prev: '00' }),
  ],
  prolog: '<!-- p -->',
  journal: '<lc:tx v="1" cmd="c"/>',
}).text

describe('a document type declaration is refused', () => {
  const LAUGHS = `<!DOCTYPE S [<!ENTITY a "ha">${[...'bcdefghij'].map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghij'[at]};`.repeat(10)}">`).join('')}]>`

  it.each([
    ['plain', '<!DOCTYPE S>'],
    ['XXE', '<!DOCTYPE S [<!ENTITY x SYSTEM "file:///etc/passwd">]>'],
    ['external', '<!DOCTYPE S PUBLIC "-//x" "http://127.0.0.1/x.dtd">'],
    ['billion laughs', LAUGHS],
  ])('%s', (_, doctype) => {
    const error = fault(`<?xml version="1.0"?>\n ${doctype}<S><Event id="00" name="&j;&x;"/></S>`)
    expect(error.message).toBe('line 2, column 2: a document type declaration (DTD) is not accepted')
  })

  it.each(['<S><!DOCTYPE S></S>', '<S/><!DOCTYPE S>', '<!doctype S><S/>'])('even in the wrong place: %s', text => {
    fault(text)
  })
})

describe('malformed text is refused with line and column', () => {
  it.each([
    ['an undefined entity', '<S>\n<Event id="&nbsp;"/></S>', 2, 17],
    ['an entity of JavaScript', '<S>&constructor;</S>', 1, 16],
    ['a duplicate attribute', '<S>\n<Event id="1" id="2"/></S>', 2, 22],
    ['a duplicate by namespace', '<S xmlns:a="u" xmlns:b="u"><Event id="1" a:x="" b:x=""/></S>', 1, 56],
    ['an unbound prefix', '<S><x:a/></S>', 1, 9],
    ['a prefix bound to an empty name', '<S xmlns:x=""/>', 1, 13],
    ['"<" in a value', '<S a="<"/>', 1, 7],
    ['an unquoted value', '<S a=1/>', 1, 6],
    ['an attribute without value', '<S a/>', 1, 5],
    ['no space between attributes', '<S a="1"b="2"/>', 1, 9],
    ['crossing tags', '<S><a></S></a>', 1, 10],
    ['a second document element', '<S/><S/>', 1, 7],
    ['text before it', ' x<S/>', 1, 2],
    ['text after it', '<S/>\r\r\nx', 3, 1],
    ['text right after it', '<S/>x ', 1, 5],
    ['CDATA after it', '<S/> <![CDATA[]]>', 1, 6],
    ['"]]>" in text', '<S>]]></S>', 1, 6],
    ['"--" in a comment', '<S><!-- a -- b --></S>', 1, 13],
    ['a late declaration', ' <?xml version="1.0"?><S/>', 1, 7],
    ['version 2', '<?xml version="2.0"?><S/>', 1, 19],
    ['an instruction without a space', '<?a?b?><S/>', 1, 1],
    ['an instruction of question marks', '<S>\r\n<?a??></S>', 2, 1],
    ['a byte order mark inside', '\ufeff<S/>', 1, 1],
    ['nothing', '', 1, 1],
    ['white space', '\n ', 2, 2],
  ])('%s', (_, text, line, column) => {
    expect(fault(text)).toMatchObject({ line, column })
  })

  it.each([
    '<?a ?b?><S/>',
    '<?a ??><S/>',
    '<S><?a\r\n?b\r\n?></S>',
    '<?a?><S/>',
    '<?xml version="1.1"?><S/>',
    '<?a <?a?b?><S/>',
  ])('unusual but well-formed text is read: %j', text => {
    expect(readDocument(text).element).toBe('S')
  })

  it('text that is truncated at any byte is refused with that reason', () => {
    const bytes = new TextEncoder().encode(SMALL.trimEnd())
    expect(readDocument(decodeDocument(bytes)).events).toHaveLength(2)
    for (let end = 0; end < bytes.length; end += 1) {
      expect(() => readDocument(decodeDocument(bytes.subarray(0, end))), `cut at ${end}`).toThrow(BadDocument)
    }
    expect(fault(SMALL.slice(0, -20)).hint).toContain('cut off')
    expect(fault(SMALL.slice(0, SMALL.indexOf('</Event>'))).message).toContain('ends inside the element Event')
  })
})

describe('characters XML cannot hold are refused', () => {
  const WRONG = [
    ...Array.from({ length: 0x20 }, (_, code) => code).filter(code => ![9, 10, 13].includes(code)),
    0xfffe,
    0xffff,
  ]

  it.each(WRONG)('U+%i is refused, raw anywhere and as a reference', code => {
    const character = String.fromCharCode(code)
    const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    for (const text of [
      `<S a="${character}"/>`,
      `<S>${character}</S>`,
      `<S><!--${character}--></S>`,
      `<S><![CDATA[${character}]]></S>`,
      `<S><?p ${character}?></S>`,
    ]) {
      expect(fault(text).message).toContain(name)
    }
    expect(fault(`<S a="&#${code};"/>`).message).toContain('character reference')
    expect(fault(`<S>&#x${code.toString(16)};</S>`).message).toContain('character reference')
  })

  it.each(['\ud800', '\udc00', '\ud800a', '\ud83d"'])('a lone surrogate %j is refused', text => {
    expect(fault(`<S a="${text}"/>`)).toMatchObject({ line: 1, column: 7 })
    expect(fault('<S a="&#xD800;"/>').message).toContain('character reference')
  })

  it('DEL and C1 are accepted as characters of XML 1.0, also under a declared version 1.1', () => {
    const text = '<S><Event id="\u007f\u0080\u0085\u009f"/></S>'
    expect(readDocument(text).events[0]?.id).toBe('\u007f\u0080\u0085\u009f')
    expect(readDocument(`<?xml version="1.1"?>${text}`).events[0]?.id).toBe('\u007f\u0080\u0085\u009f')
    expect(fault('<?xml version="1.1"?><S a="&#1;"/>').message).toContain('character reference')
  })
})

describe('limits of reading (stream-format 7.1)', () => {
  const nested = (depth: number) => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`

  it('depth 64 is read, depth 65 is not', () => {
    expect(readDocument(nested(64)).element).toBe('a')
    expect(fault(`\n${nested(65)}`)).toMatchObject({ line: 2, column: 193 })
    expect(fault(nested(65)).message).toContain('deeper than 64')
  })

  it('40 000 events are read, 40 001 are not', () => {
    const text = (count: number) => `<S>${'<Event id="1"/>'.repeat(count)}</S>`
    expect(readDocument(text(40_000)).events).toHaveLength(40_000)
    expect(fault(text(40_001)).message).toContain('more than 40000 events')
  })

  it.each(['<Event/>', '<Event id=""/>', '<Event x="1" ID="00"/>'])('an Event without id is refused: %s', event => {
    expect(fault(`<S>\n  ${event}</S>`).message).toBe('line 2, column 3: an Event has no id')
  })

  it('a first Event with prev is refused', () => {
    expect(fault('<S><!-- -->\r\n<Event id="01" prev="00"/></S>')).toMatchObject({ line: 2, column: 1 })
    expect(fault('<S><Event id="01" prev="00"/></S>').message).toContain('cannot have a prev')
  })
})
