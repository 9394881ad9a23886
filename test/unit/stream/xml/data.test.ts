import { describe, expect, it, test } from 'vitest'
import { dataOf } from '../../../../src/stream/data.ts'
import { EMPTY_DOCUMENT } from '../../../../src/stream/document.ts'
import { newEvent, type StreamEvent } from '../../../../src/stream/event.ts'
import { sumOf } from '../../../../src/stream/fingerprint.ts'
import { decodeDocument } from '../../../../src/stream/xml/decode.ts'
import { scanDocument } from '../../../../src/stream/xml/fast-read.ts'
import { parseDocument, readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { LegacyStream } from '../../../support/xelement.ts'

const input = dataOf(Buffer.from('[1,\r\n"<"]'))
const result = dataOf(Buffer.from([0, 1, 2]), 'image/png')
const event = newEvent({ id: '00', name: 'Start', status: 'inprocess' }, {}, { input, result })
const document = { ...EMPTY_DOCUMENT, version: 1, events: [event] }
const { text } = writeDocument(document)

describe('data in a document', () => {
  it('is written as child elements of the event, on its line', () => {
    expect(text.split('\n')[2]).toBe(
      `  <Event name="Start" status="inprocess" id="00">` +
        `<lc:input type="application/json" bytes="9" sha256="${input.sha256}" text="[1,&#xD;&#xA;&quot;&lt;&quot;]"/>` +
        `<lc:result type="image/png" bytes="3" sha256="${result.sha256}" base64="AAEC"/></Event>`,
    )
  })

  it('takes the fast path', () => {
    expect(scanDocument(text)?.events).toEqual([event])
    expect(parseDocument(text).events).toEqual([event])
  })

  it('does not count for lc:sum', () => {
    const { input: _, result: __, ...bare } = event
    expect(sumOf([event])).toBe(sumOf([bare as StreamEvent]))
  })

  test.each([{}, { newline: '\n' as const }, { indent: false }])('survives XElement.Save with %j', options => {
    const saved = new LegacyStream(text).save(options)
    expect(readDocument(decodeDocument(saved)).events).toEqual([event])
  })

  it('is found under any prefix, and written under that of the document', () => {
    const foreign = text
      .replace('<lc:input ', '<d:input xmlns:d="urn:leasectl:v1" ')
      .replace('<lc:result ', '\n    <result xmlns="urn:leasectl:v1" ')
    expect(writeDocument(readDocument(foreign)).text).toBe(text)
  })

  test.each([
    ['without a hash', / sha256="[0-9a-f]{64}"/, ''],
    ['with a short hash', /sha256="[0-9a-f]{64}"/, 'sha256="abc"'],
    ['with two contents', ' text=', ' base64="" text='],
    ['with another attribute', ' text=', ' colour="red" text='],
    ['with a size that is no number', 'bytes="9"', 'bytes="many"'],
    ['with more than 16 MiB', 'bytes="9"', 'bytes="16777217"'],
    ['without a type', 'type="application/json" ', ''],
    ['with content of its own', '"/><lc:result', '"><x/></lc:input><lc:result'],
  ])('an element %s is kept as a foreign one', (_, from, to) => {
    const strange = readDocument(text.replace(from, to))
    expect(strange.events[0]).toMatchObject({ result })
    expect(strange.events[0]?.input).toBeUndefined()
    expect(strange.events[0]?.content).toMatch(/^<lc:input /)
    expect(readDocument(writeDocument(strange).text).events).toEqual(strange.events)
  })

  it('a second element of the same kind, and other content, are kept', () => {
    const twice = readDocument(text.replace('</Event>', '<!-- x --><lc:input a="1"/></Event>'))
    expect(twice.events[0]).toMatchObject({ input, result, content: '<!-- x --><lc:input a="1"/>' })
    expect(readDocument(writeDocument(twice).text).events).toEqual(twice.events)
  })

  it('an element deeper in the event, or outside events, is not data', () => {
    const deep = readDocument(text.replace('<lc:input', '<x><lc:input').replace('<lc:result', '</x><lc:result'))
    expect(deep.events[0]?.input).toBeUndefined()
    const outside = readDocument(text.replace('  <Event', '  <Other><lc:input/></Other><Event'))
    expect(outside.events[0]).toMatchObject({ input, result })
  })
})
