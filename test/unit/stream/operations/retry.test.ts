import { describe, expect, it } from 'vitest'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

describe('retry', () => {
  it('makes the target init and reopens all events above, root included, each with attempt + 1 and opened', () => {
    const play = Play.started('A').after(
      { op: 'advance', event: '01.00', next: spec('B') },
      { op: 'fail', event: '01.01' },
    )
    expect(play.status('00')).toBe('completed')
    const result = play.wait(5_000).do({ op: 'retry', event: '01.01' })
    expect(result).toMatchObject({ done: false, closed: [] })
    expect(play.statuses).toEqual(['00 inprocess', '01.00 inprocess', '01.01 init'])
    for (const { lc, timestamp } of play.document.events) {
      expect(lc).toEqual({ attempt: '2', opened: '2024-05-01T12:00:05.000Z' })
      expect(timestamp).toBe('2024-05-01T12:00:05.000Z')
    }
    expect(result.changed.map(change => `${change.id} ${change.from} ${change.to} ${change.how}`)).toEqual([
      '01.01 aborted init target',
      '01.00 completed inprocess cascade',
      '00 completed inprocess cascade',
    ])
  })

  it('restores the message and drops error summaries of the events above', () => {
    const play = new Play().after({
      op: 'init',
      root: spec('R', { msg: 'blob:0' }),
      forks: [spec('A', { msg: 'blob:7' }), spec('B')],
    })
    play.after({ op: 'start', event: '01.00' }, { op: 'touch', event: '01.00', fence: 2, msg: 'half' })
    play.after({ op: 'fail', event: '01.00', fence: 2, msg: 'boom' }, { op: 'fail', event: '02.00', msg: 'bang' })
    expect(play.event('00').msg).toBe('WithError')
    play.after({ op: 'retry', event: '01.00' }, { op: 'retry', event: '02.00' })
    expect(play.document.events.map(event => event.msg)).toEqual(['blob:0', 'blob:7', ''])
    for (const { lc } of play.document.events) expect(lc).toEqual({ attempt: '2', opened: expect.any(String) })
  })

  it('does not change a message that no text of ours replaced', () => {
    const play = new Play().after({ op: 'init', forks: [spec('A', { msg: 'blob:7' })] }, { op: 'fail', event: '01.00' })
    expect(play.after({ op: 'retry', event: '01.00' }).event('01.00').msg).toBe('blob:7')
  })

  it('computes the error summary again when the events above close again', () => {
    const play = Play.started('A', 'B').after({ op: 'fail', event: '01.00' }, { op: 'fail', event: '02.00' })
    play.after({ op: 'retry', event: '01.00' }, { op: 'complete', event: '01.00' })
    expect(play.event('00')).toMatchObject({ status: 'completed', lc: { failed: '02.00', outcome: 'errors' } })
  })

  it('makes a root inprocess', () => {
    const play = Play.started().after({ op: 'abort', msg: 'stop' }, { op: 'retry', event: '00' })
    expect(play.event('00')).toMatchObject({ status: 'inprocess', msg: '', lc: { attempt: '2' } })
  })

  it('by name replaces the events below: they no longer count for closing and summaries', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', forks: [spec('B'), spec('C')] })
    play.after({ op: 'complete', event: '01.01.00' }, { op: 'fail', event: '01.00' })
    play.do({ op: 'retry', event: '01.00' })
    const version = String(play.document.version)
    expect(play.event('01.01.00')).toMatchObject({ status: 'completed', lc: { superseded: version } })
    expect(play.event('01.02.00')).toMatchObject({ status: 'canceled', lc: { superseded: version } })
    play.do({ op: 'start', event: '01.00' })
    expect(play.do({ op: 'complete', event: '01.00', owner: 'w1' }).closed).toEqual(['00'])
    expect(play.event('00').lc).toEqual({ attempt: '2', opened: expect.any(String) })
  })

  it('by name cancels and replaces events below that a foreign writer left open', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', next: spec('B') })
    play.legacy(stream => stream.setStatus('01.00', 'aborted')).do({ op: 'retry', event: '01.00' })
    expect(play.event('01.01')).toMatchObject({ status: 'canceled', lc: { superseded: expect.any(String) } })
  })

  it('repeated by name replaces the successors of the first retry, once', () => {
    const play = Play.started('A').after(
      { op: 'advance', event: '01.00', next: spec('B') },
      { op: 'abort', event: '01.00' },
    )
    play.after({ op: 'retry', event: '01.00' }, { op: 'advance', event: '01.00', next: spec('C') })
    play.after({ op: 'abort', event: '01.00' }, { op: 'retry', event: '01.00' })
    expect([play.event('01.01'), play.event('01.02')].map(event => event.lc.superseded)).toEqual(['4', '7'])
    expect(play.event('01.00').lc.attempt).toBe('3')
  })

  it('of a completed event is refused already-final, of an open one not-failed', () => {
    const play = Play.started('A', 'B').after({ op: 'complete', event: '01.00' })
    expect(play.code({ op: 'retry', event: '01.00' })).toBe('already-final')
    expect(play.code({ op: 'retry', event: '02.00' })).toBe('not-failed')
    const nameless = new Play(documentText({ id: '00' }))
    expect(nameless.refused({ op: 'retry', event: '00' }).message).toContain('of no status')
  })

  it('of an event that was replaced, or is below a replaced one, is refused not-failed', () => {
    const play = Play.started('A').after(
      { op: 'advance', event: '01.00', next: spec('B') },
      { op: 'abort', event: '01.00' },
    )
    play.do({ op: 'retry', event: '01.00' })
    expect(play.refused({ op: 'retry', event: '01.01' })).toMatchObject({
      code: 'not-failed',
      message: expect.stringContaining('replaced'),
    })
    play.edit(text =>
      text.replace(
        /( {2}<Event [^>]*id="01.01"[^>]*)\/>/,
        '$1 next="01.09"/>\n  <Event id="01.09" status="aborted" prev="01.01"/>',
      ),
    )
    expect(play.code({ op: 'retry', event: '01.09' })).toBe('not-failed')
  })

  it('of an event in an ended stream that is not linked from any other is refused ended-above', () => {
    const play = new Play(documentText({ id: '00', status: 'completed' }, { id: '05.00', status: 'aborted' }))
    expect(play.code({ op: 'retry', event: '05.00' })).toBe('ended-above')
  })
})

describe('retry and joins', () => {
  /** Branch A has failed, B is done. */
  const play = (last: 'complete' | 'open' = 'complete') => {
    const made = Play.joined('Done', 'A', 'B').after({ op: 'fail', event: '01.00' })
    return last === 'open' ? made : made.after({ op: 'complete', event: '02.00' })
  }

  it('a join that was released but never started waits again and is released once more', () => {
    const released = play()
    expect(released.status('01')).toBe('init')
    const result = released.do({ op: 'retry', event: '01.00' })
    expect(result.joined).toEqual([])
    expect(released.event('01')).toMatchObject({ status: 'inprocess', lc: { wait: 'yes', join: 'wait' } })
    expect(released.event('01').lc.attempt).toBeUndefined()
    expect(released.do({ op: 'complete', event: '01.00' }).joined).toEqual(['01'])
  })

  it('a waiting join keeps waiting', () => {
    const waiting = play('open').after({ op: 'retry', event: '01.00' }, { op: 'complete', event: '02.00' })
    expect(waiting.event('01')).toMatchObject({ status: 'inprocess', lc: { wait: 'yes', join: 'wait' } })
  })

  it('a canceled join waits again, as a new attempt', () => {
    const canceled = play().after({ op: 'cancel', event: '01' }, { op: 'retry', event: '01.00' })
    expect(canceled.event('01')).toMatchObject({ status: 'inprocess', lc: { wait: 'yes', join: 'wait', attempt: '2' } })
    expect(canceled.do({ op: 'complete', event: '01.00' }).joined).toEqual(['01'])
  })

  it.each([
    ['started', [{ op: 'start', event: '01' }]],
    [
      'released',
      [
        { op: 'start', event: '01' },
        { op: 'release', event: '01', owner: 'w1' },
      ],
    ],
    ['completed', [{ op: 'complete', event: '01' }]],
    ['aborted', [{ op: 'abort', event: '01' }]],
    [
      'aborted and retried',
      [
        { op: 'abort', event: '01' },
        { op: 'retry', event: '01' },
      ],
    ],
    [
      'started, then canceled',
      [
        { op: 'start', event: '01' },
        { op: 'cancel', event: '01' },
      ],
    ],
  ] as const)('once the join was %s, retrying its branch is refused join-ran', (_, operations) => {
    const ran = play().after(...operations)
    expect(ran.refused({ op: 'retry', event: '01.00' })).toMatchObject({ code: 'join-ran', event: '01.00' })
  })

  it('once a foreign writer has started the join, retrying its branch is refused join-ran', () => {
    const ran = play().legacy(stream => stream.setStatus('01', 'inprocess'))
    expect(ran.code({ op: 'retry', event: '01.00' })).toBe('join-ran')
    ran.do({ op: 'cancel', event: '01' })
    expect(ran.code({ op: 'retry', event: '01.00' })).toBe('join-ran')
  })

  it('a join that was aborted while it waited counts as run; reopened, it waits again and can be joined', () => {
    const aborted = play('open').after({ op: 'abort', event: '01' })
    expect(aborted.code({ op: 'retry', event: '01.00' })).toBe('join-ran')
    aborted.do({ op: 'retry', event: '01' })
    expect(aborted.event('01')).toMatchObject({ status: 'inprocess', lc: { wait: 'yes', join: 'wait' } })
    expect(aborted.do({ op: 'retry', event: '01.00' }).outcome).toBe('done')
  })

  it('a canceled join that is retried when its branches have ended is released in the same transaction', () => {
    const canceled = play('open').after({ op: 'cancel', event: '01' }, { op: 'complete', event: '02.00' })
    expect(canceled.status('00')).toBe('completed')
    expect(canceled.do({ op: 'retry', event: '01' })).toMatchObject({ joined: ['01'], done: false })
    expect(canceled.event('01')).toMatchObject({ status: 'init', lc: { attempt: '2' } })
    expect(canceled.event('01').lc.join).toBeUndefined()
  })

  it('a join that only the settling before the retry released waits again', () => {
    const foreign = Play.joined('Done', 'A').legacy(stream => stream.setStatus('01.00', 'aborted'))
    const result = foreign.do({ op: 'retry', event: '01.00' })
    expect(result.joined).toEqual([])
    expect(foreign.event('01')).toMatchObject({ status: 'inprocess', lc: { wait: 'yes', join: 'wait' } })
  })

  it('a parent that only the settling before the retry closed is not reported as closed', () => {
    const foreign = Play.started('A').legacy(stream => stream.setStatus('01.00', 'aborted'))
    foreign.edit(text => text.replace(/status="completed"/, 'status="inprocess"'))
    expect(foreign.do({ op: 'retry', event: '01.00' })).toMatchObject({ closed: [], done: false })
  })

  it('two joins that wait again are released one after the other', () => {
    const two = play().after({ op: 'advance', event: '00', forks: [spec('C')], join: spec('Later'), more: true })
    expect(two.do({ op: 'retry', event: '01.00' }).outcome).toBe('done')
    two.do({ op: 'complete', event: '03.00' })
    expect(two.do({ op: 'complete', event: '01.00' }).joined).toEqual(['01'])
    expect(two.do({ op: 'complete', event: '01' }).joined).toEqual(['02'])
  })

  it('retrying a branch further down checks the joins of all levels', () => {
    const deep = Play.joined('Done', 'A').after({
      op: 'advance',
      event: '01.00',
      forks: [spec('B')],
      join: spec('Inner'),
    })
    deep.after({ op: 'fail', event: '01.01.00' }, { op: 'complete', event: '01.01' })
    expect(deep.refused({ op: 'retry', event: '01.01.00' }).message).toContain('01.01 joined')
    expect(deep.status('01')).toBe('init')
  })
})

describe('retry without a target', () => {
  it('reopens all aborted and canceled leaves in one transaction, and their joins wait again', () => {
    const play = Play.joined('Done', 'A', 'B').after({ op: 'advance', event: '01.00', forks: [spec('C'), spec('D')] })
    play.after({ op: 'complete', event: '01.01.00' }, { op: 'fail', event: '01.02.00' }, { op: 'abort' })
    const result = play.do({ op: 'retry' })
    expect(result.refused).toBeUndefined()
    expect(play.statuses).toEqual([
      '00 inprocess',
      '01.00 inprocess',
      '02.00 init',
      '01 inprocess',
      '01.01.00 completed',
      '01.02.00 init',
    ])
    expect(play.event('01').lc.join).toBe('wait')
    expect(play.journal.at(-1)).toMatchObject({ op: 'retry', on: '' })
    expect(play.document.events.every(event => event.lc.superseded === undefined)).toBe(true)
  })

  it('lists the leaves that are refused', () => {
    const play = Play.started('X').after({ op: 'advance', event: '01.00', forks: [spec('A')], join: spec('J') })
    play.after({ op: 'fail', event: '01.01.00' }, { op: 'start', event: '01.01' }, { op: 'abort' })
    const result = play.do({ op: 'retry' })
    expect(result.refused).toMatchObject([{ code: 'join-ran', event: '01.01.00' }])
    expect(play.status('01.01')).toBe('init')
  })

  it('with nothing to reopen is refused, and pending settling does not count', () => {
    const play = Play.joined('J', 'A')
    expect(play.refused({ op: 'retry' })).toMatchObject({ code: 'not-failed', event: '00' })
    play.legacy(stream => stream.setStatus('01.00', 'completed'))
    expect(play.code({ op: 'retry' })).toBe('not-failed')
  })

  it('of an event that failed after its successors were done is refused; by name its successors are replaced', () => {
    const play = new Play(
      documentText({ id: '00', status: 'aborted', next: '01.00' }, { id: '01.00', status: 'completed', prev: '00' }),
    )
    expect(play.refused({ op: 'retry' })).toMatchObject({
      code: 'already-advanced',
      message: expect.stringContaining('by name'),
    })
    expect(play.do({ op: 'retry', event: '00' }).outcome).toBe('done')
  })
})
