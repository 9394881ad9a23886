import { describe, expect, it } from 'vitest'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

describe('closing', () => {
  it('a parent closes when every successor is final, and so do the events above it', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', forks: [spec('B'), spec('C')] })
    expect(play.do({ op: 'complete', event: '01.01.00' })).toMatchObject({ closed: [], done: false })
    const last = play.wait(1_000).do({ op: 'complete', event: '01.02.00' })
    expect(last).toMatchObject({ closed: ['01.00', '00'], done: true })
    expect(play.event('00')).toMatchObject({
      status: 'completed',
      msg: '',
      timestamp: '2024-05-01T12:00:01.000Z',
      lc: {},
    })
  })

  it('a missing successor counts as open', () => {
    const play = new Play(
      documentText({ id: '00', status: 'inprocess', next: '01.00|09.00' }, { id: '01.00', prev: '00', status: 'init' }),
    )
    expect(play.do({ op: 'complete', event: '01.00' }).closed).toEqual([])
  })

  it('an event that names the parent in prev is a successor too', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', next: '01.00' },
        { id: '01.00', prev: '00', status: 'init' },
        { id: '02.00', prev: '00', status: 'init' },
      ),
    )
    expect(play.do({ op: 'complete', event: '01.00' }).closed).toEqual([])
    expect(play.do({ op: 'complete', event: '02.00' }).closed).toEqual(['00'])
  })

  it('a parent that is still init counts as running, unless the stream is held', () => {
    const events = (root: string) =>
      new Play(
        documentText(
          { id: '00', status: root, next: '01.00' },
          { id: '01.00', prev: '00', status: 'init', next: '01.01' },
          { id: '01.01', prev: '01.00', status: 'init' },
        ),
      )
    expect(events('inprocess').do({ op: 'complete', event: '01.01' }).closed).toEqual(['01.00', '00'])
    expect(events('init').do({ op: 'complete', event: '01.01' }).closed).toEqual([])
  })

  it('an event with an unknown status is open and never closes by itself', () => {
    const play = new Play(
      documentText({ id: '00', status: 'paused', next: '01.00' }, { id: '01.00', prev: '00', status: 'init' }),
    )
    expect(play.do({ op: 'complete', event: '01.00' }).closed).toEqual([])
    expect(play.status('00')).toBe('paused')
  })

  it('a parent with a running claim closes once the claim has expired', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', next: '01.00|02.00' },
        {
          id: '01.00',
          prev: '00',
          status: 'inprocess',
          next: '01.01',
          'lc:owner': 'w1',
          'lc:until': '2024-05-01T12:01:00Z',
        },
        { id: '01.01', prev: '01.00', status: 'init' },
        { id: '02.00', prev: '00', status: 'init' },
      ),
    )
    expect(play.do({ op: 'complete', event: '01.01' }).closed).toEqual([])
    expect(play.wait(60_000).do({ op: 'start', event: '02.00' }).closed).toEqual(['01.00'])
  })

  it('cycles and links to itself do not disturb closing', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', next: '01|02' },
        { id: '01', status: 'inprocess', prev: '00', next: '01|02' },
        { id: '02', status: 'inprocess', prev: '01', next: '01|00' },
      ),
    )
    expect(play.code({ op: 'complete', event: '01' })).toBe('open-successors')
    expect(play.do({ op: 'fail', event: '01' })).toMatchObject({ closed: ['00'], done: true })
    expect(play.event('00').lc.failed).toBe('01|02')
  })

  it('a join whose own successors have ended closes when it is released, and so do the events above it', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', next: '01|02' },
        { id: '01', prev: '00', status: 'init' },
        { id: '02', prev: '00', status: 'inprocess', next: '03', 'lc:wait': 'yes', 'lc:join': 'wait' },
        { id: '03', prev: '02', status: 'completed' },
      ),
    )
    expect(play.do({ op: 'complete', event: '01' })).toMatchObject({ joined: ['02'], closed: ['02', '00'], done: true })
  })

  it('of events with duplicate ids the first counts and the others stay as they are', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', next: '01.00' },
        { id: '01.00', prev: '00', status: 'init' },
        { id: '01.00', prev: '00', status: 'init', tag: 'twin' },
      ),
    )
    expect(play.do({ op: 'complete', event: '01.00' }).closed).toEqual(['00'])
    expect(play.document.events[2]).toMatchObject({ status: 'init', tag: 'twin', lc: {} })
  })
})

describe('error summary', () => {
  const failing = (count: number) => {
    const forks = Array.from({ length: count + 1 }, () => spec('A'))
    const play = new Play().after({ op: 'init', root: spec('R', { msg: 'blob:0' }), forks })
    play.after({ op: 'advance', event: '01.00', next: spec('B') })
    for (const event of play.stream.successors(play.event('00')).events.slice(1))
      play.do({ op: 'fail', event: event.id })
    return play
  }

  it('an early failure is kept, whichever sibling ends last', () => {
    const play = failing(2)
    expect(play.do({ op: 'complete', event: '01.01' }).closed).toEqual(['01.00', '00'])
    expect(play.event('00')).toMatchObject({
      status: 'completed',
      msg: 'WithError',
      lc: { outcome: 'errors', failed: '02.00|03.00', msg: 'blob:0' },
    })
    expect(play.event('01.00')).toMatchObject({ msg: '', lc: {} })
  })

  it('names at most 50 ids in tree order, then the number of further ones', () => {
    const failed = (play: Play) =>
      play.after({ op: 'complete', event: '01.01' }).event('00').lc.failed?.split('|') ?? []
    expect(failed(failing(50))).toHaveLength(50)
    const more = failed(failing(53))
    expect(more).toHaveLength(51)
    expect([more[0], more[49], more[50]]).toEqual(['02.00', '51.00', '+3'])
  })

  it('counts failures of all levels, and an event that is reachable on two paths once', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', next: '01|02' },
        { id: '01', prev: '00', status: 'aborted', next: '03' },
        { id: '02', prev: '00', status: 'inprocess', next: '03' },
        { id: '03', prev: '01', status: 'canceled' },
      ),
    )
    play.do({ op: 'settle' })
    expect(play.event('00').lc.failed).toBe('01|03')
    expect(play.event('02').lc.failed).toBe('03')
  })
})

describe('settling', () => {
  it('closes what foreign writers left open, releases joins and adds missing summaries', () => {
    const play = Play.joined('Done', 'A', 'B').after({ op: 'advance', event: '01.00', next: spec('C') })
    play.legacy(stream => {
      stream.setStatus('02.00', 'aborted')
      stream.setStatus('01.01', 'completed')
    })
    expect(play.status('01.00')).toBe('completed')
    const result = play.do({ op: 'settle' }, { by: 'watchdog' })
    expect(result).toMatchObject({ outcome: 'done', joined: ['01'], closed: [] })
    expect(play.journal.slice(-2)).toMatchObject([{ op: 'foreign' }, { op: 'settle', by: 'watchdog', on: '' }])
  })

  it('changes only our attributes of final events', () => {
    const play = Play.started('A', 'B').after({ op: 'fail', event: '01.00', msg: 'boom' })
    play.legacy(stream => stream.setStatus('00', 'completed'))
    const before = play.event('00')
    expect(play.do({ op: 'settle' })).toMatchObject({ outcome: 'done', changed: [] })
    expect(play.event('00')).toEqual({ ...before, lc: { outcome: 'errors', failed: '01.00' } })
  })

  it('reports already-so if there is nothing to do; a foreign write alone is left for the next transaction', () => {
    const play = Play.started('A', 'B')
    expect(play.do({ op: 'settle' })).toMatchObject({ outcome: 'already', version: 1, done: false })
    play.legacy(stream => stream.setStatus('01.00', 'inprocess'))
    expect(play.do({ op: 'settle' })).toMatchObject({ outcome: 'already', version: 1 })
  })

  it('happens before every operation, in its transaction', () => {
    const play = Play.started('A', 'B').after({ op: 'advance', event: '01.00', next: spec('C') })
    play
      .legacy(s => s.setStatus('01.01', 'completed'))
      .edit(t => t.replace(/status="completed"( id="01.00")/, 'status="inprocess"$1'))
    expect(play.do({ op: 'start', event: '02.00' })).toMatchObject({ closed: ['01.00'] })
    expect(play.journal.at(-1)).toMatchObject({ op: 'start', changes: [{ event: '01.00' }, { event: '02.00' }] })
  })

  it('leaves the result of an unchanged stream describing the document as it is', () => {
    const play = Play.started('A').after({ op: 'cancel', event: '01.00' })
    play.edit(text => text.replace(/status="completed"/, 'status="inprocess"'))
    expect(play.do({ op: 'cancel', event: '01.00' })).toMatchObject({ outcome: 'already', done: false })
  })
})
