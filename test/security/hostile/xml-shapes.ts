import { MAX_ATTRIBUTES } from '../../../src/stream/limits.ts'

const LC = 'urn:leasectl:v1'
const JOURNAL = `<S xmlns:lc="${LC}" xmlns:x="u"><Event id="0"/><lc:journal>`
const END = '</lc:journal></S>'

/** Texts of a size, in characters, that take a careless reader far longer than other texts. */
export const SHAPES: Readonly<Record<string, (size: number) => string>> = {
  events: size =>
    filled(size)(
      '<Event id="00.01" name="Search" status="init" created="2026-01-01T00:00:00.000Z" msg="abc"/>\n',
      '<S>',
      '</S>',
    ),
  'a long value': size => filled(size)('x', '<S a="', '"/>'),
  'a value of references': size => filled(size)('&#x20;&amp;', '<S a="', '"/>'),
  'a value of line ends': size => filled(size)('\r\n', '<S a="', '"/>'),
  'many attributes': size => `<S ${numbered(size, at => `a${at}="" `, 10)}/>`,
  'many namespaces': size => `<S ${numbered(size, at => `xmlns:a${at}="u${at}" `, 20)}/>`,
  'as many attributes as may be': size =>
    filled(size)(`<a ${numbered(10 * MAX_ATTRIBUTES, at => `a${at}="" `, 10)}/>`, '<S>', '</S>'),
  'as many namespaces as may be': size =>
    filled(size)(`<a ${numbered(20 * MAX_ATTRIBUTES, at => `xmlns:a${at}="u${at}" `, 20)}/>`, '<S>', '</S>'),
  'namespaces below each other': size => filled(size)('<a xmlns:b="u"><b:c/></a>', '<S>', '</S>'),
  'attributes of many events': size =>
    filled(size)('<Event id="1" a="" b="" c="" d="" e="" f="" g="" h=""/>', '<S>', '</S>'),
  'a long name': size => filled(size)('a', '<S><', '/></S>'),
  text: size => filled(size)('x &lt; ', '<S>', '</S>'),
  'brackets in text': size => filled(size)('] ]', '<S>', '</S>'),
  'a long comment': size => filled(size)('- ', '<S><!--', '--></S>'),
  'many comments': size => filled(size)('<!---->', '<S>', '</S>'),
  'a long CDATA': size => filled(size)(']]', '<S><![CDATA[', ']]></S>'),
  'many instructions': size => filled(size)('<?a ?b?>', '<S>', '</S>'),
  'a long instruction': size => filled(size)('? ', '<S><?a ', '?></S>'),
  'instructions without a blank': size => filled(size)('<?a b?>', '<S>', '<?a?b?></S>'),
  'asides before the element': size => filled(size)('<?a b?>\n', '', '<S/>'),
  'elements beside each other': size => filled(size)('<a/>', '<S>', '</S>'),
  'blanks in a tag': size => filled(size)('\n', '<S', '/>'),
  'a journal of ours': size => filled(size)('<lc:tx v="1" cmd="c" why="so"/>\n', JOURNAL, END),
  'a journal with a long value': size => filled(size)('x', `${JOURNAL}<lc:tx why="`, `"/>${END}`),
  'a journal of others': size => filled(size)('<x:a/><lc:tx v="1"/><!-- x -->', JOURNAL, END),
  'a journal of namespaces': size =>
    filled(size)("<lc:tx x:a=''/>", `<S xmlns:lc="${LC}" xmlns:x="${'u'.repeat(size / 4)}"><lc:journal>`, END),
  'a journal of short namespaces': size => filled(size)("<lc:tx x:a=''/>", JOURNAL, END),
  'a journal of texts': size => filled(size)('a<!---->', JOURNAL, END),
  'a journal of an Event': size => filled(size)('<Event id="1"/><x:a/>', JOURNAL, END),
  'a journal under a long prefix': size =>
    filled(size)(
      '<q:tx/>',
      `<S xmlns:${'p'.repeat(size / 4)}="${LC}" xmlns:x="u"><q:journal xmlns:q="${LC}">`,
      '</q:journal></S>',
    ),
  'a journal of attributes': size => filled(size)(' a="&quot;"', `${JOURNAL}<lc:tx`, `/>${END}`),
  'an unclosed value': size => filled(size)('x', '<S a="'),
  'an unclosed comment': size => filled(size)('--', '<S><!-'),
  'angle brackets': size => filled(size)('<'),
  ampersands: size => filled(size)('&', '<S>'),
  'a reference without an end': size => filled(size)('a', '<S>&'),
  'nothing but blanks': size => filled(size)('\r'),
  'text outside': size => filled(size)('x ', '<S/>'),
  'open elements': size => filled(size)('<a>'),
  'a tag that breaks off': size => filled(size)(' a="1"', '<S><Event id="1"'),
}

function filled(size: number) {
  return (part: string, before = '', after = '') =>
    before + part.repeat(Math.ceil((size - before.length - after.length) / part.length)) + after
}

function numbered(size: number, part: (at: number) => string, length: number): string {
  return Array.from({ length: Math.ceil(size / length) }, (_, at) => part(at)).join('')
}
