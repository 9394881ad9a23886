import { describe, expect, it } from 'vitest'
import { BadDocument } from '../../../../src/stream/errors.ts'
import { LC_ATTRIBUTES, LC_NAMESPACE } from '../../../../src/stream/event.ts'
import { MAX_ATTRIBUTES, MAX_FOREIGN_ATTRIBUTES } from '../../../../src/stream/limits.ts'
import { readDocument } from '../../../../src/stream/xml/read.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { type Brief, Play, spec } from '../../../support/stream-builder.ts'

const MOST = MAX_FOREIGN_ATTRIBUTES
const numbered = (count: number, part: (at: number) => string) => Array.from({ length: count }, (_, at) => part(at))
const attributes = (count: number) => numbered(count, at => ` a${at}="${at}"`).join('')

function fault(text: string): string {
  try {
    readDocument(text)
  } catch (error) {
    if (error instanceof BadDocument) return error.message
    throw error
  }
  throw new Error(`accepted: ${text.slice(0, 200)}`)
}

/** A stream of another writer with this number of foreign attributes on each of its tags. */
const stream = (count: number, namespaces = '') =>
  `<Stream${namespaces}${attributes(count)}>
  <Event name="Start" status="inprocess" id="00" next="01.00|02.00"${attributes(count)}/>
  <Event name="A" status="init" id="01.00" prev="00"${attributes(count)}/>
  <Event name="B" status="init" id="02.00" prev="00" timeout="1.00:00:00"${attributes(count)}/>
</Stream>`

/** All operations but `init`, in an order in which each is accepted. */
const COURSE: readonly Brief[] = [
  { op: 'set', event: '01.00', attributes: { tag: 't', topic: 'x', onDue: 'notify' } },
  { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 },
  { op: 'touch', event: '01.00', owner: 'w', claimMs: 60_000, msg: 'half' },
  { op: 'release', event: '01.00', owner: 'w' },
  { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 },
  { op: 'advance', event: '01.00', owner: 'w', forks: [spec('C'), spec('D')], join: spec('J') },
  { op: 'start', event: '02.00', owner: 'w', claimMs: 60_000 },
  { op: 'fail', event: '02.00', owner: 'w', msg: 'no' },
  { op: 'retry', event: '02.00' },
  { op: 'abort', event: '02.00', msg: 'late' },
  { op: 'ack' },
  { op: 'break-lease' },
  { op: 'retry' },
  { op: 'complete', event: '02.00' },
  { op: 'cancel', msg: 'enough' },
  { op: 'retry', canceled: true },
]

/** The foreign attributes of the document element without declarations, and of the first three events. */
function kept({ document }: Play): number[] {
  const root = document.attributes.filter(({ name }) => !name.startsWith('xmlns'))
  return [root.length, ...document.events.slice(0, 3).map(({ foreign }) => foreign.length)]
}

describe('the maximum number of foreign attributes', () => {
  it('survive every operation on the document element and on each event', () => {
    const play = new Play(stream(MOST))
    for (const operation of COURSE) {
      play.wait(1_000).do(operation)
      expect(kept(play), operation.op).toEqual([MOST, MOST, MOST, MOST])
    }
    const ends = play.apply({ op: 'abort' })
    expect(ends.kind).toBe('changed')
    expect(readDocument(play.text)).toEqual({ ...play.document })
  })

  it('survive init', () => {
    const play = new Play(`<S${attributes(MOST)}/>`).after({ op: 'init', root: spec('Start'), forks: [spec('A')] })
    expect(play.document.attributes).toHaveLength(MOST + 1)
    expect(play.statuses).toEqual(['00 inprocess', '01.00 init'])
  })

  it('survive the journal entries for a foreign write and for the attributes it dropped', () => {
    const play = new Play(stream(MOST)).after({ op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 })
    play.legacy(legacy => legacy.setStatus('02.00', 'aborted'))
    play.do({ op: 'complete', event: '01.00', owner: 'w' })
    expect(kept(play)).toEqual([MOST, MOST, MOST, MOST])
  })

  it('leave room for all of ours at once, and for the declaration that is not a namespace attribute', () => {
    const lc = Object.fromEntries(LC_ATTRIBUTES.map(name => [name, 'x']))
    const read = readDocument(stream(MOST - 1, ' xmlns="urn:d"').replaceAll('<Event', '<Event xmlns="" b=""'))
    const written = writeDocument({
      ...read,
      version: 1,
      born: 'b',
      at: 't',
      dates: 'mdy',
      events: read.events.map(event => ({
        ...event,
        topic: 'x',
        key: 'x',
        msg: 'x',
        trackingId: 'x',
        created: 'x',
        timestamp: 'x',
        timeout: 'x',
        ref: 'x',
        tag: 'x',
        lc,
      })),
    })
    const again = readDocument(written.text)
    expect(again.events[1]).toMatchObject({ lc, foreign: { length: MOST } })
    expect(writeDocument(again).text).toBe(written.text)
  })

  it.each([
    ['declared', ` xmlns:lc="${LC_NAMESPACE}"`],
    ['declared with another prefix', ` xmlns:q="${LC_NAMESPACE}"`],
  ])('are counted without our own namespace, %s', (_, namespaces) => {
    const play = new Play(stream(MOST, namespaces)).after(...COURSE)
    expect(kept(play)).toEqual([MOST, MOST, MOST, MOST])
    expect(fault(stream(MOST + 1, namespaces))).toMatch(/^line 1, column 1: the document element has more than 1000/)
  })

  it.each([
    ['hidden below', ` xmlns:q="${LC_NAMESPACE}"`, '<x xmlns:q="urn:o"/>'],
    [
      'hidden in a journal that is rewritten',
      ` xmlns:q="${LC_NAMESPACE}"`,
      `<j:journal xmlns:j="${LC_NAMESPACE}" xmlns:q="urn:o"/>`,
    ],
  ])('are counted with our own namespace if its prefix is %s: another prefix is declared', (_, namespaces, inside) => {
    const text = (count: number) => stream(count, namespaces).replace('</Stream>', `${inside}</Stream>`)
    const play = new Play(text(MOST - 1)).after(...COURSE)
    expect(kept(play)[0]).toBe(MOST - 1)
    expect(fault(text(MOST))).toMatch(/^line 1, column 1: the document element has more than 1000/)
  })
})

describe('one attribute more is refused by the reader', () => {
  it('on the document element', () => {
    expect(fault(`<!-- -->\n<S${attributes(MOST + 1)}><Event id="00"/></S>`)).toBe(
      'line 2, column 1: the document element has more than 1000 attributes that are not ours',
    )
  })

  it('on an event, not counting ours', () => {
    const event = (count: number) =>
      `<S>\n <Event id="00"/>\n <Event id="01" tag="" prev="00"${attributes(count)}/></S>`
    expect(readDocument(event(MOST)).events[1]?.foreign).toHaveLength(MOST)
    expect(fault(event(MOST + 1))).toBe('line 3, column 2: an Event has more than 1000 attributes that are not ours')
  })

  it('in any other tag, where the limit is slightly higher', () => {
    const text = (count: number) => `<S>\n <x${attributes(count)}/></S>`
    expect(readDocument(text(MAX_ATTRIBUTES)).tail).toContain('a1099=')
    expect(fault(text(MAX_ATTRIBUTES + 1))).toBe('line 2, column 2: an element has more than 1100 attributes')
    expect(fault(`<S${attributes(MAX_ATTRIBUTES + 1)}`)).toMatch(/^line 1, column 1: an element has more than 1100/)
  })
})

describe('rewriting a journal produces only tags that can be read', () => {
  const inJournal = (declared: number, inside: string) =>
    `<S xmlns:lc="${LC_NAMESPACE}"><Event id="00"/>\n<lc:journal${numbered(declared, at => ` xmlns:n${at}="urn:${at}"`).join('')}>${inside}</lc:journal></S>`
  const entry = (count: number) => `<lc:tx v='1'${numbered(count, at => ` n${at}:a="1"`).join('')}/>`

  it('an entry takes the declarations of its attributes with it, as far as they fit', () => {
    // v and, of each of the others, the attribute and its declaration
    const most = Math.floor((MAX_ATTRIBUTES - 1) / 2)
    const first = readDocument(inJournal(most, entry(most)))
    const second = readDocument(writeDocument(first).text)
    expect(second.journal).toBe(first.journal)
    expect(fault(inJournal(most + 1, entry(most + 1)))).toMatch(
      /^line 2, column \d+: an element in the journal would have more than 1100 attributes/,
    )
  })

  it('so does an element that leaves the journal', () => {
    const element = (count: number) => `<n0:a${attributes(count)}/>`
    const first = readDocument(inJournal(100, element(MAX_ATTRIBUTES - 100)))
    expect(readDocument(writeDocument(first).text)).toMatchObject({ tail: first.tail })
    expect(fault(inJournal(101, `${entry(1)}\n${element(MAX_ATTRIBUTES - 100)}`))).toMatch(/^line 3, column 1: /)
    expect(fault(inJournal(101, element(MAX_ATTRIBUTES - 100)))).toMatch(
      /^line 2, column \d+: an element in the journal/,
    )
  })
})
