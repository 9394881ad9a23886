import { describe, expect, it } from 'vitest'
import { summarize } from '../../../../src/stream/summarize.ts'
import { suspensionOf } from '../../../../src/stream/suspension.ts'
import { isoTime } from '../../../../src/stream/time/dates.ts'
import { dueMs, timeReaderFor } from '../../../../src/stream/time/deadlines.ts'
import { Play, START_MS, spec } from '../../../support/stream-builder.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const limited = () =>
  new Play().after({
    op: 'init',
    root: spec('Start', { timeout: '10:00:00' }),
    forks: [spec('Pay', { timeout: '01:00:00' }), spec('Ship', { timeout: '2024-05-01T15:00:00Z' })],
  })

const due = (play: Play, id: string) => {
  const { read } = timeReaderFor(play.document, { nowMs: play.nowMs })
  return dueMs(play.stream, play.event(id), read)
}

describe('suspend', () => {
  it('keeps who, when and why on the root, and refuses every start with them', () => {
    const play = Play.started('Pay')
    expect(play.do({ op: 'suspend', msg: 'gateway down' }, { by: 'ana' }).outcome).toBe('done')
    expect(suspensionOf(play.stream)).toEqual({ at: isoTime(START_MS), by: 'ana', why: 'gateway down' })
    const refusal = play.refused({ op: 'start', event: '01.00', owner: 'w' })
    expect(refusal).toMatchObject({ code: 'suspended', event: '01.00' })
    expect(refusal.message).toContain('suspended by ana since 2024-05-01T12:00:00.000Z: gateway down')
    expect(play.code({ op: 'start', event: '00', owner: 'w' })).toBe('suspended')
  })

  it('of a suspended stream is already so, and keeps the first reason', () => {
    const play = Play.started('Pay').after({ op: 'suspend', msg: 'first' })
    expect(play.do({ op: 'suspend', msg: 'second' }).outcome).toBe('already')
    expect(suspensionOf(play.stream)?.why).toBe('first')
  })

  it('lets what is claimed go on and end, with new events that stay unclaimed', () => {
    const play = Play.started('Pay').after({ op: 'start', event: '01.00', owner: 'w' }, { op: 'suspend' })
    play.after({ op: 'touch', event: '01.00', owner: 'w' })
    play.after({ op: 'advance', event: '01.00', owner: 'w', next: spec('Ship'), forks: [] })
    expect(play.code({ op: 'start', event: '01.01', owner: 'w' })).toBe('suspended')
    expect(play.status('01.01')).toBe('init')
  })

  it('does not let another worker take over a claim that runs out meanwhile', () => {
    const play = Play.started('Pay').after({ op: 'start', event: '01.00', owner: 'w' }, { op: 'suspend' })
    play.wait(HOUR)
    expect(play.code({ op: 'start', event: '01.00', owner: 'v' })).toBe('suspended')
    expect(play.do({ op: 'complete', event: '01.00', owner: 'w' }).outcome).toBe('done')
  })

  it('with stop hands claimed events back as the same attempt, and the next heartbeat says why', () => {
    const play = Play.started('Pay', 'Ship').after({ op: 'start', event: '01.00', owner: 'w' })
    const fence = Number(play.event('01.00').lc.fence)
    play.do({ op: 'suspend', stop: true, msg: 'wrong prices' }, { by: 'ana' })
    expect(play.event('01.00')).toMatchObject({ status: 'init', lc: { attempt: '1' } })
    expect(play.event('01.00').lc.owner).toBeUndefined()
    for (const op of ['touch', 'complete', 'release'] as const) {
      const refusal = play.refused({ op, event: '01.00', fence })
      expect(refusal.code, op).toBe('suspended')
      expect(refusal.message).toContain('by ana since 2024-05-01T12:00:00.000Z: wrong prices')
    }
    expect(play.code({ op: 'touch', event: '01.00', owner: 'w' })).toBe('suspended')
    play.after({ op: 'resume' })
    expect(play.code({ op: 'touch', event: '01.00', fence })).toBe('fenced')
    expect(play.do({ op: 'start', event: '01.00', owner: 'v' }).claim?.attempt).toBe(1)
  })

  it('with stop hands back what a suspended stream still has claimed, and is then already so', () => {
    const play = Play.started('Pay').after({ op: 'start', event: '01.00', owner: 'w' }, { op: 'suspend' })
    expect(play.do({ op: 'suspend', stop: true }).outcome).toBe('done')
    expect(play.status('01.00')).toBe('init')
    expect(play.do({ op: 'suspend', stop: true }).outcome).toBe('already')
  })

  it('with stop drops the claim of the root without holding the stream', () => {
    const play = new Play().after({ op: 'init', root: spec('Only'), forks: [] })
    play.after({ op: 'start', event: '00', owner: 'w' }, { op: 'suspend', stop: true })
    expect(play.event('00')).toMatchObject({ status: 'inprocess', lc: { attempt: '1' } })
    play.after({ op: 'resume' })
    expect(play.do({ op: 'start', event: '00', owner: 'v' }).claim?.attempt).toBe(1)
  })

  it('accepts cancel, abort, set, ack and retry', () => {
    const play = Play.started('Pay', 'Ship', 'Bill').after({ op: 'fail', event: '01.00' }, { op: 'suspend' })
    play.after({ op: 'ack' }, { op: 'set', event: '02.00', attributes: { tag: 'x' } }, { op: 'abort', event: '03.00' })
    play.after({ op: 'retry', event: '01.00' })
    expect(play.code({ op: 'start', event: '01.00', owner: 'w' })).toBe('suspended')
    expect(play.do({ op: 'cancel' }).done).toBe(true)
  })

  it('is refused for a final stream, and ends with the stream: a retry is not suspended', () => {
    const play = Play.started('Pay').after({ op: 'suspend' }, { op: 'cancel' })
    expect(play.event('00').lc.suspended).toBeUndefined()
    expect(play.code({ op: 'suspend' })).toBe('already-final')
    expect(play.code({ op: 'resume' })).toBe('already-final')
    play.after({ op: 'retry', canceled: true })
    expect(play.do({ op: 'start', event: '01.00', owner: 'w' }).outcome).toBe('done')
  })
})

describe('resume', () => {
  it('of a stream that was never suspended is refused, of a resumed one already so', () => {
    const play = Play.started('Pay')
    expect(play.code({ op: 'resume' })).toBe('not-suspended')
    play.after({ op: 'suspend' }, { op: 'resume' })
    expect(play.do({ op: 'resume' }).outcome).toBe('already')
  })

  it('lets a held stream begin, and its limits count from then', () => {
    const play = new Play().after({
      op: 'init',
      root: spec('Start', { timeout: '01:00:00' }),
      forks: [spec('Pay', { timeout: '00:30:00' })],
      hold: true,
    })
    play.wait(5 * HOUR)
    expect(play.do({ op: 'resume' }).changed).toMatchObject([{ id: '00', from: 'init', to: 'inprocess' }])
    expect([due(play, '00'), due(play, '01.00')]).toEqual([START_MS + 6 * HOUR, START_MS + 5.5 * HOUR])
  })

  it('counts the hold also if the root is started', () => {
    const play = new Play().after({ op: 'init', root: spec('S', { timeout: '01:00:00' }), forks: [], hold: true })
    play.wait(5 * HOUR).after({ op: 'start', event: '00', owner: 'w' })
    expect(due(play, '00')).toBe(START_MS + 6 * HOUR)
  })

  it('of a held and suspended stream ends the suspension first, and counts the time once', () => {
    const play = new Play().after({ op: 'init', root: spec('S', { timeout: '01:00:00' }), forks: [], hold: true })
    play.wait(HOUR).after({ op: 'suspend' })
    expect(play.code({ op: 'start', event: '00', owner: 'w' })).toBe('suspended')
    play.wait(HOUR).after({ op: 'resume' })
    expect(play.status('00')).toBe('init')
    play.wait(HOUR).after({ op: 'resume' })
    expect(due(play, '00')).toBe(START_MS + 4 * HOUR)
  })
})

describe('limits of a suspended stream', () => {
  it('stand still: nothing is due, by the summary neither, and the time passed is added afterwards', () => {
    const play = limited()
    play.wait(10 * MINUTE).after({ op: 'suspend' })
    play.wait(20 * HOUR)
    expect(['00', '01.00', '02.00'].map(id => due(play, id))).toEqual([undefined, undefined, undefined])
    const summary = summarize(play.document, { nowMs: play.nowMs, lastBy: '' })
    expect(summary).toMatchObject({ suspendedMs: START_MS + 10 * MINUTE, suspendedBy: 'test' })
    expect([summary.dueMs, summary.claimEndMs, summary.readySinceMs]).toEqual([undefined, undefined, undefined])
    play.after({ op: 'resume' })
    expect(['00', '01.00'].map(id => due(play, id))).toEqual([START_MS + 30 * HOUR, START_MS + 21 * HOUR])
    expect(play.event('01.00').lc.paused).toBe(String(20 * HOUR))
  })

  it('do not change absolute times', () => {
    const play = limited()
      .after({ op: 'suspend' })
      .wait(20 * HOUR)
      .after({ op: 'resume' })
    expect(due(play, '02.00')).toBe(START_MS + 3 * HOUR)
  })

  it('count the time since its opening for an event that was added meanwhile', () => {
    const play = limited().after({ op: 'start', event: '01.00', owner: 'w', claimMs: HOUR }, { op: 'suspend' })
    play.wait(30 * MINUTE)
    play.after({ op: 'advance', event: '01.00', owner: 'w', next: spec('N', { timeout: '01:00:00' }), forks: [] })
    play.wait(30 * MINUTE).after({ op: 'resume' })
    expect(play.event('01.01').lc.paused).toBe(String(30 * MINUTE))
    expect(due(play, '01.01')).toBe(START_MS + 2 * HOUR)
  })

  it('are summed over several suspensions', () => {
    const play = limited()
    for (const minutes of [10, 20])
      play
        .after({ op: 'suspend' })
        .wait(minutes * MINUTE)
        .after({ op: 'resume' })
    expect(due(play, '01.00')).toBe(START_MS + 90 * MINUTE)
  })

  it('count anew for an event that a retry reopens', () => {
    const play = limited().after({ op: 'suspend' }).wait(HOUR).after({ op: 'resume' })
    play.after({ op: 'fail', event: '01.00' }, { op: 'retry', event: '01.00' })
    expect(play.event('01.00').lc.paused).toBeUndefined()
    expect(due(play, '01.00')).toBe(START_MS + 2 * HOUR)
  })

  it('give a silent worker its whole timeout from the resumption at most, and nothing after a later sign of life', () => {
    const play = limited().after({ op: 'suspend' }).wait(HOUR).after({ op: 'resume' })
    play.after({ op: 'start', event: '01.00', owner: 'w' })
    expect(due(play, '01.00')).toBe(START_MS + 2 * HOUR)
    play
      .wait(10 * MINUTE)
      .after({ op: 'suspend' })
      .wait(HOUR)
      .after({ op: 'resume' })
    expect(due(play, '01.00')).toBe(START_MS + 2 * HOUR + 70 * MINUTE)
    play.wait(MINUTE).after({ op: 'touch', event: '01.00', owner: 'w' })
    expect(due(play, '01.00')).toBe(play.nowMs + HOUR)
  })

  it('does not abort an event that had expired before the suspension', () => {
    const play = limited().wait(2 * HOUR)
    const { status, timestamp } = play.event('01.00')
    const expired = { event: '01.00', status, attempt: '', fence: '', timestamp, dueMs: START_MS + HOUR }
    play.after({ op: 'suspend' })
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('showed-life')
  })
})

describe('clocks', () => {
  it.each([-10, 10])('a clock %d min wrong neither shortens a limit nor makes a pause negative', minutes => {
    const play = limited()
    play.do({ op: 'suspend' }, { nowMs: play.nowMs + minutes * MINUTE })
    play.wait(5 * MINUTE).after({ op: 'resume' })
    const wait = (due(play, '01.00') ?? 0) - (START_MS + HOUR)
    expect(wait).toBeGreaterThanOrEqual(0)
    expect(wait).toBeLessThanOrEqual(15 * MINUTE)
  })

  it('a clock years ahead that suspended the stream does not stop it for years', () => {
    const play = limited()
    play.do({ op: 'suspend' }, { nowMs: play.nowMs + 100_000 * HOUR })
    play.wait(HOUR).after({ op: 'settle' })
    expect(suspensionOf(play.stream)?.at).toBe(isoTime(play.nowMs))
    play.wait(HOUR).after({ op: 'resume' })
    expect(play.event('01.00').lc.paused).toBe(String(HOUR))
  })
})

describe('a writer that drops our attributes', () => {
  it('loses neither the suspension nor the pauses', () => {
    const play = limited()
      .wait(10 * MINUTE)
      .after({ op: 'suspend', msg: 'first' })
    play.wait(HOUR).after({ op: 'resume' }).wait(MINUTE)
    play.do({ op: 'suspend', msg: 'second' }, { by: 'ana', why: 'second' })
    const before = play.document.events.map(({ lc }) => lc)
    play.legacy(stream => stream.setStatus('02.00', 'inprocess'), { rebuildEvents: true })
    expect(play.event('00').lc.suspended).toBeUndefined()
    expect(play.code({ op: 'start', event: '01.00', owner: 'w' })).toBe('suspended')
    play.after({ op: 'settle' })
    expect(play.document.events.map(({ lc }) => lc)).toEqual(before)
  })

  it('leaves no pause to an event that began to wait for its signal only after the resumption', () => {
    const wake = isoTime(START_MS + MINUTE)
    const wait = { name: 'Confirm', signal: 'go', wake, timeout: '02:00:00', thread: 0, needs: [] }
    const play = new Play().after({ op: 'init', root: spec('Start'), forks: [], steps: [wait] }, { op: 'suspend' })
    play.wait(HOUR).after({ op: 'resume' })
    const before = play.event('01.00')
    expect(before.lc).toEqual({ wait: 'yes', signal: 'go', opened: isoTime(play.nowMs) })
    play.wait(MINUTE).legacy(stream => stream.setStatus('00', 'inprocess'), { rebuildEvents: true })
    play.after({ op: 'settle' })
    expect(play.event('01.00').lc).toEqual(before.lc)
    expect(due(play, '01.00')).toBe(START_MS + 3 * HOUR)
  })

  it('may end the stream; it is then not suspended when it is retried', () => {
    const play = Play.started('Pay').after({ op: 'suspend' })
    play.legacy(stream => stream.setStatus('00', 'aborted'))
    play.after({ op: 'retry', event: '00' })
    expect(suspensionOf(play.stream)).toBeUndefined()
  })
})
