import { describe, expect, it } from 'vitest'
import { readDocument } from '../../../src/stream/xml/read.ts'
import { documentText, Play } from '../../support/stream-builder.ts'

/** The highest version in the metadata beside the document. */
const FLOOR = { versionFloor: 7 }

/** A copy of version 3 that overwrites version 7: `w1` had claimed 01.00 (fence 2) and `w2` 02.00 (fence 3). */
function older(): Play {
  return Play.started('A', 'B').after({ op: 'start', event: '01.00' }, { op: 'start', event: '02.00', owner: 'w2' })
}

describe('an older copy of our own document', () => {
  it('is recorded as a foreign write that ends claims; versions continue after the highest known one', () => {
    const play = older()
    expect(play.do({ op: 'set', event: '00', attributes: { tag: 't' } }, FLOOR).version).toBe(9)
    expect(play.journal.slice(3)).toMatchObject([
      {
        version: 8,
        op: 'foreign',
        by: '',
        why: 'an older copy, version 3, was put over version 7',
        other: false,
        changes: [
          { event: '01.00', from: 'inprocess', to: 'inprocess', how: 'target', attr: 'claim' },
          { event: '02.00', from: 'inprocess', to: 'inprocess', how: 'target', attr: 'claim' },
        ],
      },
      { version: 9, op: 'set' },
    ])
  })

  it('is recorded once and is distinguished from the foreign writes that follow', () => {
    const play = older()
    play.do({ op: 'set', event: '00', attributes: { tag: 't' } }, FLOOR)
    expect(play.do({ op: 'set', event: '00', attributes: { tag: 'u' } }, { versionFloor: 9 }).version).toBe(10)
    expect(play.journal.filter(({ op }) => op === 'foreign')).toHaveLength(1)
  })

  it.each(['touch', 'release', 'advance', 'complete', 'fail', 'start'] as const)(
    'rejects %s with an earlier fence, both at once and after it is recorded',
    op => {
      const play = older()
      expect(play.code({ op, event: '01.00', fence: 2 }, FLOOR)).toBe('fenced')
      play.do({ op: 'set', event: '00', attributes: { tag: 't' } }, FLOOR)
      expect(play.code({ op, event: '01.00', fence: 2 })).toBe('fenced')
    },
  )

  it('does not allow a claim to be extended by owner name', () => {
    expect(older().code({ op: 'touch', event: '01.00', owner: 'w1' }, FLOOR)).toBe('not-claimed')
  })

  it('allows its events to be claimed at once, as another attempt with a higher fence', () => {
    const play = older()
    expect(play.do({ op: 'start', event: '01.00', owner: 'w3' }, FLOOR).claim).toMatchObject({ fence: 9, attempt: 2 })
    expect(play.do({ op: 'start', event: '02.00', owner: 'w3' }).claim).toMatchObject({ fence: 10, attempt: 2 })
  })

  it('ends a claim even if a writer that drops our attributes has overwritten it', () => {
    const play = older().legacy(() => {}, { rebuildEvents: true })
    expect(play.event('01.00').lc).toEqual({})
    expect(play.code({ op: 'touch', event: '01.00', fence: 2 }, FLOOR)).toBe('fenced')
    play.do({ op: 'set', event: '00', attributes: { tag: 't' } }, FLOOR)
    play.legacy(() => {}, { rebuildEvents: true })
    expect(play.code({ op: 'touch', event: '01.00', fence: 2 })).toBe('fenced')
    expect(play.do({ op: 'start', event: '01.00' }).claim).toMatchObject({ attempt: 2 })
  })

  it('needs settling, so that a watchdog records it', () => {
    const play = Play.started('A')
    expect(play.do({ op: 'settle' }, FLOOR)).toMatchObject({ outcome: 'done', version: 9 })
    expect(play.journal.map(({ op }) => op)).toEqual(['init', 'foreign', 'settle'])
    expect(play.do({ op: 'settle' }, { versionFloor: 9 }).outcome).toBe('already')
  })

  it('is not assumed if only the version of the document element is missing, or if there is no history', () => {
    const dropped = older().edit(text => text.replace(/ lc:v="3"/, ''))
    expect(dropped.do({ op: 'touch', event: '01.00', fence: 2 }, { versionFloor: 3 }).claim?.fence).toBe(2)
    const plain = new Play(documentText({ id: '00', status: 'inprocess' }))
    plain.do({ op: 'set', event: '00', attributes: { tag: 't' } }, FLOOR)
    expect(plain.journal.map(({ op, version }) => [op, version])).toEqual([
      ['adopt', 8],
      ['set', 9],
    ])
  })

  it('is written so that it reads back unchanged', () => {
    const play = older()
    play.do({ op: 'set', event: '00', attributes: { tag: 't' } }, FLOOR)
    expect(readDocument(play.text)).toEqual(play.document)
    expect(play.event('01.00').lc).toEqual({ owner: 'w1', attempt: '1' })
  })
})
