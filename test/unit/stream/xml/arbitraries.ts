import fc from 'fast-check'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../../../src/stream/document.ts'
import {
  ATTRIBUTES,
  type AttributeName,
  type ForeignAttribute,
  LC_ATTRIBUTES,
  LC_NAMESPACE,
  newEvent,
  type StreamEvent,
} from '../../../../src/stream/event.ts'
import { escapeAttribute, XMLNS_NAMESPACE } from '../../../../src/stream/xml/text.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { aData } from '../../../support/arbitraries.ts'

const NASTY = [
  '\t',
  '\n',
  '\r',
  '\r\n',
  '"',
  "'",
  '&',
  '<',
  '>',
  ']]>',
  '&amp;',
  '😀',
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u2028',
  '\ufffd',
  ' ',
  'é',
  'a',
  '|',
  '-->',
  '?>',
  ' cmd="c1"',
]

/** Texts of characters that break careless readers and writers. */
export const aValue = () => fc.array(fc.constantFrom(...NASTY), { maxLength: 6 }).map(parts => parts.join(''))
const aFilledValue = () => aValue().map(value => `${value}.`)

const declaration = (local: string, value: string): ForeignAttribute => ({
  name: local === '' ? 'xmlns' : `xmlns:${local}`,
  uri: XMLNS_NAMESPACE,
  local: local === '' ? 'xmlns' : local,
  value,
})

const aForeign = (prefix: string) =>
  fc.uniqueArray(
    fc
      .tuple(
        fc.constantFrom<[string, string]>(
          ['colour', ''],
          ['x:colour', 'urn:x'],
          ['x:owner', 'urn:x'],
          ['xml:lang', 'http://www.w3.org/XML/1998/namespace'],
          [`${prefix}:future`, LC_NAMESPACE],
          ['xmlns:y', XMLNS_NAMESPACE],
        ),
        aFilledValue(),
      )
      .map(([[name, uri], value]) => ({
        name,
        uri,
        local: name.replace(/^.*:/, ''),
        value: name === 'xmlns:y' ? 'urn:y' : value,
      })),
    { selector: ({ name }) => name, maxLength: 4 },
  )

const RAW = [
  '<!-- a - b -->',
  '<x:a y="1">t<x:b/></x:a>',
  '<![CDATA[ ]] <Event id="9"/> ]]>',
  'text &amp; ]]&gt; 😀\u00a0',
  '<?pi d?>',
  '<n xmlns="urn:n"><Event id="9"/></n>',
  '<lc:n xmlns:lc="urn:other" lc:owner="9"/>',
  '&#x20;&#xD;',
]
const aRaw = (...separators: string[]) =>
  fc
    .array(fc.constantFrom(...RAW), { maxLength: 3 })
    .chain(parts => fc.constantFrom(...separators).map(separator => parts.join(separator)))
const anAside = () =>
  fc.array(fc.constantFrom('<!-- é -->', '<?style a="b"?>'), { maxLength: 2 }).map(parts => parts.join('\r\n'))

const anEvent = (prefix: string) =>
  fc
    .record({
      attributes: fc.dictionary(fc.constantFrom(...ATTRIBUTES), aValue(), { noNullPrototype: true }),
      id: aFilledValue(),
      lc: fc.dictionary(fc.constantFrom(...LC_ATTRIBUTES), aFilledValue(), { noNullPrototype: true }),
      foreign: aForeign(prefix),
      empties: fc.subarray([...ATTRIBUTES]),
      before: aRaw('', '\r\n  ', ' '),
      data: fc.record({ input: aData(), result: aData() }, { requiredKeys: [], noNullPrototype: true }),
      content: aRaw('', '\n', ' ').chain(raw => fc.constantFrom(raw, raw && `\r\n ${raw} `)),
    })
    .map(({ attributes, id, empties, data, ...rest }): StreamEvent => {
      const event = { ...newEvent({ ...attributes, id }, {}, data), ...rest }
      return { ...event, empty: empties.filter(name => event[name] === '') }
    })

const asRoot = (event: StreamEvent): StreamEvent => ({
  ...event,
  prev: '',
  empty: event.empty.filter((name: AttributeName) => name !== 'prev'),
})

const aTransaction = (prefix: string) =>
  fc.tuple(aValue(), fc.boolean(), fc.stringMatching(/^[A-Za-z0-9._:/@+%-]{1,12}$/)).map(([why, long, id]) => {
    const open = `<${prefix}:tx v="1" cmd="${id}" why="${escapeAttribute(why)}"`
    return long ? `${open}><${prefix}:change event="00"/></${prefix}:tx>` : `${open}/>`
  })

/** `lc` is bound to another namespace in some raw slices, so the document uses another prefix. */
const PREFIX = 'l'

/** A document in the form that is read, and the text that is written for it. */
export function aDocument(): fc.Arbitrary<{ document: StreamDocument; text: string }> {
  return fc
    .record({
      element: fc.constantFrom('EventStream', 'x:Stream', 'Größe'),
      defaultNamespace: fc.constantFrom('', 'urn:d', LC_NAMESPACE),
      foreign: aForeign(PREFIX),
      version: fc.nat(),
      born: aValue(),
      at: aValue(),
      dates: fc.constantFrom<StreamDocument['dates'][]>('', 'mdy', 'dmy'),
      prolog: anAside(),
      epilog: anAside(),
      events: fc.array(anEvent(PREFIX), { maxLength: 4 }),
      tail: aRaw('', '\r\n'),
      journal: fc.array(aTransaction(PREFIX), { maxLength: 4 }).map(entries => entries.join('\n')),
    })
    .map(({ defaultNamespace, foreign, events, ...rest }) => {
      const spaces = defaultNamespace === '' ? [] : [declaration('', defaultNamespace)]
      const attributes = [...spaces, declaration('x', 'urn:x'), ...foreign, declaration(PREFIX, LC_NAMESPACE)]
      const [root, ...others] = events
      const list = root === undefined ? [] : [asRoot(root), ...others]
      const document = { ...EMPTY_DOCUMENT, ...rest, prefix: PREFIX, attributes, events: list }
      const { text, sum } = writeDocument(document)
      return { document: { ...document, sum }, text }
    })
}
