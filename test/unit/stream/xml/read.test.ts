import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'

const LC = 'urn:leasectl:v1'
const fixture = (name: string) => readFileSync(new URL(`../../../support/fixtures/${name}`, import.meta.url), 'utf8')
const idsOf = (text: string) => readDocument(text).events.map(({ id }) => id)
const first = (text: string) => {
  const event = readDocument(text).events[0]
  if (event === undefined) throw new Error('no event')
  return event
}

describe('events', () => {
  it('are only direct children named Event in no namespace', () => {
    const text = `<S xmlns:x="urn:x"><Event id="1"/><x:Event id="2"/><event id="3"/><a><Event id="4"/></a><Event id="5"><Event id="6"/></Event><Event xmlns="urn:d" id="7"/></S>`
    expect(idsOf(text)).toEqual(['1', '5'])
    expect(readDocument(text).events[1]?.content).toBe('<Event id="6"/>')
    expect(readDocument(text).tail).toBe('<Event xmlns="urn:d" id="7"/>')
  })

  it('disappear in a default namespace unless they undo it', () => {
    expect(idsOf('<S xmlns="urn:d"><Event id="1"/><Event xmlns="" id="2"/></S>')).toEqual(['2'])
  })

  it('may be absent, whatever else the document holds', () => {
    expect(readDocument('<Event id="00"/>')).toMatchObject({ element: 'Event', events: [], tail: '' })
    expect(readDocument('<S>\r\n</S>')).toMatchObject({ events: [], tail: '' })
    expect(readDocument('<S> x </S>')).toMatchObject({ events: [], tail: 'x' })
  })

  it('with duplicate or unusual ids are kept in order', () => {
    expect(idsOf(`<S><Event id="00"/><Event id="a|'b "/><Event id="00"/></S>`)).toEqual(['00', "a|'b ", '00'])
  })

  it('keep an unknown status, old dates and any other text of the fourteen attributes', () => {
    const event = first(
      '<S><Event id="00" status="paused" created="11/20/2013 6:23:05&#x202F;PM" timeout="30" key=" k "/></S>',
    )
    expect(event).toMatchObject({ status: 'paused', created: '11/20/2013 6:23:05\u202fPM', timeout: '30', key: ' k ' })
  })

  it('keep empty attributes in the order of writing, but never a prev on the root', () => {
    const text = '<S><Event next="" prev="" id="1" key="" x=""/><Event prev="" id="2"/></S>'
    const [root, second] = readDocument(text).events
    expect(root).toMatchObject({ empty: ['key', 'next'], foreign: [{ name: 'x', value: '' }] })
    expect(second).toMatchObject({ empty: ['prev'] })
  })
})

describe('the attributes of leasectl (stream-format 5)', () => {
  const ALL = 'v="7" z:born="b" z:sum="1:ab" z:at="2026-01-02T03:04:05.678Z" z:dates="dmy"'

  it('are found by namespace, whatever the prefix', () => {
    const text = `<S xmlns:z="${LC}" z:${ALL} w="1"><Event id="00" z:owner="w" z:msg="m" msg="n"/></S>`
    const document = readDocument(text)
    expect(document).toMatchObject({ prefix: 'z', version: 7, born: 'b', sum: '1:ab', dates: 'dmy' })
    expect(document.at).toBe('2026-01-02T03:04:05.678Z')
    expect(document.attributes.map(({ name }) => name)).toEqual(['xmlns:z', 'w'])
    expect(document.events[0]).toMatchObject({ msg: 'n', lc: { owner: 'w', msg: 'm' }, foreign: [] })
  })

  it('are not ours in no namespace or another one', () => {
    const event = first('<S xmlns:x="urn:x"><Event id="00" owner="a" x:owner="b" x:status="c"/></S>')
    expect(event).toMatchObject({ lc: {}, status: '' })
    expect(event.foreign.map(({ name }) => name)).toEqual(['owner', 'x:owner', 'x:status'])
  })

  it.each(['', 'x', '-1', '1.5', ' 7', '1234567890123456'])('have version 0 if "%s" is not a version', version => {
    expect(readDocument(`<S xmlns:lc="${LC}" lc:v="${version}" lc:dates="ymd"/>`)).toMatchObject({
      version: 0,
      dates: '',
    })
  })

  it('count as absent if empty, and unknown ones are kept', () => {
    const event = first(`<S xmlns:lc="${LC}"><Event id="00" lc:owner="" lc:future=""/></S>`)
    expect(event.lc).toEqual({})
    expect(event.foreign).toEqual([{ name: 'lc:future', uri: LC, local: 'future', value: '' }])
  })

  it('may be declared on the events, as other writers do; those declarations are dropped when unused', () => {
    const text = `<S><Event id="00" p1:owner="w" p1:future="f" xmlns:p1="${LC}"/><Event id="01" xmlns:p2="${LC}" p2:fence="3"><p2:x/></Event></S>`
    const { prefix, events } = readDocument(text)
    expect(prefix).toBe('lc')
    expect(events[0]).toMatchObject({ lc: { owner: 'w' }, foreign: [{ name: 'lc:future', local: 'future' }] })
    expect(events[1]).toMatchObject({ lc: { fence: '3' }, foreign: [{ name: 'xmlns:p2' }], content: '<p2:x/>' })
  })
})

describe('the prefix', () => {
  it.each([
    ['lc when nothing is declared', '<S/>', 'lc'],
    ['the first that the document element declares', `<S xmlns:b="${LC}" xmlns:a="${LC}"/>`, 'b'],
    ['lc1 when lc means something else', '<S xmlns:lc="urn:o"/>', 'lc1'],
    ['lc2 when lc1 is taken too, however deep', '<S xmlns:lc="urn:o"><a><b xmlns:lc1="urn:p"/></a></S>', 'lc2'],
    ['never one that an inner element binds otherwise', `<S xmlns:q="${LC}"><Event id="0" xmlns:q="urn:o"/></S>`, 'lc'],
    ['lc when only the default namespace is ours', `<S xmlns="${LC}"/>`, 'lc'],
    ['lc when an event binds it to ours', `<S><Event id="0" xmlns:lc="${LC}"/></S>`, 'lc'],
  ])('is %s', (_, text, prefix) => {
    expect(readDocument(text).prefix).toBe(prefix)
  })

  it('keeps its meaning in the model when an event hides the declared prefix', () => {
    const text = `<S xmlns:q="${LC}" q:v="4" q:new="n"><Event id="00" xmlns:q="urn:o" q:owner="theirs"/><Event id="01" q:owner="ours"/></S>`
    const document = readDocument(text)
    expect(document.events[1]?.lc).toEqual({ owner: 'ours' })
    const again = readDocument(writeDocument(document).text)
    expect(again).toMatchObject({ version: 4, prefix: 'lc' })
    expect(again.attributes).toContainEqual({ name: 'lc:new', uri: LC, local: 'new', value: 'n' })
    expect(again.events).toEqual(document.events)
  })
})

describe('foreign content (stream-format 7.3)', () => {
  it('comments, instructions, CDATA, elements and text are kept in place', () => {
    const { prolog, epilog, tail, events } = readDocument(fixture('foreign.xml'))
    expect(prolog).toBe('<?xml-stylesheet href="events.xsl" type="text/xsl"?>\n<!-- exported by hand -->')
    expect(epilog).toBe('<!-- end -->')
    expect(tail).toBe('<?audit done?>')
    expect(events.map(({ before }) => before)).toEqual([
      '<!-- the root -->',
      'stray text &amp; more\n  <x:box><Event id="inner" prev="nobody"/></x:box>',
    ])
    expect(events[0]?.content).toBe('<x:note at="1"><![CDATA[ <Event id="no"/> ]]></x:note>')
  })

  it.each(['\r\n', '\r', '\n'])('slices are exact with line ends %j, surrogate pairs and entities', newline => {
    const content = `${newline}<a b='>'>😀&amp;</a>${newline}`
    const text = [
      '<?xml version="1.0"?>',
      '<!--😀',
      '-->',
      '<S',
      ' a="&#10;>">',
      '<!--1-->',
      `<Event`,
      ` id="é😀>" >${content}</Event >`,
      '<!--2-->',
      '</S',
      '>',
      '<!--3-->',
      '',
    ].join(newline)
    const document = readDocument(text)
    expect(document).toMatchObject({ prolog: `<!--😀${newline}-->`, tail: '<!--2-->', epilog: '<!--3-->' })
    expect(document.events).toMatchObject([{ id: 'é😀>', before: '<!--1-->', content }])
  })

  it('an element with only white space has no content', () => {
    expect(first('<S><Event id="0">\r\n\t </Event></S>').content).toBe('')
  })

  it('only the white space of XML is layout', () => {
    expect(readDocument('<S>\t\u00a0 <Event id="0">\u2003</Event>\ufeff</S>')).toMatchObject({
      tail: '\ufeff',
      events: [{ before: '\u00a0', content: '\u2003' }],
    })
  })

  it('namespace declarations that raw slices need stay bound', () => {
    const text = '<S xmlns:x="urn:x"><Event id="0" xmlns:y="urn:y"><x:a><y:b/></x:a></Event><x:c/></S>'
    const { text: written } = writeDocument(readDocument(text))
    expect(readDocument(written)).toMatchObject({ tail: '<x:c/>', events: [{ content: '<x:a><y:b/></x:a>' }] })
  })

  it('events after the journal do not affect it', () => {
    const text = `<S xmlns:lc="${LC}"><Event id="00"/>a<lc:journal><lc:tx v="1"/></lc:journal>b<Event id="01"/></S>`
    expect(readDocument(text)).toMatchObject({
      journal: '<lc:tx v="1"/>',
      tail: '',
      events: [{}, { before: 'a\n  b' }],
    })
  })
})
