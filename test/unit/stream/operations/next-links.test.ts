import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLinkable } from '../../../../src/stream/event-id.ts'
import { MAX_READ_BYTES } from '../../../../src/stream/limits.ts'
import { withNext } from '../../../../src/stream/operations/transaction.ts'
import { writtenBytes } from '../../../../src/stream/xml/write.ts'
import { aStrangeDocument, RUNS } from '../../../support/arbitraries.ts'
import { documentText, Play } from '../../../support/stream-builder.ts'
import { legacyFaults } from '../../../support/xelement.ts'

/** A parent that only its successors refer to: the library of 2013 requires `next`. */
const foreign = (more: { readonly next?: string } = {}) =>
  new Play(
    documentText(
      { id: '00', name: 'R', status: 'inprocess', ...more },
      { id: '01.00', name: 'A', status: 'init', prev: '00' },
      { id: '02.00', name: 'B', status: 'init', prev: '00' },
      { id: '01.01', name: 'C', status: 'init', prev: '01.00' },
    ),
  )

describe('a parent of a foreign document without next', () => {
  it('gets the ids of its successors with the first write, even a heartbeat', () => {
    for (const op of ['set', 'start', 'touch'] as const) {
      const play = foreign()
      expect(legacyFaults(play.text)).toHaveLength(3)
      if (op === 'set') play.do({ op, event: '00', attributes: { tag: 't' } })
      else play.do({ op: 'start', event: '02.00' })
      if (op === 'touch') {
        play.edit(text => text.replace(' next="01.00|02.00"', ''))
        play.do({ op, event: '02.00', owner: 'w1' })
      }
      expect(legacyFaults(play.text)).toEqual([])
      expect(play.event('00').next).toBe('01.00|02.00')
      expect(play.event('01.00').next).toBe('01.01')
    }
  })

  it('gets them in place of an empty next, and added events follow', () => {
    const play = foreign({ next: '' }).after({ op: 'advance', event: '00', forks: [{ name: 'D' }], more: true })
    expect(play.event('00').next).toBe('01.00|02.00|03.00')
    expect(play.text.match(/ next=/g)).toHaveLength(2)
  })

  it('keeps its next if it has one, whichever successors that omits', () => {
    const play = foreign({ next: '02.00' }).after({ op: 'set', event: '00', attributes: { tag: 't' } })
    expect(play.event('00').next).toBe('02.00')
  })

  it('does not cause a write by itself, and the repair is not a foreign write to later readers', () => {
    const play = foreign()
    expect(play.do({ op: 'settle' }).outcome).toBe('already')
    play.do({ op: 'set', event: '00', attributes: { tag: 't' } })
    play.do({ op: 'set', event: '00', attributes: { tag: 'u' } })
    expect(play.journal.map(({ op }) => op)).toEqual(['adopt', 'set', 'set'])
  })

  it('is left without next if one successor cannot be named: naming only the others would close it too early', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess' },
        { id: 'a|b', status: 'init', prev: '00' },
        { id: '01.00', status: 'init', prev: '00' },
      ),
    )
    play.do({ op: 'set', event: '00', attributes: { tag: 't' } })
    expect(play.event('00').next).toBe('')
  })

  it('is left without next if the document would exceed the limit of reading: ending its events must stay possible', () => {
    const { document } = foreign()
    const padding = (units: number) => ({ ...document, epilog: 'x'.repeat(units) })
    const room = MAX_READ_BYTES - writtenBytes(padding(1)) + 1
    // Each character of the new ids might have to be escaped.
    expect(withNext(padding(room - 200)).events[0]?.next).toBe('01.00|02.00')
    const full = padding(room)
    expect(withNext(full)).toBe(full)
  })

  it('has next in every write of any document', () => {
    fc.assert(
      fc.property(aStrangeDocument(), events => {
        const play = new Play(documentText(...events))
        if (
          play.apply({ op: 'set', event: play.document.events[0]?.id ?? '', attributes: { tag: 'new' } }).kind !==
          'changed'
        )
          return
        const { stream } = play
        const parents = stream.events.filter((_, at) => stream.followingPositions(at).length > 0)
        const ids = new Set(stream.events.map(({ id }) => id))
        if ([...ids].every(isLinkable)) expect(parents.filter(({ next }) => next === '')).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })
})
