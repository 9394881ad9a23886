import { describe, expect, it } from 'vitest'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

const claimed = () => Play.started('A', 'B').after({ op: 'start', event: '01.00', owner: 'w1' })
const work = [
  { op: 'touch', event: '01.00' },
  { op: 'release', event: '01.00' },
  { op: 'advance', event: '01.00', next: spec('N') },
  { op: 'complete', event: '01.00' },
  { op: 'fail', event: '01.00' },
  { op: 'set', event: '01.00', attributes: { tag: 't' } },
] as const

describe.each(work)('while a claim runs, $op', operation => {
  it('is applied with its fence', () => {
    expect(claimed().do({ ...operation, fence: 2 }).outcome).toBe('done')
  })

  it('is applied for its owner', () => {
    expect(claimed().do({ ...operation, owner: 'w1' }).outcome).toBe('done')
  })

  it('is refused claimed for another owner or without one', () => {
    const refusal = { code: 'claimed', event: '01.00', owner: 'w1', until: '2024-05-01T12:01:00.000Z' }
    expect(claimed().refused({ ...operation, owner: 'w2' })).toMatchObject(refusal)
    expect(claimed().refused(operation)).toMatchObject(refusal)
  })

  it('is refused fenced with another fence, even for the owner', () => {
    expect(claimed().code({ ...operation, owner: 'w1', fence: 1 })).toBe('fenced')
    expect(claimed().code({ ...operation, fence: 3 })).toBe('fenced')
  })

  it('is refused fenced with a fence that was taken over', () => {
    const play = claimed().wait(60_000).after({ op: 'start', event: '01.00', owner: 'w2' })
    expect(play.refused({ ...operation, fence: 2 })).toMatchObject({ code: 'fenced', owner: 'w2' })
  })

  it('is refused fenced with the fence of a claim that was released', () => {
    const play = claimed().after({ op: 'release', event: '01.00', owner: 'w1' })
    expect(play.code({ ...operation, fence: 2 })).toBe('fenced')
  })

  it('is refused for a final event before its fence is checked', () => {
    const play = claimed().after({ op: 'cancel', event: '01.00' })
    expect(play.code({ ...operation, fence: 99 })).toBe('already-final')
  })
})

describe('claims', () => {
  it('that have expired do not prevent ending the event, and the holder may still end it', () => {
    expect(claimed().wait(60_000).do({ op: 'complete', event: '01.00', owner: 'w2' }).outcome).toBe('done')
    expect(claimed().wait(60_000).do({ op: 'complete', event: '01.00', fence: 2 }).outcome).toBe('done')
  })

  it('are ignored by cancel and abort', () => {
    expect(claimed().do({ op: 'cancel', event: '01.00' }).outcome).toBe('done')
    expect(claimed().do({ op: 'abort', event: '01.00' }).outcome).toBe('done')
  })

  it('keep owner and fence and lose until when the event ends', () => {
    for (const end of [{ op: 'complete', fence: 2 }, { op: 'fail', fence: 2 }, { op: 'abort' }] as const) {
      const { lc } = claimed()
        .after({ ...end, event: '01.00' })
        .event('01.00')
      expect(lc).toEqual({ owner: 'w1', fence: '2', attempt: '1', claimed: '2024-05-01T12:00:00.000Z' })
    }
  })

  it('are removed by advance, release and retry', () => {
    const advanced = claimed().after({ op: 'advance', event: '01.00', fence: 2, next: spec('N') })
    expect(advanced.event('01.00').lc).toEqual({ attempt: '1' })
    expect(claimed().after({ op: 'release', event: '01.00', fence: 2 }).event('01.00').lc).toEqual({ attempt: '1' })
    const retried = claimed().after({ op: 'abort', event: '01.00' }, { op: 'retry', event: '01.00' })
    expect(retried.event('01.00').lc).toEqual({ attempt: '2', opened: '2024-05-01T12:00:00.000Z' })
  })

  it('are judged by the clock that is passed in, however far lc:at is ahead', () => {
    const play = claimed().edit(text => text.replace(/lc:at="[^"]*"/, 'lc:at="2024-05-03T00:00:00.000Z"'))
    expect(play.code({ op: 'start', event: '01.00', owner: 'w2' })).toBe('claimed')
    expect(play.do({ op: 'start', event: '02.00' }).claim?.until).toBe('2024-05-01T12:01:00.000Z')
  })

  it('with an unreadable end do not count', () => {
    const play = claimed().edit(text => text.replace(/lc:until="[^"]*"/, 'lc:until="soon"'))
    expect(play.do({ op: 'start', event: '01.00', owner: 'w2' }).claim).toMatchObject({ attempt: 2 })
  })
})

describe('touch', () => {
  it('stamps the event and extends the claim, without entry or version', () => {
    const play = claimed().wait(30_000)
    const result = play.do({ op: 'touch', event: '01.00', fence: 2 })
    expect(result).toMatchObject({
      outcome: 'done',
      version: 2,
      changed: [],
      claim: { fence: 2, until: '2024-05-01T12:01:30.000Z' },
    })
    expect(play.event('01.00')).toMatchObject({
      timestamp: '2024-05-01T12:00:30.000Z',
      lc: { until: '2024-05-01T12:01:30.000Z' },
    })
    expect(play.document).toMatchObject({ version: 2, at: '2024-05-01T12:00:30.000Z' })
    expect(play.journal).toHaveLength(2)
  })

  it('never shortens the claim', () => {
    const play = claimed().after({ op: 'touch', event: '01.00', fence: 2, claimMs: 1 })
    expect(play.event('01.00').lc.until).toBe('2024-05-01T12:01:00.000Z')
  })

  it('revives an expired claim if the event has not been taken over', () => {
    const play = claimed().wait(120_000).after({ op: 'touch', event: '01.00', owner: 'w1' })
    expect(play.event('01.00').lc.until).toBe('2024-05-01T12:03:00.000Z')
  })

  it('may carry a progress text; the message it replaces is kept', () => {
    const play = new Play().after(
      { op: 'init', forks: [spec('A', { msg: 'blob:7' })] },
      { op: 'start', event: '01.00' },
    )
    for (const msg of ['1/3', '2/3', '']) play.do({ op: 'touch', event: '01.00', fence: 2, msg })
    expect(play.event('01.00')).toMatchObject({ msg: '2/3', lc: { msg: 'blob:7' } })
  })

  it('without holding a claim is refused not-claimed', () => {
    const play = Play.started('A')
    expect(play.refused({ op: 'touch', event: '01.00', owner: 'w1' })).toMatchObject({
      code: 'not-claimed',
      status: 'init',
    })
    expect(play.code({ op: 'touch', event: '00' })).toBe('not-claimed')
    expect(claimed().wait(60_000).code({ op: 'touch', event: '01.00', owner: 'w2' })).toBe('not-claimed')
  })

  it('below a final event is refused ended-above, which makes the worker stop', () => {
    const play = claimed().legacy(stream => stream.setStatus('00', 'aborted'))
    expect(play.refused({ op: 'touch', event: '01.00', fence: 2 })).toMatchObject({
      code: 'ended-above',
      message: expect.stringContaining('00 above 01.00 is aborted; stop working'),
    })
  })

  it('with a foreign write pending records that write and the settling as an entry each', () => {
    const play = Play.joined('Done', 'A', 'B').after({ op: 'start', event: '01.00' })
    play.legacy(stream => stream.setStatus('02.00', 'completed'))
    expect(play.do({ op: 'touch', event: '01.00', fence: 2 })).toMatchObject({ version: 3, changed: [] })
    expect(play.journal.map(tx => tx.op)).toEqual(['init', 'start', 'foreign'])

    const other = claimed().after({ op: 'advance', event: '02.00', next: spec('N') })
    other
      .legacy(s => s.setStatus('02.01', 'completed'))
      .edit(t => t.replace(/status="completed"( id="02.00")/, 'status="inprocess"$1'))
    expect(other.do({ op: 'touch', event: '01.00', fence: 2 })).toMatchObject({ version: 5, changed: [] })
    expect(other.journal.slice(3).map(tx => [tx.version, tx.op, tx.commandId, tx.changes.map(c => c.event)])).toEqual([
      [4, 'foreign', '', ['02.01']],
      [5, 'settle', '', ['02.00']],
    ])
  })
})

describe('release', () => {
  it('makes the event init again, with the same attempt and its earlier message', () => {
    const play = new Play().after(
      { op: 'init', forks: [spec('A', { msg: 'blob:7' })] },
      { op: 'start', event: '01.00' },
    )
    play.after({ op: 'touch', event: '01.00', fence: 2, msg: 'half' }, { op: 'release', event: '01.00', fence: 2 })
    expect(play.event('01.00')).toMatchObject({ status: 'init', msg: 'blob:7', lc: { attempt: '1' } })
    expect(play.do({ op: 'start', event: '01.00', owner: 'w2' }).claim).toMatchObject({ attempt: 1 })
  })

  it('leaves no progress text if the event had no message', () => {
    const play = claimed().after({ op: 'touch', event: '01.00', fence: 2, msg: 'half' })
    play.do({ op: 'release', event: '01.00', fence: 2 })
    expect(play.event('01.00')).toMatchObject({ msg: '', lc: { attempt: '1' } })
  })

  it('is refused not-claimed if the event is not claimed', () => {
    expect(Play.started('A').code({ op: 'release', event: '01.00', owner: 'w1' })).toBe('not-claimed')
    const foreign = new Play(documentText({ id: '00', status: 'inprocess' }))
    expect(foreign.code({ op: 'release', event: '00' })).toBe('not-claimed')
  })
})
