import { describe, expect, it } from 'vitest'
import { summarize } from '../../../../src/stream/summarize.ts'
import { Play } from '../../../support/stream-builder.ts'
import { LegacyStream, legacyFaults, xelementLoad, xelementSelect } from '../../../support/xelement.ts'

const HOUR = 3_600_000

/** `01.00 A`, and after it `01.01 B`, an hour later. */
function planned(): Play {
  const steps = [
    { name: 'A', thread: 0, needs: [] },
    { name: 'B', thread: 0, needs: [0], delay: '01:00:00' },
  ]
  const play = new Play()
  const born = '11111111-1111-4111-8111-111111111111'
  play.do({ op: 'init', root: { name: 'Order' }, forks: [], steps, hold: false, born })
  return play
}

/** The library of 2013 ends an event and saves the document. */
function endedAs2013(play: Play, id: string, status = 'completed'): void {
  play.edit(text => {
    const stream = new LegacyStream(text)
    stream.setStatus(id, status)
    return Buffer.from(stream.save({ bom: false })).toString()
  })
}

describe('a writer of 2013 beside gated events', () => {
  it('does not find them among the events that it takes, and can process the document', () => {
    const play = planned()
    const ready = xelementSelect(xelementLoad(play.text), 'init')
    const ids = ready.map(({ attributes }) => attributes.find(({ name }) => name === 'id')?.value)
    expect(ids).toEqual(['01.00'])
    expect(legacyFaults(play.text)).toEqual([])
  })

  it('leaves what is above them open', () => {
    const play = planned()
    endedAs2013(play, '01.00')
    expect(play.statuses).toContain('00 inprocess')
  })

  it('starts the timer of the next step by ending the one before; the next write settles it', () => {
    const play = planned()
    endedAs2013(play, '01.00')
    play.do({ op: 'settle' })
    expect(play.event('01.01').lc).toMatchObject({ wait: 'yes' })
    expect(play.event('01.01').lc.wake).toBeDefined()
    expect(play.wait(HOUR - 1).refused({ op: 'start', event: '01.01' }).code).toBe('waiting')
    expect(play.wait(1).do({ op: 'start', event: '01.01' }).claim?.attempt).toBe(1)
  })

  it('keeps a running timer: its time is the same after the write', () => {
    const play = planned().after({ op: 'complete', event: '01.00' })
    const { wake } = play.event('01.01').lc
    play.edit(text => Buffer.from(new LegacyStream(text).save({ bom: false })).toString())
    play.do({ op: 'set', event: '00', attributes: { tag: 't' } })
    expect(play.event('01.01').lc.wake).toBe(wake)
  })

  it('cancels what waits for an event by failing it', () => {
    const play = planned()
    endedAs2013(play, '01.00', 'aborted')
    play.do({ op: 'settle' })
    expect(play.statuses).toContain('01.01 canceled')
    expect(play.statuses).toContain('00 completed')
  })

  it('may end a gated event itself: it waits for nothing then, and the stream closes', () => {
    const play = planned().after({ op: 'complete', event: '01.00' })
    endedAs2013(play, '01.01')
    play.do({ op: 'settle' })
    const { gated, wakeMs } = summarize(play.document, { nowMs: play.nowMs, lastBy: '' })
    expect({ gated, wakeMs }).toEqual({ gated: [], wakeMs: undefined })
    expect(play.statuses).toContain('00 completed')
  })
})
