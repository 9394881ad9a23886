import { describe, expect, it } from 'vitest'
import { isNormalJournal } from '../../../../src/stream/xml/journal.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'

const LC = 'urn:leasectl:v1'
const inStream = (journal: string, root = ` xmlns:lc="${LC}"`) => `<S${root}><Event id="00"/>${journal}</S>`
const journalOf = (text: string) => readDocument(text).journal
const NORMAL =
  '<lc:tx v="1" cmd="a/b" why="it&apos;s &quot;x&quot; 😀"><lc:change event="00" from="" to="init"/><lc:change event="01"/></lc:tx>\n<lc:tx v="2" cmd="c"/>'

describe('the journal element', () => {
  it('is found by namespace and name, and its raw content is kept', () => {
    expect(journalOf(inStream(`<lc:journal>${NORMAL}</lc:journal>`))).toBe(NORMAL)
    expect(journalOf(inStream(`<journal>${NORMAL}</journal><lc:other/>`))).toBe('')
  })

  it('keeps its lines as they stand in the document', () => {
    const indented = NORMAL.replace('\n', '\n    ')
    const document = readDocument(inStream(`<lc:journal>\n    ${indented}\n  </lc:journal>`))
    expect(document.journal).toBe(indented)
    expect(writeDocument(document).text).toContain(`  <lc:journal>\n    ${indented}\n  </lc:journal>\n`)
  })

  it('is absent when empty', () => {
    for (const empty of ['<lc:journal/>', '<lc:journal>\r\n </lc:journal>']) {
      const document = readDocument(inStream(empty))
      expect(document.journal).toBe('')
      expect(writeDocument(document).text).not.toContain('journal')
    }
  })

  it('that is the last of several counts; the others stay foreign elements, however often the document is written', () => {
    let document = readDocument(
      inStream('<lc:journal><lc:tx v="1"/></lc:journal>a<lc:journal><lc:tx v="2"/></lc:journal>b'),
    )
    for (let times = 0; times < 3; times += 1) {
      expect(document.journal).toBe('<lc:tx v="2"/>')
      expect(document.tail).toBe('<lc:journal><lc:tx v="1"/></lc:journal>a\n  b')
      document = readDocument(writeDocument(document).text)
    }
  })
})

describe('a search for ` cmd="ID"` is exact in any content that a foreign writer left', () => {
  it.each([
    ['single quotes', `<lc:tx v='1' cmd='x' why=' cmd="y"'/>`],
    ['other white space', '<lc:tx\n v="1"  cmd\t= "x" why=" cmd=&quot;y&quot;" />'],
    ['another prefix', `<q:tx xmlns:q="${LC}" v="1" cmd="x" why=" cmd=&quot;y&quot;"></q:tx>`],
    ['the default namespace', `<tx xmlns="${LC}" v="1" cmd="x" why=" cmd=&quot;y&quot;"/>`],
    ['references in an id', '<lc:tx v="1" cmd="&#x78;" why=" cmd=&quot;y&quot;"/>'],
  ])('%s', (_, raw) => {
    expect(journalOf(inStream(`<lc:journal> ${raw} </lc:journal>`))).toBe(
      '<lc:tx v="1" cmd="x" why=" cmd=&quot;y&quot;"/>',
    )
  })

  it('comments, instructions and foreign elements move out; text stays with its quotes escaped', () => {
    const text = inStream(
      `t<lc:journal xmlns:n="urn:n"><!-- cmd="y"--><lc:tx v="1"><lc:change event="00"/><n:a cmd="y" xmlns:m="urn:m"><n:b/></n:a>a cmd="y"<![CDATA[<]]></lc:tx><?p cmd="y"?></lc:journal>`,
    )
    const document = readDocument(text)
    expect(document.journal).toBe('<lc:tx v="1"><lc:change event="00"/>a cmd=&quot;y&quot;&lt;</lc:tx>')
    expect(document.tail.split('\n  ')).toEqual([
      't',
      '<!-- cmd="y"-->',
      '<n:a xmlns:n="urn:n" cmd="y" xmlns:m="urn:m"><n:b/></n:a>',
      '<?p cmd="y"?>',
    ])
    expect(readDocument(writeDocument(document).text)).toMatchObject({ journal: document.journal, tail: document.tail })
  })

  it('moved content keeps its default namespace', () => {
    const text = inStream(
      `<journal xmlns="${LC}"><x:a><b/></x:a><c xmlns="urn:c"/></journal>`,
      ' xmlns:x="urn:x" xmlns="urn:d"',
    )
    expect(readDocument(text).tail).toBe(`<Event id="00"/>\n  <x:a xmlns="${LC}"><b/></x:a>\n  <c xmlns="urn:c"/>`)
  })

  it('our prefix replaces other prefixes; foreign attributes and our unknown elements stay', () => {
    const text = inStream(
      `<q:journal xmlns:q="${LC}" xmlns:x="urn:x"><q:tx v='1' q:new="n" x:a="1" xml:lang="en"><q:note><q:sub/></q:note></q:tx></q:journal>`,
      '',
    )
    expect(journalOf(text)).toBe(
      '<lc:tx v="1" lc:new="n" x:a="1" xml:lang="en" xmlns:x="urn:x"><lc:note><lc:sub/></lc:note></lc:tx>',
    )
  })

  it('the new prefix is used if the declared one is hidden somewhere', () => {
    const text = inStream(`<q:journal><q:tx v="1"/></q:journal><x xmlns:q="urn:o"/>`, ` xmlns:q="${LC}"`)
    expect(readDocument(text)).toMatchObject({ prefix: 'lc', journal: '<lc:tx v="1"/>' })
  })

  it('unlimited copies of namespaces are refused', () => {
    const many = Array.from({ length: 900 }, (_, at) => ` xmlns:n${at}="urn:${at}"`).join('')
    const text = inStream(`<lc:journal${many}>${'<n0:a/>'.repeat(2000)}</lc:journal>`)
    expect(() => readDocument(text)).toThrow(/line 1, column \d+: too many namespaces/)
  })
})

describe('the normal form', () => {
  it.each([
    ['', true],
    [NORMAL, true],
    [NORMAL.replace('\n', '\r\n      '), true],
    ['<lc:tx a-b.c="" xmlns:x="y" x:z="1"/>', true],
    ['<lc:tx v="1" />', false],
    ["<lc:tx v='1'/>", false],
    ['<lc:tx  v="1"/>', false],
    ['<lc:tx v="a>b"/>', false],
    ['<lc:tx v="a&amp;b" cmd="c&amp;d"/>', false],
    ['<lc:tx xcmd="c&amp;d"/>', true],
    ['<q:tx v="1"/>', false],
    ['<tx v="1"/>', false],
    ['</q:tx>', false],
    ['<lc:tx/>text', false],
    ['text<lc:tx/>', false],
    ['<lc:tx/><!-- -->', false],
  ])('%j: %s', (raw, normal) => {
    expect(isNormalJournal(raw, 'lc')).toBe(normal)
  })

  it('is recognized for values of any length', () => {
    expect(isNormalJournal(`<lc:tx why="${'x'.repeat(12_000_000)}"/>`, 'lc')).toBe(true)
  })
})
