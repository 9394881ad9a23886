import { describe, expect, it } from 'vitest'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

/** A document of the .NET library with an event that its worker has started. */
const foreign = (more = {}) =>
  new Play(
    documentText(
      { id: '00', status: 'inprocess', next: '01.00' },
      { id: '01.00', status: 'inprocess', prev: '00', timestamp: '2024-05-01T11:59:00Z', ...more },
    ),
  )

describe('start', () => {
  it('makes an init event inprocess with owner, fence and until; the fence is the version', () => {
    const play = Play.started('A').wait(500)
    const result = play.do({ op: 'start', event: '01.00', owner: 'w1', claimMs: 60_000 })
    const claim = { owner: 'w1', fence: 2, until: '2024-05-01T12:01:00.500Z', attempt: 1 }
    expect(result).toMatchObject({
      version: 2,
      claim,
      changed: [{ id: '01.00', from: 'init', to: 'inprocess', how: 'target' }],
    })
    expect(play.event('01.00')).toMatchObject({
      status: 'inprocess',
      timestamp: '2024-05-01T12:00:00.500Z',
      lc: { owner: 'w1', fence: '2', until: claim.until, attempt: '1' },
    })
    expect(play.journal.at(-1)?.changes[0]).toMatchObject({ owner: 'w1', attempt: 1 })
  })

  it('on an event with a running claim is refused claimed for every caller', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' }).wait(59_999)
    for (const owner of ['w1', 'w2']) {
      expect(play.refused({ op: 'start', event: '01.00', owner })).toMatchObject({
        code: 'claimed',
        owner: 'w1',
        until: '2024-05-01T12:01:00.000Z',
      })
    }
    expect(play.code({ op: 'start', event: '01.00', takeOver: true })).toBe('claimed')
  })

  it('with the fence of the running claim is already so', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' })
    const result = play.do({ op: 'start', event: '01.00', owner: 'w2', fence: 2 })
    expect(result).toMatchObject({
      outcome: 'already',
      version: 2,
      changed: [],
      claim: { owner: 'w1', fence: 2, attempt: 1 },
    })
  })

  it('with another fence is refused fenced', () => {
    const play = Play.started('A')
    expect(play.refused({ op: 'start', event: '01.00', fence: 9 })).toMatchObject({
      code: 'fenced',
      message: expect.stringContaining('not claimed now'),
    })
    play.do({ op: 'start', event: '01.00' })
    expect(play.refused({ op: 'start', event: '01.00', fence: 1 })).toMatchObject({
      code: 'fenced',
      owner: 'w1',
      message: expect.stringContaining('its fence is 2 now'),
    })
  })

  it('on an event with an expired claim raises the attempt', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' }).wait(60_000)
    expect(play.do({ op: 'start', event: '01.00', owner: 'w2' }).claim).toMatchObject({
      owner: 'w2',
      fence: 3,
      attempt: 2,
    })
    expect(play.code({ op: 'touch', event: '01.00', fence: 2 })).toBe('fenced')
  })

  it('on an event with an expired claim passes on the original message, without progress', () => {
    const play = new Play().after({ op: 'init', root: spec('R'), forks: [spec('A', { msg: 'blob:7' })] })
    play.after({ op: 'start', event: '01.00' }, { op: 'touch', event: '01.00', owner: 'w1', msg: 'half' }).wait(60_000)
    play.do({ op: 'start', event: '01.00', owner: 'w2' })
    expect(play.event('01.00').msg).toBe('blob:7')
  })

  it('with the fence of an expired claim makes a new claim', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' }).wait(60_000)
    expect(play.do({ op: 'start', event: '01.00', fence: 2 }).claim).toMatchObject({ fence: 3, attempt: 2 })
  })

  it('claims the inprocess root that has no owner, with the same attempt', () => {
    expect(Play.started().do({ op: 'start', event: '00' }).claim).toMatchObject({ attempt: 1 })
  })

  it('claims an event that we reopened as inprocess', () => {
    const play = Play.started().after({ op: 'abort' }, { op: 'retry', event: '00' })
    expect(play.do({ op: 'start', event: '00' }).claim).toMatchObject({ attempt: 2 })
  })

  it('on the event of a foreign worker is refused foreign-worker until it is due', () => {
    const play = foreign({ timeout: '00:02:00' })
    expect(play.code({ op: 'start', event: '01.00' })).toBe('foreign-worker')
    play.wait(59_999)
    expect(play.code({ op: 'start', event: '01.00' })).toBe('foreign-worker')
    play.wait(1)
    expect(play.do({ op: 'start', event: '01.00' }).claim).toMatchObject({ attempt: 2 })
  })

  it('with take-over claims the event of a foreign worker', () => {
    expect(foreign().do({ op: 'start', event: '01.00', takeOver: true }).claim).toMatchObject({ attempt: 2 })
  })

  it('on the event of a foreign worker is refused although we set an attribute of it', () => {
    const play = foreign().after({ op: 'set', event: '01.00', attributes: { tag: 'seen' } })
    expect(play.code({ op: 'start', event: '01.00' })).toBe('foreign-worker')
  })

  it('on an event of unknown status is refused like on the event of a foreign worker', () => {
    expect(foreign({ status: 'paused' }).refused({ op: 'start', event: '01.00' })).toMatchObject({
      code: 'foreign-worker',
      status: 'paused',
    })
    const play = new Play(documentText({ id: '00', status: 'inprocess' }, { id: '01.00', prev: '00' }))
    expect(play.refused({ op: 'start', event: '01.00' }).message).toContain('of no status')
  })

  it('on a held root with successors makes it inprocess without a claim', () => {
    const play = new Play().after({ op: 'init', hold: true, forks: [spec('A')] })
    const result = play.do({ op: 'start', event: '00' })
    expect(result.claim).toBeUndefined()
    expect(play.event('00')).toMatchObject({ status: 'inprocess', lc: {} })
  })

  it('on an event with open successors drops its remaining claim', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'init', next: '01.00', 'lc:owner': 'w9', 'lc:fence': '1' },
        { id: '01.00', status: 'init', prev: '00' },
      ),
    )
    expect(play.after({ op: 'start', event: '00' }).event('00')).toMatchObject({ status: 'inprocess', lc: {} })
  })

  it('below a held root is refused held', () => {
    const play = new Play().after({ op: 'init', hold: true, forks: [spec('A')] })
    expect(play.refused({ op: 'start', event: '01.00' })).toMatchObject({ code: 'held', event: '01.00' })
    expect(play.after({ op: 'start', event: '00' }).do({ op: 'start', event: '01.00' }).outcome).toBe('done')
  })

  it('on an event that waits for its successors is refused already-advanced', () => {
    expect(Play.started('A').code({ op: 'start', event: '00' })).toBe('already-advanced')
  })

  it('on a final event is refused already-final before any fence is checked', () => {
    const play = Play.started('A', 'B').after({ op: 'complete', event: '01.00' }, { op: 'abort', event: '02.00' })
    expect(play.refused({ op: 'start', event: '01.00', fence: 99 })).toMatchObject({
      code: 'already-final',
      message: expect.stringContaining('cannot change any more'),
    })
    expect(play.refused({ op: 'start', event: '02.00' }).message).toContain('retry')
  })

  it('on a missing event is refused event-not-found', () => {
    expect(Play.started().refused({ op: 'start', event: '09' })).toMatchObject({ code: 'event-not-found', event: '09' })
  })

  it('below a final event is refused ended-above, even with the fence of the running claim', () => {
    const play = Play.started('A')
      .after({ op: 'start', event: '01.00' })
      .legacy(s => s.setStatus('00', 'completed'))
    expect(play.refused({ op: 'start', event: '01.00', fence: 2 })).toMatchObject({
      code: 'ended-above',
      status: 'inprocess',
    })
  })
})
