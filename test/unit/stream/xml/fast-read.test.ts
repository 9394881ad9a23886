import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../../../src/stream/document.ts'
import { ATTRIBUTES, LC_ATTRIBUTES, newEvent, type StreamEvent } from '../../../../src/stream/event.ts'
import { appendTransaction, type JournalChange, type Transaction } from '../../../../src/stream/journal/journal.ts'
import { MAX_READ_EVENTS } from '../../../../src/stream/limits.ts'
import { scanDocument } from '../../../../src/stream/xml/fast-read.ts'
import { parseDocument, readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { aData, RUNS } from '../../../support/arbitraries.ts'
import { aValue } from './arbitraries.ts'

const noNullPrototype = true

const anEvent = (): fc.Arbitrary<StreamEvent> =>
  fc
    .tuple(
      fc.dictionary(fc.constantFrom(...ATTRIBUTES), aValue(), { noNullPrototype }),
      fc.dictionary(
        fc.constantFrom(...LC_ATTRIBUTES),
        aValue().map(value => `${value}.`),
        { noNullPrototype },
      ),
      fc.stringMatching(/^\d\d(\.\d\d){0,3}$/),
      fc.record({ input: aData(), result: aData() }, { requiredKeys: [], noNullPrototype }),
    )
    .map(([attributes, lc, id, data]) => newEvent({ ...attributes, id }, lc, data))

const aChange = (): fc.Arbitrary<JournalChange> =>
  fc.tuple(aValue(), fc.constantFrom('', 'init', 'inprocess'), fc.boolean()).map(([event, from, claimed]) => ({
    event,
    from,
    to: 'canceled',
    how: 'cascade',
    ...(claimed ? { owner: event, attempt: 2 } : {}),
  }))

const aTransaction = (): fc.Arbitrary<Transaction> =>
  fc
    .tuple(aValue(), fc.stringMatching(/^[A-Za-z0-9._:/@+%-]{1,12}$/), fc.array(aChange(), { maxLength: 3 }))
    .map(([why, commandId, changes]) => ({
      version: 1,
      at: '2026-01-01T00:00:00.000Z',
      by: why,
      op: 'cancel',
      on: '00',
      commandId,
      ...(commandId.length > 3 ? { nonce: '9e107d9d' } : {}),
      hash: '0123456789abcdef',
      why,
      other: commandId.length > 6,
      changes,
    }))

/** A document that only leasectl has written: no foreign content. */
const anOwnDocument = (): fc.Arbitrary<StreamDocument> =>
  fc
    .tuple(fc.array(anEvent(), { minLength: 1, maxLength: 4 }), fc.array(aTransaction(), { maxLength: 3 }))
    .map(([events, entries]) => ({
      ...EMPTY_DOCUMENT,
      version: 7,
      born: '11111111-2222-4333-8444-555555555555',
      at: '2026-01-01T00:00:00.000Z',
      events: events.map((event, at) => (at === 0 ? { ...event, prev: '' } : event)),
      journal: entries.reduce((journal, entry) => appendTransaction(journal, entry, 'lc'), ''),
    }))

const OWN = `<?xml version="1.0" encoding="utf-8"?>
<EventStream xmlns:lc="urn:leasectl:v1" lc:v="2" lc:born="b" lc:sum="1:0" lc:at="2026-01-01T00:00:00.000Z">
  <Event name="A" status="inprocess" id="00" msg="a &lt; b &amp; c" next="01.00"/>
  <Event name="B" status="init" id="01.00" prev="00" lc:attempt="2"/>
  <lc:journal>
    <lc:tx v="1" at="t" by="me" op="init" on="00" cmd="c1"><lc:change event="00" to="inprocess" how="add"/></lc:tx>
    <lc:tx v="2" at="t" by="me" op="set" on="00" cmd="c2" why="&quot;so&quot;"/>
  </lc:journal>
</EventStream>
`

test('every document that we wrote is scanned to the same document that the parser reads', () => {
  const check = (document: StreamDocument) => {
    const { text } = writeDocument(document)
    const scanned = scanDocument(text)
    expect(scanned).toBeDefined()
    expect(scanned).toEqual(parseDocument(text))
  }
  fc.assert(fc.property(anOwnDocument(), check), { numRuns: RUNS })
})

/** Cuts, duplicates or replaces a part of a text, or inserts text that breaks careless readers. */
const PIECES = [
  '"',
  '<',
  '>',
  '&',
  '&#x41;',
  '&lt;',
  ' ',
  '\n',
  '\t',
  '/',
  '=',
  '\u0000',
  '\ud800',
  ' id="9"',
  '<!---->',
]
const PLACES = ['Event', 'lc:', '"', '/>', '\n', ' ', '&', 'journal', 'tx', '<', 'prev', 'id=', '?']

const aMutation = () =>
  fc.tuple(
    fc.nat(),
    fc.constantFrom(...PLACES),
    fc.constantFrom('cut', 'double', 'replace', 'insert'),
    fc.constantFrom(...PIECES),
    fc.integer({ min: 1, max: 12 }),
  )

function mutate(text: string, [seed, place, how, piece, length]: [number, string, string, string, number]): string {
  const found = text.indexOf(place, seed % text.length)
  const at = found < 0 ? seed % text.length : found
  if (how === 'insert') return text.slice(0, at) + piece + text.slice(at)
  const part = text.slice(at, at + length)
  if (how === 'double') return text.slice(0, at) + part + text.slice(at)
  return text.slice(0, at) + (how === 'cut' ? '' : piece) + text.slice(at + length)
}

test('a damaged or foreign text is never scanned to a document that the parser would not read', () => {
  let scans = 0
  const check = (text: string, mutations: [number, string, string, string, number][]) => {
    const damaged = mutations.reduce(mutate, text)
    const scanned = scanDocument(damaged)
    if (scanned === undefined) return
    scans++
    expect(scanned).toEqual(parseDocument(damaged))
  }
  const texts = fc.oneof(
    fc.constant(OWN),
    anOwnDocument().map(document => writeDocument(document).text),
  )
  fc.assert(fc.property(texts, fc.array(aMutation(), { minLength: 1, maxLength: 2 }), check), { numRuns: RUNS * 20 })
  // Some mutations must change only a value: otherwise nothing was compared.
  expect(scans).toBeGreaterThan(10)
})

test('a text that is cut off at any byte is left to the parser', () => {
  for (let end = 0; end < OWN.length; end++) expect(scanDocument(OWN.slice(0, end))).toBeUndefined()
  expect(scanDocument(OWN)).toEqual(parseDocument(OWN))
})

describe('a text that differs by one character is left to the parser', () => {
  test.each([
    ['an empty value', 'msg="a &lt; b &amp; c"', 'msg=""'],
    ['an attribute out of order', 'name="A" status="inprocess"', 'status="inprocess" name="A"'],
    ['an attribute twice', 'name="A"', 'name="A" name="A"'],
    ['a foreign attribute', 'name="A"', 'colour="red" name="A"'],
    ['an unknown attribute of ours', 'lc:attempt="2"', 'lc:attempt="2" lc:future="1"'],
    ['a reference that we would not write', '&lt;', '&#60;'],
    ['an undefined entity', '&lt;', '&nix;'],
    ['a bare ampersand', '&lt;', '&'],
    ['an event with content', 'lc:attempt="2"/>', 'lc:attempt="2">text</Event>'],
    ['an event without id', ' id="01.00"', ''],
    ['a root with prev', ' next="01.00"', ' next="01.00" prev="09"'],
    ['an event with prev out of order', 'id="00"', 'id="00" prev="09"'],
    ['a comment', '  <lc:journal>', '  <!-- a -->\n  <lc:journal>'],
    ['another document element', 'EventStream', 'Stream'],
    ['another prefix', 'xmlns:lc=', 'xmlns:x='],
    ['a second namespace', 'xmlns:lc="urn:leasectl:v1"', 'xmlns:lc="urn:leasectl:v1" xmlns="urn:d"'],
    ['an unknown root attribute', 'lc:v="2"', 'lc:v="2" lc:w="3"'],
    ['an unreadable version', 'lc:v="2"', 'lc:v="two"'],
    ['a version with a letter after it', 'lc:v="2"', 'lc:v="2x"'],
    ['a version with a letter before it', 'lc:v="2"', 'lc:v="x2"'],
    ['a version beyond safe integers', 'lc:v="2"', 'lc:v="1234567890123456"'],
    ['an unknown order of dates', '00.000Z">', '00.000Z" lc:dates="ymd">'],
    ['a foreign element in the journal', '<lc:tx v="2"', '<x/><lc:tx v="2"'],
    ['an attribute of the journal out of order', 'op="set" on="00"', 'on="00" op="set"'],
    ['a reference in a command id', 'cmd="c2"', 'cmd="c&amp;2"'],
    ['an entry that does not end', '</lc:tx>', ''],
    ['content after the journal', '  </lc:journal>\n', '  </lc:journal>\n  <x/>\n'],
    ['a control character', 'name="A"', 'name="A\u0001"'],
    ['half a surrogate pair', 'name="A"', 'name="A\ud800"'],
    ['a tab', 'name="A"', 'name="A\tB"'],
    ['another line ending', '\n  <Event name="A"', '\r\n  <Event name="A"'],
    ['text after the end', '</EventStream>\n', '</EventStream>\nx'],
  ])('%s', (_what, from, to) => {
    const text = OWN.replace(from, to).replace(from === 'EventStream' ? '</EventStream>' : '\u0000', '</Stream>')
    expect(text).not.toBe(OWN)
    expect(scanDocument(text)).toBeUndefined()
  })
})

test.each([
  ['a version of several digits', 'lc:v="2"', 'lc:v="123456789012345"'],
  ['months before days', '00.000Z">', '00.000Z" lc:dates="mdy">'],
  ['days before months', '00.000Z">', '00.000Z" lc:dates="dmy">'],
  ['no incarnation id, sum and time', / lc:born="b".*Z"/, ''],
  ['no journal', / {2}<lc:journal>[\s\S]*<\/lc:journal>\n/, ''],
])('the form that the scanner accepts includes %s', (_what, from, to) => {
  const text = OWN.replace(from, to)
  expect(text).not.toBe(OWN)
  expect(scanDocument(text)).toEqual(parseDocument(text))
})

test('the maximum number of events is scanned, one more is not', () => {
  const event = (at: number) => `  <Event name="B" status="init" id="${at}.00" prev="00"/>\n`
  const text = (events: number) =>
    OWN.replace(/ {2}<Event name="B".*\n/, Array.from({ length: events - 1 }, (_, at) => event(at + 1)).join(''))
  expect(scanDocument(text(MAX_READ_EVENTS))?.events).toHaveLength(MAX_READ_EVENTS)
  expect(scanDocument(text(MAX_READ_EVENTS + 1))).toBeUndefined()
})

test('both readers give the same document', () => {
  expect(readDocument(OWN)).toEqual(parseDocument(OWN))
  const foreign = OWN.replace('name="A"', 'colour="red" name="A"')
  expect(readDocument(foreign).events[0]?.foreign).toMatchObject([{ name: 'colour' }])
})
