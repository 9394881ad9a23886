import { describe, expect, it } from 'vitest'
import { sumOf } from '../../../src/stream/fingerprint.ts'
import { documentText, Play, spec } from '../../support/stream-builder.ts'

describe('version', () => {
  it('grows by one per transaction; refusals and already-so results do not raise it', () => {
    const play = Play.started('A', 'B')
    expect(play.do({ op: 'cancel', event: '01.00' }).version).toBe(2)
    expect(play.do({ op: 'cancel', event: '01.00' }).version).toBe(2)
    play.code({ op: 'complete', event: '01.00' })
    expect(play.do({ op: 'complete', event: '02.00' }).version).toBe(3)
  })

  it('continues from the journal when lc:v was dropped', () => {
    const play = Play.started('A', 'B')
      .after({ op: 'complete', event: '01.00' })
      .edit(text => text.replace(/ lc:v="2"/, ''))
    expect(play.do({ op: 'complete', event: '02.00' }).version).toBe(3)
    expect(play.journal.map(tx => tx.op)).toEqual(['init', 'complete', 'complete'])
  })

  it('continues from the highest fence when document and journal lost it', () => {
    const play = new Play(documentText({ id: '00', status: 'inprocess', 'lc:fence': '41' }))
    expect(play.do({ op: 'set', event: '00', attributes: { tag: 't' } }).version).toBe(43)
    expect(play.journal.map(tx => [tx.version, tx.op])).toEqual([
      [42, 'adopt'],
      [43, 'set'],
    ])
  })

  it('continues from the summary beside the body', () => {
    const play = Play.started('A')
    expect(play.do({ op: 'complete', event: '01.00' }, { versionFloor: 70 }).version).toBe(72)
    expect(play.journal.map(tx => [tx.version, tx.op])).toEqual([
      [1, 'init'],
      [71, 'foreign'],
      [72, 'complete'],
    ])
  })
})

describe('time', () => {
  it('stamps never go back by less than days: the later of now and lc:at is written', () => {
    const play = Play.started('A', 'B').wait(-3_600_000).after({ op: 'complete', event: '01.00' })
    expect(play.event('01.00').timestamp).toBe('2024-05-01T12:00:00.000Z')
    expect(play.document.at).toBe('2024-05-01T12:00:00.000Z')
    expect(play.journal.at(-1)?.at).toBe('2024-05-01T12:00:00.000Z')
  })

  it('an unreadable lc:at is ignored', () => {
    const play = Play.started('A').edit(text => text.replace(/lc:at="[^"]*"/, 'lc:at="?"'))
    expect(play.after({ op: 'complete', event: '01.00' }).document.at).toBe('2024-05-01T12:00:00.000Z')
  })
})

describe('a precondition', () => {
  const end = { op: 'complete', event: '01.00' } as const

  it('holds while the stream is at its version', () => {
    expect(Play.started('A').do(end, { ifVersion: 1, ifBorn: '11111111-2222-4333-8444-555555555555' }).version).toBe(2)
  })

  it('fails on another version, another incarnation or a foreign write', () => {
    const play = Play.started('A')
    expect(play.refused(end, { ifVersion: 2 })).toMatchObject({
      code: 'changed',
      event: '00',
      message: expect.stringContaining('version 1, not 2'),
    })
    expect(play.refused(end, { ifBorn: 'x' }).message).toContain('another one')
    play.legacy(stream => stream.setStatus('01.00', 'inprocess'))
    expect(play.refused(end, { ifVersion: 1 }).message).toContain('another program wrote')
    expect(play.do(end).outcome).toBe('done')
  })

  it('without a version accepts a document that lost its incarnation id as the named one', () => {
    const play = Play.started('A').edit(text => text.replace(/ lc:born="[^"]*"/, ''))
    expect(play.document.born).toBe('')
    expect(play.code(end, { ifVersion: 1, ifBorn: 'x' })).toBe('changed')
    expect(play.do(end, { ifBorn: 'x' }).outcome).toBe('done')
  })

  it('with the sum that was read accepts the foreign write that was seen, and no later one', () => {
    const play = Play.started('A', 'B').legacy(stream => stream.setStatus('01.00', 'inprocess'))
    const ifSum = sumOf(play.document.events)
    const later = new Play(play.text).legacy(stream => stream.setStatus('02.00', 'inprocess'))
    expect(later.code(end, { ifVersion: 1, ifSum })).toBe('changed')
    expect(play.do(end, { ifVersion: 1, ifSum }).version).toBe(3)
  })

  it('with the sum protects a document that has no version yet', () => {
    const play = new Play(
      documentText({ id: '00', status: 'inprocess', next: '01.00' }, { id: '01.00', prev: '00', status: 'init' }),
    )
    const ifSum = sumOf(play.document.events)
    const later = new Play(play.text).legacy(stream => stream.setStatus('01.00', 'inprocess'))
    expect(later.code(end, { ifVersion: 0, ifSum })).toBe('changed')
    expect(play.do(end, { ifVersion: 0, ifSum }).outcome).toBe('done')
  })

  it('is unaffected by heartbeats', () => {
    const play = Play.started('A', 'B').after({ op: 'start', event: '01.00' })
    const ifSum = sumOf(play.document.events)
    play.wait(1_000).do({ op: 'touch', event: '01.00', fence: 2 })
    expect(play.do({ op: 'cancel' }, { ifVersion: 2, ifSum }).outcome).toBe('done')
  })

  it('of an empty document names no event', () => {
    const play = new Play('<E/>')
    expect(play.refused({ op: 'init', root: spec('R') }, { ifVersion: 3 })).toMatchObject({
      code: 'changed',
      event: '',
      status: '',
    })
  })
})
