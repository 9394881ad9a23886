import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../../src/stream/data.ts'
import { observedDeadline } from '../../../../src/stream/operations/cancel-abort.ts'
import type { Operation, StepSpec } from '../../../../src/stream/operations/operation.ts'
import { parseRetry, pauseMs } from '../../../../src/stream/retry-policy.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { deadlineOf, timeReaderFor } from '../../../../src/stream/time/deadlines.ts'
import { BORN, Play, spec } from '../../../support/stream-builder.ts'

const MINUTE = 60_000

function planned(plan: readonly StepSpec[], more: Partial<Extract<Operation, { op: 'init' }>> = {}): Play {
  const play = new Play()
  play.do({ op: 'init', root: spec('Order'), forks: [], steps: plan, hold: false, born: BORN, ...more })
  return play
}

function steps(...specs: readonly (string | ReturnType<typeof spec>)[]): StepSpec[] {
  return specs.map((one, at) => ({
    ...(typeof one === 'string' ? spec(one) : one),
    thread: 0,
    needs: at === 0 ? [] : [at - 1],
  }))
}

const summaryOf = (play: Play) => summarize(play.document, { nowMs: play.nowMs, lastBy: 'w1' })

describe('a transient failure', () => {
  const started = (retry?: string) =>
    planned(steps(spec('A', retry === undefined ? {} : { retry }), 'B')).after({
      op: 'start',
      event: '01.00',
      owner: 'w1',
    })
  const transient = { op: 'fail', event: '01.00', owner: 'w1', msg: 'timeout', transient: true } as const

  it('is tried again after a pause, as the next attempt, and says what failed', () => {
    const play = started('3 2s..1m')
    const { changed } = play.do(transient)
    expect(changed).toEqual([{ id: '01.00', from: 'inprocess', to: 'inprocess', how: 'again' }])
    const { lc, msg } = play.event('01.00')
    expect(lc).toMatchObject({ wait: 'yes', attempt: '2' })
    expect(lc.owner).toBeUndefined()
    expect(msg).toBe('timeout')
    const pause = Date.parse(lc.wake ?? '') - play.nowMs
    expect(pause).toBeGreaterThanOrEqual(1000)
    expect(pause).toBeLessThanOrEqual(2000)
    expect(play.refused({ op: 'start', event: '01.00', owner: 'w2' }).code).toBe('waiting')
    expect(play.wait(2000).do({ op: 'start', event: '01.00', owner: 'w2' }).claim?.attempt).toBe(2)
  })

  it('aborts the event when its attempts are used up, and the message names them', () => {
    const play = started('2 1s..1s').after(transient)
    play.wait(1000).after({ op: 'start', event: '01.00', owner: 'w1' })
    expect(play.do(transient).changed[0]).toMatchObject({ id: '01.00', to: 'aborted' })
    expect(play.event('01.00').msg).toBe('given up after 2 attempts: timeout')
  })

  it('keeps its result only with the last attempt', () => {
    const result = dataOf(Buffer.from('report'), 'text/plain')
    const play = started('2 1s..1s').after({ ...transient, result })
    expect(play.event('01.00').result).toBeUndefined()
    play.wait(1000).after({ op: 'start', event: '01.00', owner: 'w1' }, { ...transient, result })
    expect(play.event('01.00').result?.text).toBe('report')
  })

  it('has the attempts of the worker if the event names none', () => {
    const play = started().after({ ...transient, retry: '2 1s..1s' })
    play.wait(1000).after({ op: 'start', event: '01.00', owner: 'w1' }, { ...transient, retry: '2 1s..1s' })
    expect(play.status('01.00')).toBe('aborted')
  })

  it('does not count a release', () => {
    const play = started('2 1s..1s')
    for (let times = 0; times < 5; times++) {
      play.after({ op: 'release', event: '01.00', owner: 'w1' }, { op: 'start', event: '01.00', owner: 'w1' })
    }
    expect(play.after(transient).status('01.00')).toBe('inprocess')
  })

  it('has all attempts again after a retry', () => {
    const play = started('1 1s..1s').after(transient, { op: 'retry', event: '01.00' })
    play.after({ op: 'start', event: '01.00', owner: 'w1' }, transient)
    expect(play.event('01.00')).toMatchObject({ status: 'aborted', msg: 'given up after 1 attempt: timeout' })
  })

  it('of an event whose own work is done is refused', () => {
    const play = started().after({ op: 'advance', event: '01.00', owner: 'w1', forks: [spec('X')] })
    expect(play.refused({ op: 'fail', event: '01.00', transient: true }).code).toBe('open-successors')
  })

  it('of the root leaves the stream running, and the root can be started again', () => {
    const play = planned([]).after({ op: 'start', event: '00', owner: 'w1' })
    play.after({ op: 'fail', event: '00', owner: 'w1', transient: true })
    play.wait(MINUTE).do({ op: 'settle' })
    expect(play.event('00')).toMatchObject({ status: 'inprocess' })
    expect(play.stream.held).toBe(false)
    expect(play.do({ op: 'start', event: '00', owner: 'w1' }).claim?.attempt).toBe(2)
  })

  it('keeps its pause and its attempt when another writer drops what it does not know', () => {
    const play = started('3 2s..1m').after(transient)
    const { lc } = play.event('01.00')
    play.edit(text => text.replaceAll(/ lc:(wait|wake|attempt|retry)="[^"]*"/g, ''))
    play.do({ op: 'set', event: '00', attributes: { tag: 'x' } })
    expect(play.event('01.00').lc).toEqual(lc)
  })
})

describe('the pause after an attempt', () => {
  it('doubles from the first to the longest, between half and all of it', () => {
    const policy = parseRetry('9 2s..10s')
    for (const [attempt, longest] of [2, 4, 8, 10, 10].entries()) {
      for (const id of ['a', 'b', 'c', 'd']) {
        const pause = pauseMs(policy, attempt + 1, id)
        expect(pause).toBeGreaterThanOrEqual(longest * 500)
        expect(pause).toBeLessThanOrEqual(longest * 1000)
      }
    }
    expect(pauseMs(policy, 1, 'a')).toBe(pauseMs(policy, 1, 'a'))
    expect(pauseMs(policy, 1, 'a')).not.toBe(pauseMs(policy, 1, 'b'))
  })

  it.each(['0', '0 1s..2s', '5 1m..2s', 'five', '', '5 1s..2s..3s', '1001', '5 1s..400d', '5 1'])(
    'is refused in the policy %j',
    text => {
      expect(() => parseRetry(text)).toThrow(/.{10}/)
    },
  )
})

describe('a crash', () => {
  const crash = (play: Play) => play.wait(2 * MINUTE)
  const start = { op: 'start', event: '01.00', owner: 'w1' } as const

  it('with attempts left is taken over at once', () => {
    const play = planned(steps(spec('A', { retry: '2 1s..1s' }))).after(start)
    expect(crash(play).do({ ...start, owner: 'w2' }).claim?.attempt).toBe(2)
  })

  it('of the last attempt fails the event when another worker would take it over', () => {
    const play = planned(steps(spec('A', { retry: '1 1s..1s' }), 'B')).after(start)
    const applied = crash(play).apply({ ...start, owner: 'w2' })
    expect(applied).toMatchObject({ kind: 'refused', refusal: { code: 'no-attempts', event: '01.00' } })
    const written = applied.kind === 'refused' ? applied.document : undefined
    expect(written?.events[1]).toMatchObject({
      status: 'aborted',
      msg: "given up after 1 attempt; the last was w1's",
    })
  })

  it('counts against the attempts that the worker allows', () => {
    const play = planned(steps('A')).after(start)
    expect(crash(play).apply({ ...start, owner: 'w2', maxAttempts: 1 }).kind).toBe('refused')
    expect(play.do({ ...start, owner: 'w2', maxAttempts: 2 }).claim?.attempt).toBe(2)
  })
})

describe('an attempt timeout', () => {
  const started = () =>
    planned(steps(spec('A', { attemptTimeout: '00:10:00', retry: '2 1s..1s' }))).after({
      op: 'start',
      event: '01.00',
      owner: 'w1',
    })
  const limit = (play: Play) => deadlineOf(play.stream, play.event('01.00'), timeReaderFor(play.document, play).read)

  it('counts from the claim, and heartbeats do not renew it', () => {
    const play = started()
    const dueMs = play.nowMs + 10 * MINUTE
    expect(limit(play)).toMatchObject({ kind: 'attempt', dueMs })
    play.wait(MINUTE / 2).after({ op: 'touch', event: '01.00', owner: 'w1' })
    expect(limit(play)).toMatchObject({ kind: 'attempt', dueMs })
    expect(summaryOf(play).dueMs).toBe(dueMs)
  })

  it('ends the attempt, not the event, in spite of a running claim', () => {
    const play = started()
    const expired = observedDeadline(play.event('01.00'), play.nowMs + 10 * MINUTE)
    const fail = { op: 'fail', event: '01.00', transient: true, expired } as const
    for (let minutes = 0; minutes < 20; minutes++)
      play.wait(MINUTE / 2).after({ op: 'touch', event: '01.00', owner: 'w1' })
    play.wait(-1)
    expect(play.refused(fail).code).toBe('showed-life')
    play.wait(1)
    expect(play.do(fail).changed).toMatchObject([{ id: '01.00', how: 'again' }])
    expect(play.refused({ op: 'complete', event: '01.00', owner: 'w1', fence: 2 }).code).toBe('fenced')
  })

  it('is over while nobody works on the event', () => {
    const play = started().after({ op: 'release', event: '01.00', owner: 'w1' })
    expect(limit(play)).toBeUndefined()
  })
})

describe('a stream that stops on a failure', () => {
  it('cancels what is open in the same transaction, and is aborted with the failure as its message', () => {
    const play = planned(steps('A', 'B'), { onFailure: 'stop', forks: [spec('X')] })
    expect(play.do({ op: 'fail', event: '02.00', msg: 'no stock' }).done).toBe(true)
    expect(play.statuses).toEqual(['00 aborted', '01.00 canceled', '02.00 aborted', '02.01 canceled'])
    expect(play.event('00').msg).toBe('no stock')
  })

  it('stops when another writer aborts an event', () => {
    const play = planned(steps('A', 'B'), { onFailure: 'stop' })
    play.legacy(stream => stream.setStatus('01.00', 'aborted'))
    play.do({ op: 'settle' })
    expect(play.statuses).toEqual(['00 aborted', '01.00 aborted', '01.01 canceled'])
  })

  it('goes on after a retry', () => {
    const play = planned(steps('A', 'B'), { onFailure: 'stop' }).after({ op: 'fail', event: '01.00' })
    play.wait(MINUTE).after({ op: 'retry' })
    expect(play.statuses).toEqual(['00 inprocess', '01.00 init', '01.01 inprocess'])
    play.after({ op: 'complete', event: '01.00' }, { op: 'complete', event: '01.01' })
    expect(play.event('00')).toMatchObject({ status: 'completed', msg: '' })
  })
})

describe('a stream that blocks on failures', () => {
  const failed = () => planned(steps('A', 'B'), { onFailure: 'block' }).after({ op: 'fail', event: '01.00' })

  it('keeps what is gated after the failure closed, and is blocked', () => {
    const play = failed()
    expect(play.statuses).toEqual(['00 inprocess', '01.00 aborted', '01.01 inprocess'])
    expect(summaryOf(play)).toMatchObject({ outcome: 'blocked', status: 'inprocess', failed: 1 })
  })

  it('does not end with a failure as the last step', () => {
    const play = planned(steps('A'), { onFailure: 'block' }).after({ op: 'fail', event: '01.00' })
    expect(play.status('00')).toBe('inprocess')
    play.after({ op: 'skip', event: '01.00' })
    expect(play.event('00')).toMatchObject({ status: 'completed', msg: 'WithError', lc: { failed: '01.00' } })
  })

  it('goes on when the failure is skipped, which stays in its summary', () => {
    const play = failed()
    expect(play.do({ op: 'skip', event: '01.00', msg: 'sent by hand' })).toMatchObject({ opened: ['01.01'] })
    expect(play.event('01.00').lc.skipped).toBe(play.document.at)
    expect(play.journal.at(-1)).toMatchObject({ op: 'skip', on: '01.00', why: 'sent by hand' })
    expect(summaryOf(play)).toMatchObject({ outcome: 'errors', failed: 1 })
    play.after({ op: 'complete', event: '01.01' })
    expect(play.event('00')).toMatchObject({ status: 'completed', lc: { outcome: 'errors', failed: '01.00' } })
  })

  it('goes on when the failure is retried and completes', () => {
    const play = failed().after({ op: 'retry', event: '01.00' }, { op: 'complete', event: '01.00' })
    expect(play.statuses).toEqual(['00 inprocess', '01.00 completed', '01.01 init'])
    expect(summaryOf(play).outcome).toBe('')
  })

  it('is blocked by a canceled event that others wait for', () => {
    const play = planned(steps('A', 'B'), { onFailure: 'block' }).after({ op: 'cancel', event: '01.00' })
    expect(summaryOf(play).outcome).toBe('blocked')
    play.after({ op: 'skip', event: '01.00' })
    expect(play.status('01.01')).toBe('init')
  })

  it('keeps a join closed', () => {
    const play = planned([], { onFailure: 'block', forks: [spec('A'), spec('B')], join: spec('J') })
    play.after({ op: 'fail', event: '01.00' }, { op: 'complete', event: '02.00' })
    expect(play.status('01')).toBe('inprocess')
    expect(play.do({ op: 'skip', event: '01.00' }).joined).toEqual(['01'])
  })

  it('keeps the skip when another writer drops what it does not know', () => {
    const play = planned(steps('A', 'B', 'C'), { onFailure: 'block' })
    play.after({ op: 'fail', event: '01.00' }, { op: 'skip', event: '01.00' })
    play.edit(text => text.replaceAll(/ lc:(skipped|onFailure)="[^"]*"/g, ''))
    play.after({ op: 'complete', event: '01.01' })
    expect(play.event('01.00').lc.skipped).toBeDefined()
    expect(play.event('00').lc.onFailure).toBe('block')
  })

  it.each([
    ['what did not fail', failed(), '01.01', 'not-failed'],
    [
      'in a stream that goes on',
      planned(steps('A', 'B')).after({ op: 'fail', event: '01.00' }),
      '01.00',
      'not-blocked',
    ],
    ['an event that is absent', failed(), '07.00', 'event-not-found'],
    ['in a stream that has ended', failed().after({ op: 'cancel' }), '01.00', 'already-final'],
  ])('refuses to skip %s', (_, play, event, code) => {
    expect(play.refused({ op: 'skip', event }).code).toBe(code)
  })

  it('is skipped once', () => {
    const play = planned(steps('A', 'B'), { onFailure: 'block' }).after({ op: 'fail', event: '01.00' })
    expect(play.after({ op: 'skip', event: '01.00' }).do({ op: 'skip', event: '01.00' }).outcome).toBe('already')
  })
})
