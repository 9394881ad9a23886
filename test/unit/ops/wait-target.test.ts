import { describe, expect, test } from 'vitest'
import { eventVerdict, streamVerdict } from '../../../src/ops/wait.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'
import { Play } from '../../support/stream-builder.ts'

describe('the end of a stream', () => {
  test.each([
    ['completed', '', { success: 'met', completed: 'met', done: 'met', canceled: 'otherwise', aborted: 'otherwise' }],
    [
      'completed',
      'errors',
      { success: 'otherwise', completed: 'met', done: 'met', canceled: 'otherwise', aborted: 'otherwise' },
    ],
    [
      'canceled',
      '',
      { success: 'otherwise', completed: 'otherwise', done: 'met', canceled: 'met', aborted: 'otherwise' },
    ],
    [
      'aborted',
      'errors',
      { success: 'otherwise', completed: 'otherwise', done: 'met', canceled: 'otherwise', aborted: 'met' },
    ],
    ['inprocess', 'errors', { success: 'open', completed: 'open', done: 'open', canceled: 'open', aborted: 'open' }],
    ['init', '', { success: 'open', done: 'open' }],
    ['of its writer', '', { success: 'open', done: 'open' }],
  ] as const)('%s %s', (status, outcome, verdicts) => {
    for (const [end, verdict] of Object.entries(verdicts)) {
      expect(streamVerdict(end as 'success', { status, outcome }), end).toBe(verdict)
    }
  })

  test('one that was not started is open', () => {
    expect(streamVerdict('done', undefined)).toBe('open')
  })
})

describe('the status of an event', () => {
  const stream = (play: Play) => new EventStream(play.document.events)

  test('is reached if it is seen, open before, and missed if the event ended with another status', () => {
    const play = Play.started('A', 'B')
    expect(eventVerdict('01.00', 'completed', stream(play))).toBe('open')
    expect(eventVerdict('01.00', 'init', stream(play))).toBe('met')
    play.do({ op: 'start', event: '01.00', owner: 'w', claimMs: 1000 })
    expect(eventVerdict('01.00', 'inprocess', stream(play))).toBe('met')
    expect(eventVerdict('01.00', 'init', stream(play))).toBe('open')
    play.do({ op: 'fail', event: '01.00', owner: 'w' })
    expect(eventVerdict('01.00', 'aborted', stream(play))).toBe('met')
    expect(eventVerdict('01.00', 'done', stream(play))).toBe('met')
    expect(eventVerdict('01.00', 'completed', stream(play))).toBe('otherwise')
    expect(eventVerdict('01.00', 'inprocess', stream(play))).toBe('otherwise')
  })

  test('of a missing event is open until the stream has ended', () => {
    const play = Play.started('A')
    expect(eventVerdict('01.01', 'completed', stream(play))).toBe('open')
    play.do({ op: 'cancel' })
    expect(eventVerdict('01.01', 'completed', stream(play))).toBe('otherwise')
  })

  test('can no longer be reached if the root above the event has ended', () => {
    const text = Play.started('A').text.replace('status="inprocess"', 'status="aborted"')
    expect(eventVerdict('01.00', 'completed', stream(new Play(text)))).toBe('otherwise')
    expect(eventVerdict('01.00', 'init', stream(new Play(text)))).toBe('met')
  })
})
