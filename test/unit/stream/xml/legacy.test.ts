import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT } from '../../../../src/stream/document.ts'
import { newEvent } from '../../../../src/stream/event.ts'
import { sumOf } from '../../../../src/stream/fingerprint.ts'
import { decodeDocument } from '../../../../src/stream/xml/decode.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import {
  LegacyStream,
  legacyFaults,
  type SaveOptions,
  xelementLoad,
  xelementSelect,
} from '../../../support/xelement.ts'

const fixture = (name: string) => readFileSync(new URL(`../../../support/fixtures/${name}`, import.meta.url))
const readBytes = (bytes: Uint8Array) => readDocument(decodeDocument(bytes))

describe('documents of 2013', () => {
  it('are read with CRLF and indentation', () => {
    const document = readBytes(fixture('2013-us.xml'))
    expect(document).toMatchObject({
      element: 'SearchOrder',
      version: 0,
      born: '',
      sum: '',
      tail: '',
      journal: '',
      prefix: 'lc',
    })
    expect(document.events.map(({ id, status, before, content }) => [id, status, before, content])).toEqual([
      ['00', 'inprocess', '', ''],
      ['01.00', 'completed', '', ''],
      ['02.00', 'init', '', ''],
    ])
    expect(document.events[0]).toMatchObject({ created: '11/20/2013 6:23:05 PM', next: '01.00|02.00', empty: [] })
    expect(document.events[1]?.empty).toEqual(['next'])
  })

  it.each(['utf8', 'utf16le'] as const)('are the same without indentation, with byte order mark, in %s', encoding => {
    const text = fixture('2013-de.xml').toString('utf8')
    const declared = encoding === 'utf8' ? text : text.replace('utf-8', 'utf-16')
    const document = readBytes(Buffer.from(`\uFEFF${declared}`, encoding))
    expect(document).toEqual(readDocument(text))
    expect(document.events[0]).toMatchObject({ key: 'Größe "L"', timestamp: '20.11.2013 18:23:05', next: '01.00' })
  })

  it('read the same in the old library after we have written them', () => {
    for (const name of ['2013-us.xml', '2013-de.xml']) {
      const old = fixture(name).toString('utf8')
      const { text } = writeDocument(readDocument(old))
      const plain = (from: string) => xelementSelect(xelementLoad(from)).map(({ attributes }) => attributes)
      expect(plain(text)).toEqual(plain(old))
    }
  })
})

const OURS = {
  ...EMPTY_DOCUMENT,
  version: 3,
  born: 'b',
  events: [
    newEvent({ id: '00', name: 'Start', status: 'inprocess', next: '01.00|02.00' }, { opened: 'o' }),
    newEvent({ id: '01.00', status: 'inprocess', prev: '00', msg: 'a\n"b"' }, { owner: 'w', fence: '3' }),
    newEvent({ id: '02.00', status: 'aborted', prev: '00' }),
  ],
  journal: '<lc:tx v="3" cmd="c"><lc:change event="01.00"/></lc:tx>',
}

describe('the .NET library on a document of ours', () => {
  const { text, sum } = writeDocument(OURS)

  it('finds nothing it cannot process', () => {
    expect(legacyFaults(text)).toEqual([])
    expect(xelementSelect(xelementLoad(text), 'aborted')).toHaveLength(1)
    expect(new LegacyStream(text).root.attributes[0]).toMatchObject({ name: 'name', value: 'Start' })
  })

  it.each<SaveOptions>([{}, { bom: false }, { indent: false }, { newline: '\n' }])(
    'changes nothing when it saves: %o',
    options => {
      const again = readBytes(new LegacyStream(text).save(options))
      expect(again.events).toEqual(OURS.events)
      expect(again).toMatchObject({ sum, version: 3, born: 'b' })
      expect(again.journal.replace(/\s*\n\s*/g, '')).toBe(OURS.journal)
    },
  )

  it('closes the parent when the last branch ends, with error if one had failed', () => {
    const stream = new LegacyStream(text)
    stream.setStatus('01.00', 'completed', 'now')
    const again = readBytes(stream.save())
    expect(again.events[0]).toMatchObject({
      status: 'completed',
      msg: 'WithError',
      timestamp: 'now',
      lc: { opened: 'o' },
    })
    expect(sumOf(again.events)).not.toBe(again.sum)
  })

  it('loses only unknown attributes when it recreates events', () => {
    const again = readBytes(new LegacyStream(text).save({ rebuildEvents: true }))
    expect(again.events).toEqual(OURS.events.map(event => ({ ...event, lc: {} })))
    expect(again).toMatchObject({ version: 3, sum, journal: expect.stringContaining(' cmd="c"') })
  })
})

describe('the emulation of the library', () => {
  const stream = (...events: string[]) =>
    new LegacyStream(`<S>${events.map(event => `<Event ${event}/>`).join('')}</S>`)

  it('fails on a root with prev, even an empty one, and on a missing event', () => {
    expect(() => stream('id="1" prev="0"')).toThrow('prev')
    expect(() => stream('id="1" prev=""')).toThrow('prev')
    expect(() => stream('id="1"').setStatus('2', 'completed')).toThrow('no event 2')
    expect(() => stream().root).toThrow('no event')
    expect(() => stream('id="0"', 'id="1" prev="9"').setStatus('1', 'completed')).toThrow('no event 9')
  })

  it.each([
    ['init', 'status="init" next="1"'],
    ['without next', 'status="inprocess"'],
    ['with an open successor', 'status="inprocess" next="1|2"'],
    ['with a missing successor', 'status="inprocess" next="1|3"'],
    ['with an empty next', 'status="inprocess" next=""'],
  ])('does not close a parent that is %s', (_, parent) => {
    const legacy = stream(`id="0" ${parent}`, 'id="1" prev="0"', 'id="2" prev="0"')
    const before = legacy.attribute('0', 'status')
    legacy.setStatus('1', 'completed')
    expect(legacy.attribute('0', 'status')).toBe(before)
  })

  it('walks up through prev, and writes msg only for a failure', () => {
    const legacy = stream(
      'id="0" status="inprocess" next="1"',
      'id="1" prev="0" status="inprocess" next="2"',
      'id="2" prev="1"',
    )
    legacy.setStatus('2', 'completed')
    expect(['0', '1', '2'].map(id => [legacy.attribute(id, 'status'), legacy.attribute(id, 'msg')])).toEqual(
      Array.from({ length: 3 }, () => ['completed', undefined]),
    )
  })

  it('saves as XElement does', () => {
    const text = '<!-- lost --><S a=\'"\'>\n<Event id="0"/>\n<m>t<b/></m><!--c--></S>'
    const saved = (options: SaveOptions) => Buffer.from(new LegacyStream(text).save(options)).toString('utf8')
    expect(saved({})).toBe(
      '\uFEFF<?xml version="1.0" encoding="utf-8"?>\r\n<S a="&quot;">\r\n  <Event id="0" />\r\n  <m>t<b /></m>\r\n  <!--c-->\r\n</S>',
    )
    expect(saved({ bom: false, indent: false })).toBe(
      '<?xml version="1.0" encoding="utf-8"?><S a="&quot;"><Event id="0" /><m>t<b /></m><!--c--></S>',
    )
  })

  it('names the constructs that the library cannot process', () => {
    const text = '<S><Event id="1" prev="0"/><Event id="2" prev="1"/><Event id="3" prev="9"/><Event id="3"/></S>'
    expect(legacyFaults(text)).toEqual([
      'duplicate ids',
      'the root event has a prev',
      '1: no next on its parent 0',
      '2: no next on its parent 1',
      '3: no next on its parent 9',
    ])
    expect(legacyFaults('<S><Event id="1" next="2"/><Event id="3" prev="1"/></S>')).toEqual([
      '3: not in next of its parent 1',
    ])
  })
})
