import { describe, expect, it } from 'vitest'
import { observedDeadline } from '../../../../src/stream/operations/cancel-abort.ts'
import { documentText, Play, START_MS, spec } from '../../../support/stream-builder.ts'
import { ago, expire, HOUR, look, MINUTE, ROOT, WORKED, worked } from './expired-play.ts'

describe('an event that is exactly as it was observed', () => {
  it('is ended, and the events that depend on its end follow in the same transaction', () => {
    const play = worked().after({ op: 'complete', event: '02.00' })
    const expired = look(play, '01.00')
    expect(expired).toEqual({
      event: '01.00',
      status: 'inprocess',
      attempt: '2',
      fence: '3',
      timestamp: ago(10 * MINUTE),
      dueMs: START_MS - 5 * MINUTE,
    })
    expect(expire(play, expired)).toMatchObject({ outcome: 'done', closed: ['00'], done: true })
    expect(play.event('00').lc).toMatchObject({ outcome: 'errors', failed: '01.00' })
    expect(play.status('01.00')).toBe('aborted')
  })

  it('is ended exactly when its deadline passes by the clock of the store, not a millisecond before', () => {
    // The last writer's clock was ahead: that makes no event due.
    const play = worked().after({ op: 'set', event: '00', attributes: { tag: 'x' } })
    const expired = look(play, '01.00')
    play.nowMs = expired.dueMs - 1
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('showed-life')
    play.nowMs = expired.dueMs
    expect(expire(play, expired).outcome).toBe('done')
  })

  it.each([
    ['never started', 'init', { status: 'init', 'lc:owner': '', 'lc:fence': '', 'lc:until': '' }],
    ['never claimed, without a recorded attempt', 'none', { 'lc:fence': '', 'lc:attempt': '' }],
    ['past an absolute deadline', 'absolute', { timeout: ago(MINUTE) }],
  ] as const)('is ended if it is %s', (_, __, more) => {
    const play = worked(more)
    expect(expire(play, look(play, '01.00')).outcome).toBe('done')
  })

  it('is ended with the stream if its deadline requires that: the root is the target, the event the observed one', () => {
    const play = worked()
    const expired = look(play, '01.00')
    expect(play.do({ op: 'abort', expired, msg: 'silent' })).toMatchObject({ done: true })
    expect(play.statuses).toEqual(['00 aborted', '01.00 canceled', '02.00 canceled'])
    expect(play.event('00').msg).toBe('silent')
  })

  it('is ended with all of its stream at the deadline of the root, whatever is alive below it', () => {
    const play = new Play(documentText({ ...ROOT, timeout: '01:00:00' }, { ...WORKED, timeout: '' }))
    const expired = look(play, '00')
    play.edit(text => text.replace(ago(10 * MINUTE), ago(0)))
    expect(play.do({ op: 'abort', expired }).done).toBe(true)
  })

  it('passes on the message, and the journal records the reason', () => {
    const play = worked({ msg: 'ref:7' })
    const message = 'no sign of life for 5m since 11:50'
    play.do({ op: 'abort', event: '01.00', expired: look(play, '01.00'), msg: message }, { why: message, by: 'dog' })
    expect(play.event('01.00')).toMatchObject({ msg: message, lc: { msg: 'ref:7' } })
    expect(play.journal.at(-1)).toMatchObject({ op: 'abort', on: '01.00', by: 'dog', why: message })
  })
})

describe('a sign of life', () => {
  it.each<[string, string, (play: Play) => unknown]>([
    [
      'another status',
      'it was inprocess and is init',
      play => edit(play, 'id="01.00" status="inprocess"', 'id="01.00" status="init"'),
    ],
    ['another attempt', 'claimed again', play => edit(play, 'lc:attempt="2"', 'lc:attempt="3"')],
    ['a removed attempt', 'claimed again', play => edit(play, ' lc:attempt="2"', '')],
    ['another fence', 'claimed again', play => edit(play, 'lc:fence="3"', 'lc:fence="4"')],
    ['a removed fence', 'claimed again', play => edit(play, ' lc:fence="3"', '')],
    ['an earlier timestamp', `touched at ${ago(HOUR)}`, play => edit(play, ago(10 * MINUTE), ago(HOUR))],
    ['a timestamp in another form', 'touched at', play => edit(play, ago(10 * MINUTE), '2024-05-01 11:50:00')],
    ['a longer timeout', 'its deadline has changed', play => edit(play, '00:05:00', '00:06:00')],
    ['a shorter timeout', 'its deadline has changed', play => edit(play, '00:05:00', '00:04:00')],
    ['no timeout', 'it has no running timeout', play => edit(play, '00:05:00', '')],
    ['an absolute deadline', 'its deadline has changed', play => edit(play, '00:05:00', ago(MINUTE))],
    [
      'a held stream',
      'it has no running timeout',
      play => edit(play, '<Event id="00" status="inprocess"', '<Event id="00" status="init"'),
    ],
    ['an open successor', 'it has no running timeout', play => addBelow(play, 'init', ago(HOUR))],
    ['a successor that ended recently', 'its deadline has changed', play => addBelow(play, 'completed', ago(MINUTE))],
    ['a store whose clock is behind', "by the store's clock", play => play.wait(-6 * MINUTE)],
  ])('such as %s prevents any change', (_, words, change) => {
    // Its claim runs, so that it does not close when its successors have ended.
    const play = worked({ 'lc:until': ago(-HOUR) })
    const expired = look(play, '01.00')
    change(play)
    const before = play.text
    const refusal = play.refused({ op: 'abort', event: '01.00', expired })
    expect(refusal).toMatchObject({ code: 'showed-life', event: '01.00' })
    expect(refusal.message).toMatch(/^01\.00 showed life: .*; its deadline is evaluated again$/)
    expect(refusal.message).toContain(words)
    expect(play.text).toBe(before)
    expect(play.code({ op: 'abort', expired })).toBe('showed-life')
  })

  const started = () =>
    new Play().after({ op: 'init', forks: [spec('A', { timeout: '00:05:00' }), spec('B')] }).wait(10 * MINUTE)
  const claimed = () =>
    started()
      .after({ op: 'start', event: '01.00' })
      .wait(10 * MINUTE)

  it.each<[string, () => Play, (play: Play) => unknown]>([
    ['a start', started, play => play.do({ op: 'start', event: '01.00' })],
    ['a heartbeat', claimed, play => play.do({ op: 'touch', event: '01.00', fence: 2 })],
    ['a progress text', claimed, play => play.do({ op: 'touch', event: '01.00', fence: 2, msg: 'half' })],
    ['a takeover', claimed, play => play.do({ op: 'start', event: '01.00', owner: 'w2' })],
    ['a release', claimed, play => play.do({ op: 'release', event: '01.00', fence: 2 })],
    ['an advance', claimed, play => play.do({ op: 'advance', event: '01.00', fence: 2, next: spec('N') })],
    ['a new timeout', claimed, play => play.do({ op: 'set', event: '01.00', attributes: { timeout: '01:00:00' } })],
    [
      'a reopening',
      claimed,
      play => play.after({ op: 'fail', event: '01.00' }, { op: 'retry', event: '01.00' }).wait(10 * MINUTE),
    ],
  ])('such as %s between inspection and lease prevents any change', (_, begin, change) => {
    const play = begin()
    const expired = look(play, '01.00')
    change(play.wait(1_000))
    const before = play.text
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('showed-life')
    expect(play.text).toBe(before)
  })

  it('includes a branch of a released join that is retried: the join waits again', () => {
    const play = new Play().after(
      { op: 'init', forks: [spec('A')], join: spec('J', { timeout: '00:05:00' }) },
      { op: 'fail', event: '01.00' },
    )
    const expired = look(play.wait(10 * MINUTE), '01')
    play.do({ op: 'retry', event: '01.00' })
    expect(play.refused({ op: 'abort', event: '01', expired }).code).toBe('showed-life')
  })

  it('does not include changes of other events', () => {
    const play = new Play().after({
      op: 'init',
      forks: [spec('A', { timeout: '00:05:00' }), spec('B', { timeout: '01:00:00' }), spec('C'), spec('D')],
    })
    play.after({ op: 'start', event: '01.00' }, { op: 'start', event: '02.00' }).wait(10 * MINUTE)
    const expired = look(play, '01.00')
    play
      .wait(1_000)
      .after(
        { op: 'touch', event: '02.00', owner: 'w1' },
        { op: 'complete', event: '03.00' },
        { op: 'set', event: '00', attributes: { tag: 'x' } },
      )
    play.legacy(stream => stream.setStatus('04.00', 'inprocess'), { rebuildEvents: true })
    expect(expire(play, expired).outcome).toBe('done')
    expect(play.statuses).toEqual([
      '00 inprocess',
      '01.00 aborted',
      '02.00 inprocess',
      '03.00 completed',
      '04.00 inprocess',
    ])
  })
})

function edit(play: Play, from: string, to: string): void {
  play.edit(text => text.replace(from, to))
}

function addBelow(play: Play, status: string, timestamp: string): void {
  const event = `<Event id="01.01" prev="01.00" status="${status}" timestamp="${timestamp}"/>`
  play.edit(text => text.replace('</EventStream>', `${event}</EventStream>`))
}

describe('an event that is not open any more', () => {
  it.each(['complete', 'cancel', 'fail'] as const)('and ended by %s is refused already-final for any target', op => {
    const play = worked()
    const expired = look(play, '01.00')
    play.do(op === 'cancel' ? { op, event: '01.00' } : { op, event: '01.00', fence: 3 })
    const before = play.text
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('already-final')
    expect(play.code({ op: 'abort', expired })).toBe('already-final')
    expect(play.text).toBe(before)
  })

  it('and was removed is refused event-not-found, also if the whole stream is the target', () => {
    const play = worked()
    const expired = look(play, '01.00')
    play.edit(text => text.replace(/ *<Event id="01.00"[^>]*>\n/, ''))
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('event-not-found')
    expect(play.refused({ op: 'abort', expired })).toMatchObject({ code: 'event-not-found', event: '01.00' })
  })

  it('and was closed by a foreign write is refused already-final, and the closing is written', () => {
    const play = worked({}, { id: '01.01', prev: '01.00', status: 'completed', timestamp: ago(2 * HOUR) })
    const expired = observedDeadline(play.event('01.00'), START_MS - 5 * MINUTE)
    const applied = play.apply({ op: 'abort', event: '01.00', expired })
    expect(applied).toMatchObject({ kind: 'refused', refusal: { code: 'already-final', status: 'completed' } })
    expect(applied.kind === 'refused' && applied.document?.events[1]?.status).toBe('completed')
  })
})
