import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../../src/stream/data.ts'
import type { Brief } from '../../../support/stream-builder.ts'
import { Play, spec } from '../../../support/stream-builder.ts'

/** A session with these steps. */
function session(...names: readonly string[]): Play {
  const play = new Play().after({ op: 'init', root: spec('Session'), session: true })
  return play.after(...names.map(step))
}

const step = (name: string): Brief => ({ op: 'append', step: spec(name) })

describe('a session', () => {
  it('waits with its last event for the signal end, so that no writer closes it', () => {
    const play = session()
    expect(play.event('00').lc).toMatchObject({ session: '01.00', onFailure: 'block' })
    expect(play.event('01.00')).toMatchObject({ name: 'End', status: 'inprocess', lc: { wait: 'yes', signal: 'end' } })
    expect(play.do({ op: 'signal', name: 'end' })).toMatchObject({ done: true })
  })

  it('lets appended steps begin in their order, one at a time', () => {
    const play = session('A')
    expect(play.do({ op: 'append', step: { ...spec('B'), data: dataOf(Buffer.from('b')) } }).added).toEqual(['02.01'])
    expect(play.statuses).toEqual(['00 inprocess', '01.00 inprocess', '02.00 init', '02.01 inprocess'])
    expect(play.event('02.01')).toMatchObject({ lc: { wait: 'yes', after: '02.00' }, input: { text: 'b' } })
    expect(play.event('00').lc.appended).toBe('02.01')
    expect(play.do({ op: 'complete', event: '02.00' }).opened).toEqual(['02.01'])
    expect(play.do({ op: 'complete', event: '02.01' }).done).toBe(false)
    play.after(step('C'))
    expect(play.status('02.02')).toBe('init')
  })

  it('ends after its last step, and refuses steps behind it', () => {
    const play = session('A')
    play.do({ op: 'append', step: spec('B'), last: true })
    expect(play.code(step('C'))).toBe('session-ended')
    play.after({ op: 'complete', event: '02.00' })
    expect(play.do({ op: 'complete', event: '02.01' })).toMatchObject({ done: true, closed: ['00'] })
    expect(play.status('01.00')).toBe('completed')
    expect(play.code(step('C'))).toBe('already-final')
  })

  it('ends after what was appended before the signal end', () => {
    const play = session('A').after({ op: 'signal', name: 'end' })
    expect(play.event('01.00').lc).toMatchObject({ wait: 'yes', after: '02.00' })
    expect(play.code(step('B'))).toBe('session-ended')
    expect(play.do({ op: 'complete', event: '02.00' }).done).toBe(true)
  })

  it('is blocked by a step that failed, until it is retried or skipped', () => {
    const play = session('A', 'B').after({ op: 'fail', event: '02.00' }, step('C'))
    expect(play.status('02.01')).toBe('inprocess')
    expect(play.event('02.02').lc.after).toBe('02.01')
    expect(play.do({ op: 'skip', event: '02.00' }).opened).toEqual(['02.01'])
    play.after({ op: 'fail', event: '02.01' })
    expect(play.do({ op: 'retry', event: '02.01' }).changed).not.toEqual([])
    expect(play.do({ op: 'complete', event: '02.01' }).opened).toEqual(['02.02'])
  })

  it('appends once for a command id', () => {
    const play = session()
    play.do(step('A'), { commandId: 'm1' })
    expect(play.do(step('A'), { commandId: 'm1' })).toMatchObject({ duplicate: true, added: ['02.00'] })
    expect(play.document.events).toHaveLength(3)
    expect(play.code(step('B'), { commandId: 'm1' })).toBe('command-id-reused')
  })

  it('keeps its order beside a writer that drops our attributes', () => {
    const play = session('A', 'B').legacy(() => undefined, { rebuildEvents: true })
    play.after(step('C'))
    expect(play.event('00').lc).toMatchObject({ session: '01.00', appended: '02.02' })
    expect(play.event('02.02').lc.after).toBe('02.01')
    expect(play.do({ op: 'complete', event: '02.00' }).opened).toEqual(['02.01'])
    expect(play.event('01.00').lc).toMatchObject({ wait: 'yes', signal: 'end' })
  })

  it('is the only stream that takes steps', () => {
    expect(Play.started('A').code(step('B'))).toBe('no-session')
    expect(new Play().code(step('B'))).toBe('not-started')
  })

  it('does not end by a step that could never begin', () => {
    expect(session('A').code({ op: 'append', step: { ...spec('B'), after: ['09.00'] } })).toBe('bad-gate')
    expect(session('A').code({ op: 'append', step: { ...spec('B'), after: ['00'] } })).toBe('bad-gate')
  })
})
