import { readdirSync, readFileSync } from 'node:fs'
import { EMPTY_DOCUMENT } from '../../../src/stream/document.ts'
import { newEvent } from '../../../src/stream/event.ts'
import { writeDocument } from '../../../src/stream/xml/write.ts'

/** A readable document, and its description. */
export interface GoodDocument {
  readonly what: string
  readonly bytes: Buffer
}

const FIXTURES = new URL('../../support/fixtures/', import.meta.url)

const OWN = writeDocument({
  ...EMPTY_DOCUMENT,
  version: 2,
  born: '11111111-2222-4333-8444-555555555555',
  events: [
    newEvent({ id: '00', name: 'é "😀" <&>', status: 'inprocess', next: '01.00' }, { owner: 'w' }),
    newEvent({ id: '01.00', prev: '00', status: 'init', msg: 'a\tb\r\n' }, { attempt: '2' }),
  ],
  journal:
    '<lc:tx v="1" cmd="c" why="&quot;so&quot;"/>\n<lc:tx v="2" cmd="d"><lc:change event="00" to="init"/></lc:tx>',
}).text

/** All possible foreign content: comments, instructions, CDATA, other namespaces, a journal in another form. */
const RICH = `<?xml version='1.0' encoding="UTF-8" standalone='yes'?>
<!-- p -->\r\n<?style a="b"?>
<x:Stream xmlns:x="urn:x" xmlns:z='urn:leasectl:v1' z:v="3" colour="&#x202F;é">
  <!-- before --><Event id='00' name="a&#10;b" x:colour="red"><![CDATA[ ]] <Event id="9"/> ]]><n xmlns="urn:n" a=""/></Event>
  text &amp; ]]&gt; 😀
  <Event id="01.00" prev="00" xml:lang="de"></Event >
  <z:journal><z:tx v="1" cmd='c'><!-- in --><z:change event="00"/></z:tx> t <x:more/></z:journal>
</x:Stream>
<!-- e --><?end?>
`

const utf16 = (text: string) => Buffer.concat([Buffer.from('\ufeff', 'utf16le'), Buffer.from(text, 'utf16le')])
const named16 = RICH.replace('UTF-8', 'utf-16')

/** The golden documents of the library of 2013, of other writers and our own, and each readable encoding. */
export const GOOD_DOCUMENTS: readonly GoodDocument[] = [
  ...readdirSync(FIXTURES)
    .filter(name => name.endsWith('.xml'))
    .sort()
    .map(name => ({ what: name, bytes: readFileSync(new URL(name, FIXTURES)) })),
  { what: 'our own', bytes: Buffer.from(OWN) },
  { what: 'everything at once', bytes: Buffer.from(RICH) },
  { what: 'with a byte order mark', bytes: Buffer.from(`\ufeff${RICH}`) },
  { what: 'UTF-16, little end first', bytes: utf16(named16) },
  { what: 'UTF-16, big end first', bytes: utf16(named16).swap16() },
]
