import {
  MAX_ATTRIBUTES,
  MAX_DEPTH,
  MAX_FOREIGN_ATTRIBUTES,
  MAX_READ_BYTES,
  MAX_READ_EVENTS,
} from '../../../src/stream/limits.ts'

/** A possible foreign text; every one must be refused. */
export interface BadDocumentCase {
  readonly what: string
  readonly bytes: Buffer
}

const LETTERS = [...'abcdefghij']
const LAUGHS = LETTERS.map((name, at) =>
  at === 0 ? `<!ENTITY a "${'ha'.repeat(10)}">` : `<!ENTITY ${name} "${`&${LETTERS[at - 1]};`.repeat(10)}">`,
).join('')
const BLOW_UP = `<!ENTITY a "${'x'.repeat(50_000)}">`

const inDtd = (dtd: string, use: string) => `<!DOCTYPE S [${dtd}]><S><Event id="00" name="${use}"/></S>`
const event = (attributes: string, content = '') => `<S><Event id="00" ${attributes}>${content}</Event></S>`
const attributes = (count: number) => Array.from({ length: count }, (_, at) => `a${at}=""`).join(' ')
const utf16le = (text: string) => Buffer.from(text, 'utf16le')

const TEXTS: Readonly<Record<string, string>> = {
  'a DTD': '<!DOCTYPE S><S><Event id="00"/></S>',
  'a DTD behind a comment': '<?xml version="1.0"?>\n<!-- c --><!DOCTYPE S><S/>',
  'a DTD that names a file': '<!DOCTYPE S SYSTEM "file:///etc/passwd"><S><Event id="00"/></S>',
  'a DTD that names an address': '<!DOCTYPE S PUBLIC "-//x//y" "http://127.0.0.1:9/x.dtd"><S/>',
  'an external entity': inDtd('<!ENTITY x SYSTEM "file:///etc/passwd">', '').replace('</Event', '&x;</Event'),
  'an external parameter entity': inDtd('<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;', ''),
  'an external entity from a program': inDtd('<!ENTITY x SYSTEM "expect://id">', ''),
  'billion laughs': inDtd(LAUGHS, '&j;'),
  'quadratic blow-up': inDtd(BLOW_UP, '&a;'.repeat(1_000)),
  'an entity of itself': inDtd('<!ENTITY a "&b;"><!ENTITY b "&a;">', '&a;'),
  'default attributes from a DTD': inDtd('<!ATTLIST Event status CDATA "completed">', ''),
  'an undefined entity': event('name="&nbsp;"'),
  'a bare ampersand': event('name="a & b"'),
  'a reference without an end': event('name="&amp"'),
  'a reference to NUL': event('name="&#0;"'),
  'a reference to a control': event('name="&#x1b;"'),
  'a reference to half a pair': event('name="&#xD83D;&#xDE00;"'),
  'a reference beyond Unicode': event('name="&#x110000;"'),
  'a reference of many digits': event(`name="&#${'9'.repeat(5_000)};"`),
  'a duplicate attribute': event('id="01"'),
  'a duplicate by namespace': event('xmlns:a="u" xmlns:b="u" a:x="1" b:x="2"'),
  'an unbound prefix': event('a:x="1"'),
  'a prefix bound to nothing': event('xmlns:a=""'),
  'the prefix xml bound anew': event('xmlns:xml="urn:x"'),
  'the prefix xmlns bound': event('xmlns:xmlns="urn:x"'),
  'two colons in a name': event('a:b:c="1"'),
  'a name that begins with a digit': event('1a="1"'),
  'a name with a NUL': event('a\u0000="1"'),
  'a tag name with a control': '<S><Ev\u0007ent id="00"/></S>',
  'an end of CDATA in text': event('', ']]>'),
  'CDATA that does not end': event('', '<![CDATA[ x'),
  'CDATA outside': '<![CDATA[x]]><S/>',
  'CDATA in a tag': '<S <![CDATA[x]]>/>',
  'a comment that does not end': event('', '<!-- x'),
  'two hyphens in a comment': event('', '<!-- a -- b -->'),
  'an instruction that does not end': event('', '<?p x'),
  'a late declaration': '<S/><?xml version="1.0"?>',
  'an instruction called XML': event('', '<?XML x?>'),
  'version 2.0': '<?xml version="2.0"?><S/>',
  'a declaration without version': '<?xml encoding="utf-8"?><S/>',
  'crossing tags': '<S><a><b></a></b></S>',
  'an unclosed element': '<S><Event id="00"/>',
  'two document elements': '<S/><S/>',
  'text outside': 'x<S/>',
  nothing: '',
  blanks: ' \r\n\t ',
  'no XML': '{"Event":[]}',
  HTML: '<!doctype html><html><br></html>',
  'an Event without id': '<S><Event name="x"/></S>',
  'a root with prev': '<S><Event id="01" prev="00"/></S>',
  'too deep': `${'<a>'.repeat(MAX_DEPTH + 1)}${'</a>'.repeat(MAX_DEPTH + 1)}`,
  'very deep': '<a>'.repeat(200_000),
  'too many events': `<S>${'<Event id="1"/>'.repeat(MAX_READ_EVENTS + 1)}</S>`,
  'too many attributes': `<S><x ${attributes(MAX_ATTRIBUTES + 1)}/></S>`,
  'too many foreign attributes': `<S ${attributes(MAX_FOREIGN_ATTRIBUTES + 1)}/>`,
  'too many foreign attributes of an event': event(attributes(MAX_FOREIGN_ATTRIBUTES + 1)),
  'an Event in the journal':
    '<S xmlns:lc="urn:leasectl:v1"><Event id="00"/><lc:journal><Event id="01"/></lc:journal></S>',
  'two byte order marks': '\ufeff\ufeff<S/>',
  'Latin-1 by name, UTF-8 by bytes': '<?xml version="1.0" encoding="iso-8859-1"?><S a="é"/>',
  'UTF-16 by name, UTF-8 by bytes': '<?xml version="1.0" encoding="utf-16"?><S/>',
  'an unknown encoding': '<?xml version="1.0" encoding="x-klingon"?><S/>',
  'UTF-7 by name': '<?xml version="1.0" encoding="utf-7"?><S a="+ADw-"/>',
}

/** Every C0 control except the three that XML allows, and the non-characters, each in each kind of place. */
const CONTROLS = [...Array.from({ length: 0x20 }, (_, code) => code), 0xfffe, 0xffff].filter(
  code => ![9, 10, 13].includes(code),
)
const PLACES: Readonly<Record<string, (character: string) => string>> = {
  value: character => event(`name="${character}"`),
  text: character => event('', character),
  comment: character => event('', `<!--${character}-->`),
  CDATA: character => event('', `<![CDATA[${character}]]>`),
  instruction: character => event('', `<?p ${character}?>`),
  end: character => `<S/>${character}`,
}

const at = (bytes: readonly number[]) => Buffer.concat([Buffer.from('<S a="'), Buffer.from(bytes), Buffer.from('"/>')])

const BYTES: Readonly<Record<string, Buffer>> = {
  'Latin-1': Buffer.from('<S a="é"/>', 'latin1'),
  'Latin-1 that says so': Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><S a="é"/>', 'latin1'),
  'UTF-16 without a byte order mark': utf16le('<S/>'),
  'UTF-16 with the big end first without one': utf16le('<S/>').swap16(),
  'UTF-16 of an odd length': Buffer.concat([utf16le('\ufeff<S/>'), Buffer.from([0])]),
  'UTF-16 with half a pair': utf16le('\ufeff<S a="\ud83d"/>'),
  'UTF-8 by name in UTF-16': utf16le('\ufeff<?xml version="1.0" encoding="utf-8"?><S/>'),
  'UTF-32': Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0, 0x53, 0, 0, 0, 0x2f, 0, 0, 0, 0x3e, 0, 0, 0]),
  EBCDIC: Buffer.from([0x4c, 0xe2, 0x61, 0x6e]),
  'an overlong slash': at([0xc0, 0xaf]),
  'an overlong NUL': at([0xc0, 0x80]),
  'half a pair in UTF-8': at([0xed, 0xa0, 0xbd]),
  'a lone continuation': at([0x80]),
  'an unfinished sequence': at([0xf0, 0x9f, 0x98]),
  'beyond Unicode': at([0xf4, 0x90, 0x80, 0x80]),
  'zeros behind the end': Buffer.concat([Buffer.from('<S/>'), Buffer.alloc(512)]),
  'zeros only': Buffer.alloc(4_096),
  'a PNG': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d]),
  gzip: Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
  'more than 32 MiB': Buffer.alloc(MAX_READ_BYTES + 1, ' '),
}

/** Texts that must be refused, by their defect. */
export const BAD_DOCUMENTS: readonly BadDocumentCase[] = [
  ...Object.entries(TEXTS).map(([what, text]) => ({ what, bytes: Buffer.from(text) })),
  ...CONTROLS.flatMap(code =>
    Object.entries(PLACES).map(([place, around]) => ({
      what: `U+${code.toString(16).padStart(4, '0')} in a ${place}`,
      bytes: Buffer.from(around(String.fromCharCode(code))),
    })),
  ),
  ...Object.entries(BYTES).map(([what, bytes]) => ({ what, bytes })),
]
