import { describe, expect, it } from 'vitest'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

describe('advance', () => {
  it('adds the next step as init, with links both ways; the event stays inprocess', () => {
    const play = Play.started('A')
    const result = play.do({
      op: 'advance',
      event: '01.00',
      next: spec('Next', { topic: 't', key: 'k', onDue: 'notify' }),
    })
    expect(result).toMatchObject({ added: ['01.01'], closed: [], version: 2 })
    expect(result.changed).toEqual([
      { id: '01.00', from: 'init', to: 'inprocess', how: 'target' },
      { id: '01.01', from: '', to: 'init', how: 'add' },
    ])
    expect(play.event('01.00')).toMatchObject({ status: 'inprocess', next: '01.01' })
    expect(play.event('01.01')).toMatchObject({
      status: 'init',
      prev: '01.00',
      topic: 't',
      key: 'k',
      lc: { onDue: 'notify' },
    })
  })

  it('adds next step, forks and join in this order', () => {
    const play = Play.started('A')
    play.do({ op: 'advance', event: '01.00', next: spec('N'), forks: [spec('F'), spec('G')], join: spec('J') })
    expect(play.event('01.00').next).toBe('01.01|01.01.00|01.02.00|01.02')
    expect(play.event('01.02')).toMatchObject({ name: 'J', status: 'inprocess', lc: { wait: 'yes', join: 'wait' } })
  })

  it('passes the tracking id on to new events unless one is given', () => {
    const play = new Play().after({
      op: 'init',
      root: spec('R', { trackingId: 'r' }),
      forks: [spec('A'), spec('B', { trackingId: 'b' })],
    })
    play.after({ op: 'advance', event: '01.00', next: spec('N') }, { op: 'advance', event: '02.00', next: spec('N') })
    expect(play.document.events.map(event => event.trackingId)).toEqual(['r', 'r', 'b', 'r', 'b'])
  })

  it('a second time is refused already-advanced without more', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', next: spec('N') })
    expect(play.code({ op: 'advance', event: '01.00', next: spec('N') })).toBe('already-advanced')
    expect(play.do({ op: 'advance', event: '01.00', forks: [spec('F')], more: true }).added).toEqual(['01.01.00'])
    expect(play.event('01.00').next).toBe('01.01|01.01.00')
  })

  it('is refused already-advanced if a successor is missing', () => {
    const play = new Play(documentText({ id: '00', status: 'inprocess', next: '01.00' }))
    expect(play.code({ op: 'advance', event: '00', next: spec('N') })).toBe('already-advanced')
  })

  it('for the first time after a retry by name, which replaced the successors, needs no more', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', next: spec('N') })
    play.after({ op: 'abort', event: '01.00' }, { op: 'retry', event: '01.00' })
    expect(play.do({ op: 'advance', event: '01.00', next: spec('N') }).added).toEqual(['01.02'])
    expect(play.event('01.00').next).toBe('01.01|01.02')
  })

  it('with a second join while one waits is refused join-waiting', () => {
    const play = Play.joined('J', 'A')
    const more = { op: 'advance', event: '00', forks: [spec('B')], join: spec('K'), more: true } as const
    expect(play.code(more)).toBe('join-waiting')
    expect(play.after({ op: 'complete', event: '01.00' }).do(more).added).toEqual(['02.00', '02'])
  })

  it('of an event whose id cannot be named is refused unlinkable-id', () => {
    const play = new Play(documentText({ id: '00', status: 'inprocess' }, { id: "o'k|", status: 'init' }))
    expect(play.refused({ op: 'advance', event: "o'k|", next: spec('N') })).toMatchObject({
      code: 'unlinkable-id',
      message: expect.stringContaining('complete or fail'),
    })
    expect(play.do({ op: 'complete', event: "o'k|" }).outcome).toBe('done')
  })

  it('of an id that is not digits and dots uses free threads of the root', () => {
    const play = new Play(
      documentText({ id: '00', status: 'inprocess', next: 'x' }, { id: 'x', prev: '00', status: 'init' }),
    )
    const result = play.do({ op: 'advance', event: 'x', next: spec('N'), forks: [spec('F')], join: spec('J') })
    expect(result.added).toEqual(['01.00', '02.00', '03.00'])
  })

  it('puts new events after the successors of the last one', () => {
    const play = new Play('<E><Event id="00" status="inprocess"/><!-- after --></E>')
    play.do({ op: 'advance', event: '00', next: spec('N') })
    expect(play.text).toMatch(/id="00".*\n {2}<!-- after -->\n {2}<Event name="N"/)
  })

  it('below a final event is refused ended-above', () => {
    const play = Play.started('A').legacy(stream => stream.setStatus('00', 'completed'))
    expect(play.code({ op: 'advance', event: '01.00', next: spec('N') })).toBe('ended-above')
  })
})
