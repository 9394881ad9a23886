import { describe, expect, it } from 'vitest'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

const nested = () => Play.started('A', 'B').after({ op: 'advance', event: '01.00', forks: [spec('C'), spec('D')] })

describe('complete', () => {
  it('makes the event completed with a result, and replaces its message first', () => {
    const play = new Play().after({ op: 'init', forks: [spec('A', { msg: 'blob:7' })] })
    play.do({ op: 'complete', event: '01.00', msg: '42 found' })
    expect(play.event('01.00')).toMatchObject({ status: 'completed', msg: '42 found', lc: { msg: 'blob:7' } })
  })

  it('without a text does not change the message', () => {
    const play = new Play().after(
      { op: 'init', forks: [spec('A', { msg: 'blob:7' })] },
      { op: 'complete', event: '01.00' },
    )
    expect(play.event('01.00')).toMatchObject({ msg: 'blob:7', lc: {} })
  })

  it('with open successors is refused open-successors', () => {
    expect(nested().refused({ op: 'complete', event: '01.00' })).toMatchObject({
      code: 'open-successors',
      status: 'inprocess',
    })
    const missing = new Play(documentText({ id: '00', status: 'inprocess', next: '09' }))
    expect(missing.code({ op: 'complete', event: '00' })).toBe('open-successors')
  })

  /** A parent that its worker still holds, so that it does not close by itself. */
  const held = () => {
    const play = new Play(
      documentText(
        {
          id: '00',
          status: 'inprocess',
          msg: 'blob:0',
          next: '01.00',
          'lc:owner': 'w1',
          'lc:until': '2024-05-01T13:00:00Z',
        },
        { id: '01.00', status: 'aborted', prev: '00' },
      ),
    )
    return play
  }

  it('on a parent computes the error summary, which takes precedence over a text', () => {
    const play = held()
    play.do({ op: 'complete', event: '00', owner: 'w1', msg: '42 found' })
    expect(play.event('00')).toMatchObject({
      msg: 'WithError',
      lc: { outcome: 'errors', failed: '01.00', msg: 'blob:0' },
    })
    expect(play.journal.at(-1)?.why).toBe('42 found')
  })

  it('keeps the given reason beside the error summary', () => {
    const play = held()
    play.do({ op: 'complete', event: '00', owner: 'w1', msg: '42 found' }, { why: 'accepted' })
    expect(play.journal.at(-1)?.why).toBe('accepted')
  })

  it('below a final event is accepted and changes nothing above', () => {
    const play = nested().legacy(stream => stream.setStatus('01.00', 'aborted'))
    play.do({ op: 'complete', event: '01.01.00' })
    expect(play.statuses).toEqual([
      '00 inprocess',
      '01.00 aborted',
      '02.00 init',
      '01.01.00 completed',
      '01.02.00 init',
    ])
  })
})

describe('fail', () => {
  it('makes the event aborted with a message, and cancels open events below it', () => {
    const play = nested().after({ op: 'complete', event: '01.01.00' })
    const result = play.do({ op: 'fail', event: '01.00', msg: 'boom' })
    expect(result.changed).toEqual([
      { id: '01.02.00', from: 'init', to: 'canceled', how: 'cascade' },
      { id: '01.00', from: 'inprocess', to: 'aborted', how: 'target' },
    ])
    expect(play.event('01.00')).toMatchObject({ status: 'aborted', msg: 'boom' })
    expect(play.event('01.02.00').msg).toBe('')
  })

  it('closes the events above that can close, never those inside the cascade', () => {
    const play = nested().after({ op: 'complete', event: '02.00' })
    expect(play.do({ op: 'fail', event: '01.02.00' }).closed).toEqual([])
    expect(play.do({ op: 'fail', event: '01.00' })).toMatchObject({ closed: ['00'], done: true })
    expect(play.event('00').lc.failed).toBe('01.00|01.01.00|01.02.00')
  })

  it('below a final event is accepted', () => {
    const play = nested().legacy(stream => stream.setStatus('00', 'completed'))
    expect(play.do({ op: 'fail', event: '01.01.00' })).toMatchObject({ outcome: 'done', closed: [] })
  })
})

describe.each([
  ['cancel', 'canceled'],
  ['abort', 'aborted'],
] as const)('%s', (op, status) => {
  it('gives the target exactly its status; open events below become canceled, children first', () => {
    const play = nested()
    const result = play.do({ op, event: '01.00', msg: 'why' })
    expect(result.changed.map(change => `${change.id} ${change.to} ${change.how}`)).toEqual([
      '01.01.00 canceled cascade',
      '01.02.00 canceled cascade',
      `01.00 ${status} target`,
    ])
    expect(play.event('01.00').msg).toBe('why')
    expect(play.status('02.00')).toBe('init')
  })

  it('without a target ends the root, and so the whole stream', () => {
    const play = nested().after({ op: 'complete', event: '02.00' })
    expect(play.do({ op })).toMatchObject({ done: true, closed: [] })
    expect(play.statuses).toEqual([
      `00 ${status}`,
      '01.00 canceled',
      '02.00 completed',
      '01.01.00 canceled',
      '01.02.00 canceled',
    ])
    expect(play.journal.at(-1)).toMatchObject({ op, on: '00' })
  })

  it('of the whole stream ends events that are not linked from any other', () => {
    const play = new Play(
      documentText({ id: '00', status: 'inprocess' }, { id: '05.00', prev: '04.00', status: 'init' }),
    )
    play.do({ op })
    expect(play.statuses).toEqual([`00 ${status}`, '05.00 canceled'])
  })

  it('repeated with nothing open below is already so', () => {
    const play = nested().after({ op })
    expect(play.do({ op })).toMatchObject({ outcome: 'already', version: 3, changed: [], done: true, duplicate: false })
  })

  it('on an event with another final status is refused already-final', () => {
    const play = Play.started('A', 'B').after({ op: 'complete', event: '01.00' })
    expect(play.code({ op, event: '01.00' })).toBe('already-final')
    play.do({ op: op === 'cancel' ? 'abort' : 'cancel', event: '02.00' })
    expect(play.code({ op, event: '02.00' })).toBe('already-final')
  })

  it('of a final event ends events below that a foreign writer left open, and its summary names them', () => {
    const play = nested().legacy(stream => stream.setStatus('00', 'completed'))
    const result = play.do({ op, msg: 'cleanup' })
    expect(result).toMatchObject({ outcome: 'done', done: true })
    expect(play.statuses).toEqual([
      '00 completed',
      '01.00 canceled',
      '02.00 canceled',
      '01.01.00 canceled',
      '01.02.00 canceled',
    ])
    expect(play.event('00')).toMatchObject({
      msg: '',
      lc: { outcome: 'errors', failed: '01.00|01.01.00|01.02.00|02.00' },
    })
    expect(play.event('00').timestamp).toBe('11/22/2013 6:23:05 PM')
  })
})

describe('an operation below an ended event', () => {
  const left = () =>
    nested()
      .after({ op: 'start', event: '01.01.00' })
      .legacy(s => s.setStatus('01.00', 'completed'))

  it.each([
    { op: 'start', event: '01.02.00' },
    { op: 'touch', event: '01.01.00', owner: 'w1' },
    { op: 'advance', event: '01.02.00', next: spec('N') },
    { op: 'set', event: '01.02.00', attributes: { tag: 't' } },
    { op: 'retry', event: '01.02.00' },
  ] as const)('$op is refused ended-above', operation => {
    expect(left().refused(operation)).toMatchObject({ code: 'ended-above', event: operation.event })
  })

  it.each([
    { op: 'complete', event: '01.02.00' },
    { op: 'fail', event: '01.02.00' },
    { op: 'release', event: '01.01.00', owner: 'w1' },
    { op: 'cancel', event: '01.02.00' },
  ] as const)('$op is accepted', operation => {
    expect(left().do(operation).outcome).toBe('done')
  })

  it('is refused for events that are not linked from any other once the root has ended', () => {
    const play = new Play(documentText({ id: '00', status: 'completed' }, { id: '05.00', status: 'init' }))
    expect(play.code({ op: 'start', event: '05.00' })).toBe('ended-above')
  })
})

describe('set', () => {
  it('changes free attributes and the timeout, stamps the event, and names them in the journal', () => {
    const play = Play.started('A').wait(1_000)
    const result = play.do({
      op: 'set',
      event: '01.00',
      attributes: { tag: 't', timeout: '00:05:00', onDue: 'notify', name: 'A' },
    })
    expect(result.changed).toEqual([{ id: '01.00', from: 'init', to: 'init', how: 'target' }])
    expect(play.event('01.00')).toMatchObject({
      status: 'init',
      tag: 't',
      timeout: '00:05:00',
      timestamp: '2024-05-01T12:00:01.000Z',
      lc: { onDue: 'notify' },
    })
    expect(play.journal.at(-1)?.changes[0]?.attr).toBe('tag timeout onDue')
  })

  it('removes an attribute that is set to an empty value', () => {
    const play = Play.started('A').after({ op: 'set', event: '01.00', attributes: { tag: 't', onDue: 'notify' } })
    play.do({ op: 'set', event: '01.00', attributes: { tag: '', onDue: '' } })
    expect(play.event('01.00')).toMatchObject({ tag: '', lc: {} })
  })

  it('with the current values is already so', () => {
    const play = Play.started('A').after({ op: 'set', event: '01.00', attributes: { tag: 't', onDue: 'notify' } })
    const again = play.do({ op: 'set', event: '01.00', attributes: { tag: 't', onDue: 'notify', ref: '' } })
    expect(again).toMatchObject({ outcome: 'already', version: 2 })
  })

  it('on a final event is refused already-final', () => {
    const play = Play.started('A').after({ op: 'cancel' })
    expect(play.code({ op: 'set', event: '01.00', attributes: { tag: 't' } })).toBe('already-final')
  })
})
