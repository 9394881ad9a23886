import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BadDocument } from '../../../../src/stream/errors.ts'
import { LC_NAMESPACE } from '../../../../src/stream/event.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { Play } from '../../../support/stream-builder.ts'

const ROOT = '<Event name="A" status="inprocess" id="00"/>'
const inStream = (inside: string, root = '') => `<S xmlns:lc="${LC_NAMESPACE}"${root}>${ROOT}\n${inside}</S>`
const inJournal = (inside: string, tag = '') => inStream(`<lc:journal${tag}>${inside}</lc:journal>`)
const rewritten = (text: string) => readDocument(writeDocument(readDocument(text)).text)

describe('an Event in the journal that would become an event of the stream outside it', () => {
  it.each([
    ['with an id', '<Event id="01" prev="00"/>', 13],
    ['without', '<Event/>', 13],
    ['with content', '<Event id="01"><x/></Event>', 13],
    ['in an entry', '<lc:tx v="1">\n  <Event id="01"/></lc:tx>', 3],
    ['in a change of an entry', '<lc:tx v="1"><lc:change><Event id="01"/></lc:change></lc:tx>', 37],
    ['after other content', '<x/><!-- --><Event xmlns="" id="01"/>', 25],
  ])('is refused: %s', (_, inside, column) => {
    const text = inJournal(inside)
    const line = inside.includes('\n') ? 3 : 2
    expect(() => readDocument(text)).toThrow(BadDocument)
    expect(() => readDocument(text)).toThrow(
      `line ${line}, column ${column}: an Event stands in the journal; events are direct children of the document element`,
    )
  })

  it('is refused if the journal removes the default namespace', () => {
    const text = inStream('<lc:journal xmlns=""><Event id="01"/></lc:journal>', ' xmlns="urn:d"').replace(
      ROOT,
      ROOT.replace('<Event', '<Event xmlns=""'),
    )
    expect(() => readDocument(text)).toThrow(/an Event stands in the journal/)
  })

  it.each([
    ['inside a foreign element', '<x><Event id="01"/></x>', '<x><Event id="01"/></x>'],
    ['of another namespace', '<Event xmlns="urn:o"/>', '<Event xmlns="urn:o"/>'],
    ['of the journal’s default namespace', '<Event/>', '<Event xmlns="urn:o"/>', ' xmlns="urn:o"'],
    ['with a prefix', '<x:Event xmlns:x="urn:o"/>', '<x:Event xmlns:x="urn:o"/>'],
    ['of another case', '<event id="01"/>', '<event id="01"/>'],
  ])('is kept: %s', (_, inside, tail, tag = '') => {
    const first = readDocument(inJournal(inside, tag))
    expect(first).toMatchObject({ tail, events: { length: 1 } })
    expect(rewritten(inJournal(inside, tag))).toMatchObject({ tail, journal: first.journal, events: { length: 1 } })
  })

  it('is kept if it is ours, because it stays in the journal', () => {
    expect(rewritten(inJournal('<lc:Event id="01"/>'))).toMatchObject({ journal: '<lc:Event id="01"/>', tail: '' })
  })

  it('is kept in a journal that is not the last, which is foreign', () => {
    const text = inStream('<lc:journal><Event id="01"/></lc:journal><lc:journal><lc:tx v="1"/></lc:journal>')
    const play = new Play(text).after({ op: 'complete', event: '00' })
    expect(play.document.events).toHaveLength(1)
    expect(play.document.tail).toBe('<lc:journal><Event id="01"/></lc:journal>')
  })
})

describe('the journal tag keeps', () => {
  it('the prefixes that entries use, even if their form is ours', () => {
    const tx = '<lc:tx v="1" x:a="1"/>'
    expect(rewritten(inJournal(tx, ' xmlns:x="urn:x"')).journal).toBe('<lc:tx v="1" x:a="1" xmlns:x="urn:x"/>')
  })

  it('another prefix of ours', () => {
    const tx = '<lc:tx v="1" q:new="1"/>'
    expect(rewritten(inJournal(tx, ` xmlns:q="${LC_NAMESPACE}"`)).journal).toBe('<lc:tx v="1" lc:new="1"/>')
  })
})

describe('a last journal that is empty', () => {
  it.each(['<lc:journal/>', '<lc:journal> </lc:journal>', '<lc:journal><!-- c --></lc:journal>'])(
    'stays last with %s; otherwise another journal would count when it is read again',
    last => {
      const text = inStream(`<lc:journal><lc:tx v="7"/></lc:journal>${last}`)
      const first = readDocument(text)
      expect(first.journal).toBe('')
      const { sum, ...model } = rewritten(text)
      expect({ ...model, sum: '' }).toEqual(first)
      expect(sum).not.toBe('')
    },
  )

  it('stays last before an event too', () => {
    const text = `<S xmlns:lc="${LC_NAMESPACE}"><lc:journal><lc:tx v="7"/></lc:journal>${ROOT}<lc:journal/></S>`
    expect(rewritten(text)).toMatchObject({ journal: '', events: [{ before: readDocument(text).events[0]?.before }] })
  })
})

describe('a small journal has a limit of growth', () => {
  const long = 'u'.repeat(100_000)
  const entries = `<lc:tx v='1' x:a="1"/>`.repeat(200)

  it('for the namespaces of attributes', () => {
    const text = inStream(`<lc:journal>${entries}</lc:journal>`, ` xmlns:x="${long}"`)
    expect(() => readDocument(text)).toThrow(/^line 2, column \d+: too many namespaces/)
  })

  it('and everything up to that limit is read again', () => {
    const text = inStream(`<lc:journal>${entries}</lc:journal>`, ` xmlns:x="${'u'.repeat(5_000)}"`)
    let document = readDocument(text)
    for (let times = 0; times < 3; times += 1) {
      const again = readDocument(writeDocument(document).text.replace("<lc:tx v='1'", '<lc:tx  v="1"'))
      expect(again.journal).toBe(document.journal)
      document = again
    }
  })

  it('for a long prefix of ours', () => {
    const q = `<q:journal xmlns:q="${LC_NAMESPACE}">${'<q:tx/>'.repeat(20_000)}</q:journal>`
    const document = readDocument(`<S xmlns:${'p'.repeat(100_000)}="${LC_NAMESPACE}">${ROOT}${q}</S>`)
    expect(document.prefix).toBe('lc')
    expect(document.journal.length).toBeLessThan(300_000)
  })
})

it('white space around texts in a journal is indentation and does not accumulate', () => {
  const text = inJournal('\n a <!-- c --> b\n<lc:tx v="1"> x<![CDATA[ ]]>y </lc:tx>z\n')
  const { journal } = readDocument(text)
  expect(journal).toBe('a  b\n    <lc:tx v="1">x y</lc:tx>z')
  expect(rewritten(text).journal).toBe(journal)
})

/** Unusual journals, built from pieces. */
const aTag = fc.constantFrom('lc:tx', 'lc:change', 'lc:journal', 'q:tx', 'x:a', 'y:b', 'n', 'Event', 'x:Event')
const someAttributes = fc
  .uniqueArray(
    fc.constantFrom(
      ['v', '1'],
      ['cmd', 'c&amp;d'],
      ['x:a', '&lt;'],
      ['y:a', '1'],
      ['q:new', ''],
      ['lc:new', ''],
      ['id', '09'],
      ['xml:lang', 'en'],
      ['xmlns', 'urn:d'],
      ['xmlns', ''],
      ['xmlns', LC_NAMESPACE],
      ['xmlns:x', 'urn:x2'],
      ['xmlns:y', 'urn:y'],
      ['xmlns:q', LC_NAMESPACE],
      ['xmlns:q', 'urn:q'],
      ['xmlns:lc', LC_NAMESPACE],
    ),
    { selector: ([name]) => name, maxLength: 5 },
  )
  .map(pairs => pairs.map(([name, value]) => ` ${name}="${value}"`).join(''))
const aPiece = fc.letrec<{ node: string }>(tie => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('t', '<!-- c -->', '<?p d?>', '<![CDATA[<]]>', '\n  '),
    fc.tuple(aTag, someAttributes).map(([tag, attributes]) => `<${tag}${attributes}/>`),
    fc
      .tuple(aTag, someAttributes, fc.array(tie('node'), { maxLength: 3 }))
      .map(([tag, attributes, inside]) => `<${tag}${attributes}>${inside.join('')}</${tag}>`),
  ),
})).node
const aJournal = fc
  .tuple(someAttributes, fc.array(aPiece, { maxLength: 3 }))
  .map(([attributes, inside]) => `<lc:journal${attributes}>${inside.join('')}</lc:journal>`)

it('a document with any journal is refused, or written so that it reads back unchanged', () => {
  const seen = { read: 0, refused: 0 }
  const anyStream = fc.tuple(someAttributes, fc.array(fc.oneof(aJournal, aPiece), { minLength: 1, maxLength: 3 }))
  fc.assert(
    fc.property(anyStream, ([attributes, inside]) => {
      const root = ` xmlns:lc="${LC_NAMESPACE}" xmlns:x="urn:x" xmlns:q="urn:q" xmlns:y="urn:y"`
      const text = `<S${unique(root + attributes)}><Event xmlns="" id="00"/>${inside.join('')}</S>`
      const first = read(text)
      seen[first === undefined ? 'refused' : 'read'] += 1
      if (first === undefined) return
      const { sum, ...again } = rewritten(text)
      expect({ ...again, sum: first.sum, attributes: [], prefix: first.prefix }).toEqual({ ...first, attributes: [] })
      expect(again.attributes.filter(({ name }) => name !== `xmlns:${again.prefix}`)).toEqual(
        first.attributes.filter(({ name }) => name !== `xmlns:${first.prefix}`),
      )
    }),
    { numRuns: 2_000 },
  )
  expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(100)
})

function read(text: string) {
  try {
    return readDocument(text)
  } catch (error) {
    if (error instanceof BadDocument) return undefined
    throw error
  }
}

/** Keeps the first of the attributes with one name. */
function unique(attributes: string): string {
  const names = new Set<string>()
  return attributes.replace(/ ([^\s=]+)="[^"]*"/g, (all, name: string) => {
    if (names.has(name)) return ''
    names.add(name)
    return all
  })
}
