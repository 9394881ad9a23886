import { describe, expect, it } from 'vitest'
import { documentText, type EventText, Play } from '../../../support/stream-builder.ts'

/** A foreign writer dropped the journal: only the attributes of join 01 of two branches show whether it has run. */
const forked = (join: EventText) =>
  new Play(
    documentText(
      { id: '00', status: 'inprocess', next: '01.00|02.00|01' },
      { id: '01.00', status: 'aborted', prev: '00' },
      { id: '02.00', status: 'completed', prev: '00' },
      { id: '01', prev: '00', 'lc:join': 'done', ...join },
    ),
  )

describe('a branch beside a join', () => {
  it.each<EventText>([
    { status: 'completed' },
    { status: 'aborted' },
    { status: 'inprocess' },
    { status: 'init', 'lc:owner': 'w1' },
  ])('is not retried if the join has run: %j', join => {
    expect(forked(join).refused({ op: 'retry', event: '01.00' })).toEqual({
      code: 'join-ran',
      event: '01.00',
      status: 'aborted',
      message: `01 joined the branch of 01.00 and has run; ${join.status === 'aborted' ? 'retry 01 or ' : ''}start a new stream`,
    })
  })

  it.each<EventText>([{ status: 'init' }, { status: 'canceled' }])(
    'is retried if the join has not run, and the join waits again: %j',
    join => {
      const play = forked(join).after({ op: 'retry', event: '01.00' })
      expect(play.statuses).toEqual(['00 inprocess', '01.00 init', '02.00 completed', '01 inprocess'])
      expect(play.event('01').lc.join).toBe('wait')
    },
  )

  it('does not count if a retry replaced it', () => {
    const play = forked({ status: 'completed', 'lc:superseded': '3' }).after({ op: 'retry', event: '01.00' })
    expect(play.status('01.00')).toBe('init')
    expect(play.status('01')).toBe('completed')
  })
})
