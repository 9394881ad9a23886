import { describe, expect, it } from 'vitest'
import { attemptsByEvent } from '../../../../src/stream/journal/attempts.ts'
import { parseJournal } from '../../../../src/stream/journal/journal.ts'
import { Play } from '../../../support/stream-builder.ts'

const MINUTE = 60_000

/** Each attempt at an event as a line. */
function attempts({ document }: Play, id: string): string[] {
  const found = attemptsByEvent(parseJournal(document.journal, document.prefix)).get(id) ?? []
  return found.map(({ attempt, owner, started, end }) =>
    [
      `#${attempt}`,
      owner,
      started === '' ? 'never started' : '',
      ...(end === undefined ? ['lasts'] : [end.outcome, `by ${end.by}`, end.message]),
    ]
      .filter(part => part !== '')
      .join(' '),
  )
}

describe('attemptsByEvent', () => {
  it('keeps the cause of each failure after a retry', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' }).wait(MINUTE)
    play.after({ op: 'fail', event: '01.00', msg: 'db down' }).after({ op: 'retry', event: '01.00' })
    expect(attempts(play, '01.00')).toEqual(['#1 w1 aborted by test db down'])
    play.after({ op: 'start', event: '01.00', owner: 'w2' })
    expect(attempts(play, '01.00')).toEqual(['#1 w1 aborted by test db down', '#2 w2 lasts'])
    play.after({ op: 'complete', event: '01.00', owner: 'w2' })
    expect(attempts(play, '01.00')).toEqual(['#1 w1 aborted by test db down', '#2 w2 completed by test'])
  })

  it('says why one failed that is tried again, and of the next one only what it did', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' }).wait(MINUTE)
    play.after({ op: 'fail', event: '01.00', owner: 'w1', transient: true, retry: '3 1s..1s', msg: '503' })
    expect(attempts(play, '01.00')).toEqual(['#1 w1 failed by test 503'])
    play.wait(MINUTE).after({ op: 'start', event: '01.00', owner: 'w2' })
    expect(attempts(play, '01.00')).toEqual(['#1 w1 failed by test 503', '#2 w2 lasts'])
  })

  it('says of a takeover that the attempt before was abandoned', () => {
    const play = Play.started('A')
      .after({ op: 'start', event: '01.00' })
      .wait(10 * MINUTE)
    play.after({ op: 'start', event: '01.00', owner: 'w2' })
    expect(attempts(play, '01.00')).toEqual(['#1 w1 abandoned by test', '#2 w2 lasts'])
  })

  it('goes on with the same attempt after a release', () => {
    const play = Play.started('A')
      .after({ op: 'start', event: '01.00' })
      .after({ op: 'release', event: '01.00', owner: 'w1' })
    play.after({ op: 'start', event: '01.00', owner: 'w2' })
    expect(attempts(play, '01.00')).toEqual(['#1 w1 released by test', '#1 w2 lasts'])
  })

  it('lists the end of an event that nobody started', () => {
    const play = Play.started('A', 'B').after({ op: 'cancel', msg: 'not wanted' })
    expect(attempts(play, '00')).toEqual(['#1 never started canceled by test not wanted'])
    expect(attempts(play, '01.00')).toEqual(['#1 never started canceled by test'])
  })

  it('has nothing of an event that is ready', () => {
    expect(attempts(Play.started('A'), '01.00')).toEqual([])
  })
})
