import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../../../src/stream/document.ts'
import { InvalidValue } from '../../../../src/stream/errors.ts'
import {
  ATTRIBUTES,
  type ForeignAttribute,
  LC_ATTRIBUTES,
  LC_NAMESPACE,
  newEvent,
} from '../../../../src/stream/event.ts'
import { sumOf } from '../../../../src/stream/fingerprint.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { escapeAttribute, findForbidden, XMLNS_NAMESPACE } from '../../../../src/stream/xml/text.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'

const linesOf = (document: StreamDocument) => writeDocument(document).text.split('\n')
const foreign = (name: string, value: string, uri = ''): ForeignAttribute => ({
  name,
  uri,
  local: name.replace(/^.*:/, ''),
  value,
})
const namesIn = (line: string | undefined) => [...(line ?? '').matchAll(/ ([\w:]+)="/g)].map(match => match[1])

describe('the written form (stream-format 7.4)', () => {
  it('has declaration, two-space indent, one event per line, the journal last, a final newline', () => {
    const events = [newEvent({ id: '00', name: 'a' }), newEvent({ id: '01', prev: '00' })]
    const document = {
      ...EMPTY_DOCUMENT,
      version: 2,
      events,
      tail: '<!-- t -->',
      journal: '<lc:tx v="1"/>\n    <lc:tx v="2"/>',
    }
    const { text, sum } = writeDocument({ ...document, prolog: '<!-- p -->', epilog: '<!-- e -->' })
    expect(text).toBe(`<?xml version="1.0" encoding="utf-8"?>
<!-- p -->
<EventStream xmlns:lc="urn:leasectl:v1" lc:v="2" lc:sum="${sum}">
  <Event name="a" id="00"/>
  <Event id="01" prev="00"/>
  <!-- t -->
  <lc:journal>
    <lc:tx v="1"/>
    <lc:tx v="2"/>
  </lc:journal>
</EventStream>
<!-- e -->
`)
  })

  it('has the fourteen attributes in order, then foreign ones as found, then lc', () => {
    const all = Object.fromEntries(ATTRIBUTES.toReversed().map(name => [name, 'x']))
    const lc = Object.fromEntries(LC_ATTRIBUTES.toReversed().map(name => [name, 'x']))
    const event = { ...newEvent(all, lc), foreign: [foreign('z', '1'), foreign('b', ''), foreign('a', '2')] }
    const line = linesOf({ ...EMPTY_DOCUMENT, events: [event] })[2]
    expect(namesIn(line)).toEqual([...ATTRIBUTES, 'z', 'b', 'a', ...LC_ATTRIBUTES.map(name => `lc:${name}`)])
  })

  it('omits empty attributes, unless they were found empty and still are', () => {
    const event = { ...newEvent({ id: '00', key: 'k' }, { owner: '' }), empty: ['next', 'key'] as const }
    expect(linesOf({ ...EMPTY_DOCUMENT, events: [event] })[2]).toBe('  <Event id="00" key="k" next=""/>')
  })

  it('has attributes of the document element in the order foreign, declaration, lc', () => {
    const document = { ...EMPTY_DOCUMENT, dates: 'mdy' as const, at: 'now', sum: 'old', born: 'b', version: 9 }
    const line = linesOf({ ...document, attributes: [foreign('w', '1'), foreign('old:new', 'n', LC_NAMESPACE)] })[1]
    expect(namesIn(line)).toEqual(['w', 'lc:new', 'xmlns:lc', 'lc:v', 'lc:born', 'lc:sum', 'lc:at', 'lc:dates'])
  })

  it('has a new lc:sum with each write', () => {
    const events = [newEvent({ id: '00' })]
    const { text, sum } = writeDocument({ ...EMPTY_DOCUMENT, sum: '1:old', events })
    expect(sum).toBe(sumOf(events))
    expect(readDocument(text).sum).toBe(sum)
  })

  it('of an empty new document is one element with its declaration', () => {
    expect(linesOf(EMPTY_DOCUMENT)[1]).toMatch(/^<EventStream xmlns:lc="urn:leasectl:v1" lc:sum="2:[0-9a-f]{64}"\/>$/)
  })

  it('declares our namespace under the document prefix, once, never as default', () => {
    const attributes = [
      foreign('xmlns', LC_NAMESPACE, XMLNS_NAMESPACE),
      foreign('xmlns:q', LC_NAMESPACE, XMLNS_NAMESPACE),
    ]
    const events = [newEvent({ id: '00' }, { owner: 'w' })]
    const [, root, event] = linesOf({ ...EMPTY_DOCUMENT, attributes, prefix: 'q', events, journal: '<q:tx/>' })
    expect(namesIn(root)).toEqual(['xmlns', 'xmlns:q', 'q:sum'])
    expect(event).toBe('  <Event id="00" xmlns="" q:owner="w"/>')
    expect(linesOf({ ...EMPTY_DOCUMENT, prefix: 'lc2' })[1]).toContain(' xmlns:lc2="urn:leasectl:v1" lc2:sum="')
  })

  it('of an event follows its document, whatever document it was in before', () => {
    const event = newEvent({ id: '00' }, { owner: 'w' })
    const eventOf = (more: Partial<StreamDocument>) => linesOf({ ...EMPTY_DOCUMENT, events: [event], ...more })[2]
    const usual = '  <Event id="00" lc:owner="w"/>'
    expect(eventOf({})).toBe(usual)
    expect(eventOf({ prefix: 'q' })).toBe('  <Event id="00" q:owner="w"/>')
    expect(eventOf({ attributes: [foreign('xmlns', 'urn:d', XMLNS_NAMESPACE)] })).toBe(
      '  <Event id="00" xmlns="" lc:owner="w"/>',
    )
    expect(eventOf({ attributes: [foreign('colour', 'red')] })).toBe(usual)
  })

  it('moves an event out of a default namespace of the document element', () => {
    const text = '<S xmlns="urn:d"><Event xmlns="" id="00"><Event id="in"/></Event><other/></S>'
    const document = readDocument(text)
    expect(document.events[0]?.foreign).toEqual([])
    const written = writeDocument(document).text
    expect(written).toContain('<Event id="00" xmlns=""><Event id="in"/></Event>')
    expect(readDocument(written).events).toEqual(document.events)
    expect(writeDocument(readDocument('<S xmlns=""><Event id="00"/></S>')).text).toContain('<Event id="00"/>')
  })
})

describe('escaping', () => {
  it('restores tab, LF and CR of an attribute', () => {
    const value = 'a\tb\nc\rd\r\n & < > " \' ]]> 😀'
    expect(escapeAttribute(value)).toBe("a&#x9;b&#xA;c&#xD;d&#xD;&#xA; &amp; &lt; &gt; &quot; ' ]]&gt; 😀")
    const { text } = writeDocument({ ...EMPTY_DOCUMENT, events: [newEvent({ id: value })], born: value })
    expect(readDocument(text)).toMatchObject({ born: value, events: [{ id: value }] })
  })

  it('finds the first character that XML cannot hold', () => {
    expect(findForbidden('a\t\n\r\u007f\u0085\ufffd😀')).toBe(-1)
    expect(findForbidden('ab\u0000\ud800')).toBe(2)
    expect(findForbidden('a\udc00\u0000')).toBe(1)
    expect(findForbidden('😀\ud83d')).toBe(2)
  })
})

describe('characters XML cannot hold are never written to the store', () => {
  const WRONG = ['\u0000', '\u0008', '\u000b', '\u000c', '\u001b', '\u001f', '\ufffe', '\uffff', '\ud800', '\udc00']

  it.each(WRONG)('%j is refused in any text of the document', character => {
    const event = newEvent({ id: '00' })
    const documents: StreamDocument[] = [
      { ...EMPTY_DOCUMENT, born: character },
      { ...EMPTY_DOCUMENT, attributes: [foreign('a', character)] },
      { ...EMPTY_DOCUMENT, events: [{ ...event, msg: character }] },
      { ...EMPTY_DOCUMENT, events: [{ ...event, lc: { msg: `x${character}y` } }] },
      { ...EMPTY_DOCUMENT, events: [{ ...event, foreign: [foreign('a', character)] }] },
      { ...EMPTY_DOCUMENT, events: [{ ...event, content: character }] },
    ]
    for (const document of documents) expect(() => writeDocument(document)).toThrow(InvalidValue)
  })

  it('the error names the character and the event', () => {
    const events = [newEvent({ id: '00' }), newEvent({ id: '01.00', tag: '\u001b[31m' })]
    expect(() => writeDocument({ ...EMPTY_DOCUMENT, events })).toThrow(/U\+001B.*event 01\.00/)
    expect(() => writeDocument({ ...EMPTY_DOCUMENT, born: '\u001b' })).toThrow(
      /U\+001B, a character that XML cannot hold$/,
    )
  })
})
