import { SaxesParser } from 'saxes'
import { expect, test } from 'vitest'
import { placeOf } from '../../src/stream/xml-fault.ts'
import { trustRow } from '../trust/record.ts'
import { sized } from '../trust/size.ts'
import { ourReader } from './xml-read-either.ts'

const row = trustRow('xml')
const SIZE = sized(1 << 18, 4 << 20)
/** What the promise allows for a million bytes, and how much slower a busy machine may be for all that. */
const MAX_MS = 200
const ALLOWANCE = 10

const filled = (part: string, before = '', after = '') =>
  before + part.repeat(Math.ceil((SIZE - before.length - after.length) / part.length)) + after

const numbered = (part: (at: number) => string, length: number) =>
  Array.from({ length: Math.ceil(SIZE / length) }, (_, at) => part(at)).join('')

const JOURNAL = '<S xmlns:lc="urn:leasectl:v1" xmlns:x="u"><Event id="0"/><lc:journal>'
const END = '</lc:journal></S>'

/** Texts of one size that a careless reader takes far longer for than for others. */
const SHAPES: Readonly<Record<string, string>> = {
  events: filled(
    '<Event id="00.01" name="Search" status="init" created="2026-01-01T00:00:00.000Z" msg="abc"/>\n',
    '<S>',
    '</S>',
  ),
  'a long value': filled('x', '<S a="', '"/>'),
  'a value of references': filled('&#x20;&amp;', '<S a="', '"/>'),
  'a value of line ends': filled('\r\n', '<S a="', '"/>'),
  'many attributes': `<S ${numbered(at => `a${at}="" `, 10)}/>`,
  'many namespaces': `<S ${numbered(at => `xmlns:a${at}="u${at}" `, 20)}/>`,
  'namespaces below each other': filled('<a xmlns:b="u"><b:c/></a>', '<S>', '</S>'),
  'attributes of many events': filled('<Event id="1" a="" b="" c="" d="" e="" f="" g="" h=""/>', '<S>', '</S>'),
  'a long name': filled('a', '<S><', '/></S>'),
  text: filled('x &lt; ', '<S>', '</S>'),
  'brackets in text': filled('] ]', '<S>', '</S>'),
  'a long comment': filled('- ', '<S><!--', '--></S>'),
  'many comments': filled('<!---->', '<S>', '</S>'),
  'a long CDATA': filled(']]', '<S><![CDATA[', ']]></S>'),
  'many instructions': filled('<?a ?b?>', '<S>', '</S>'),
  'a long instruction': filled('? ', '<S><?a ', '?></S>'),
  'instructions without a blank': filled('<?a b?>', '<S>', '<?a?b?></S>'),
  'asides before the element': filled('<?a b?>\n', '', '<S/>'),
  'elements beside each other': filled('<a/>', '<S>', '</S>'),
  'blanks in a tag': filled('\n', '<S', '/>'),
  'a journal of ours': filled('<lc:tx v="1" cmd="c" why="so"/>\n', JOURNAL, END),
  'a journal with a long value': filled('x', `${JOURNAL}<lc:tx why="`, `"/>${END}`),
  'a journal of others': filled('<x:a/><lc:tx v="1"/><!-- x -->', JOURNAL, END),
  'a journal of attributes': filled(' a="&quot;"', `${JOURNAL}<lc:tx`, `/>${END}`),
  'an unclosed value': filled('x', '<S a="'),
  'an unclosed comment': filled('--', '<S><!-'),
  'angle brackets': filled('<'),
  ampersands: filled('&', '<S>'),
  'a reference without an end': filled('a', '<S>&'),
  'nothing but blanks': filled('\r'),
  'text outside': filled('x ', '<S/>'),
  'open elements': filled('<a>'),
  'a tag that breaks off': filled(' a="1"', '<S><Event id="1"'),
}

/** Time of the processor, whatever else it does meanwhile; the better of two, for the first one compiles. */
function msPerMegabyte(text: string, read: (bytes: Buffer) => void = ourReader): number {
  const bytes = Buffer.from(text)
  const took = [0, 1].map(() => {
    const start = process.cpuUsage()
    read(bytes)
    return cpuMs(start)
  })
  return Math.min(...took) / (bytes.length / 1e6)
}

/** What is under our reader, and does nothing with what it reads. */
function parserAlone(bytes: Buffer): void {
  const parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true })
  parser.on('opentag', () => {})
  parser.write(bytes.toString()).close()
}

function cpuMs(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

test('texts of any shape are read or refused without running away', { timeout: sized(120_000, 600_000) }, () => {
  ourReader(Buffer.from(SHAPES.events ?? ''))
  const paces = Object.entries(SHAPES).map(([what, text]) => ({ what, ms: msPerMegabyte(text) }))
  const slow = paces.filter(({ ms }) => ms > MAX_MS * ALLOWANCE)
  expect(slow).toEqual([])
  const slowest = paces.reduce((a, b) => (b.ms > a.ms ? b : a))
  const alone = msPerMegabyte(SHAPES[slowest.what] ?? '', parserAlone)
  const which = `${slowest.what}; the parser alone: ${Math.round(alone)}`
  row.figure('ms a MB', `${Math.round(slowest.ms)} (${which})`, `at most ${MAX_MS}`)
  row.injected('megabytes of one shape', paces.length)
})

test('a reader that looks back to the start for each element does not keep the pace', () => {
  const text = (SHAPES['elements beside each other'] ?? '').slice(0, 200_000)
  const mayTakeMs = (MAX_MS * ALLOWANCE * text.length) / 1e6
  const start = process.cpuUsage()
  const tookMs = () => cpuMs(start)
  let lines = 0
  for (let at = text.indexOf('<a'); at !== -1 && tookMs() <= mayTakeMs; at = text.indexOf('<a', at + 1)) {
    lines += placeOf(text, at).line
  }
  expect(lines).toBeGreaterThan(0)
  expect(tookMs()).toBeGreaterThan(mayTakeMs)
  row.control('a reader of quadratic time', tookMs() > mayTakeMs)
})
