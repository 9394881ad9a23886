import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../../src/stream/data.ts'
import { trimSession } from '../../../../src/stream/operations/trim.ts'
import { stateOfStream } from '../../../../src/stream/state.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { gatedEvent } from '../../../../src/stream/summary-items.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
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

const numbered = (seq: number): Brief => ({ op: 'append', step: spec(`S${seq}`), seq })

/** Completes what can begin, and tells in which order it could. */
function workAll(play: Play): string[] {
  const done: string[] = []
  for (;;) {
    const ready = play.stream.events.filter(({ status }) => status === 'init')
    expect(ready.length).toBeLessThanOrEqual(1)
    const [next] = ready
    if (next === undefined) return done
    done.push(next.name)
    play.do({ op: 'complete', event: next.id }, { commandId: `done-${next.id}` })
  }
}

describe('a session with numbered steps', () => {
  it('holds a step until the one before it has come, and says which', () => {
    const play = session().after(numbered(2))
    expect(play.event('01.02.00')).toMatchObject({ status: 'inprocess', lc: { step: '1', after: '01.01.00' } })
    expect(play.refused({ op: 'start', event: '01.02.00', owner: 'w', claimMs: 1_000 })).toMatchObject({
      ...{ code: 'waiting', message: '01.02.00 waits for step 1 of the session, which has not come' },
    })
    play.after(numbered(1))
    expect(play.event('01.02.00').lc).toEqual({ wait: 'yes', after: '01.01.00' })
    expect(workAll(play)).toEqual(['S1', 'S2'])
  })

  it('is worked in the order of the numbers, in whatever order they come and whenever they are worked', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([1, 2, 3, 4, 5, 6, 7, 8], { minLength: 8 }),
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        fc.boolean(),
        fc.option(fc.nat(3)),
        (arrivals, works, isForeign, keep) => {
          const play = session()
          const done: string[] = []
          arrivals.forEach((seq, at) => {
            play.do({ ...numbered(seq), ...(keep !== null && { keep: keep + 1 }) }, { commandId: `m${seq}` })
            if (keep !== null) play.load(writeDocument(trimSession(play.document, keep + 1)).text)
            if (isForeign && at === 4) play.legacy(() => undefined, { rebuildEvents: true })
            if (works[at]) done.push(...workAll(play))
          })
          play.do({ op: 'signal', name: 'end' }, { commandId: 'end' })
          done.push(...workAll(play))
          expect(done).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map(seq => `S${seq}`))
          expect(play.status('00')).toBe('completed')
        },
      ),
    )
  })

  it('takes a number once: a repetition changes nothing, and another command is refused', () => {
    const play = session()
    play.do(numbered(1), { commandId: 'm1' })
    expect(play.do(numbered(1), { commandId: 'm1' })).toMatchObject({ duplicate: true, added: ['01.01.00'] })
    expect(play.code(numbered(1), { commandId: 'm2' })).toBe('step-taken')
    play.after(numbered(2), numbered(3), numbered(4))
    for (const event of ['01.01.00', '01.02.00', '01.03.00']) play.after({ op: 'complete', event })
    play.load(writeDocument(trimSession(play.document, 1)).text)
    expect(play.stream.find('01.01.00')).toBeUndefined()
    expect(play.code(numbered(1), { commandId: 'm3' })).toBe('step-taken')
  })

  it('takes the missing steps after the signal end, and no later ones', () => {
    const play = session().after(numbered(3), { op: 'signal', name: 'end' }, numbered(1))
    expect(play.code(numbered(4))).toBe('session-ended')
    play.after(numbered(2))
    expect(workAll(play)).toEqual(['S1', 'S2', 'S3'])
    expect(play.status('00')).toBe('completed')
  })

  it('has numbers for all of its steps or for none, and its last step has the highest', () => {
    expect(session('A').code(numbered(1))).toBe('bad-step')
    expect(session().after(numbered(1)).code(step('A'))).toBe('bad-step')
    expect(
      session()
        .after(numbered(2))
        .code({ ...numbered(1), last: true } as Brief),
    ).toBe('bad-step')
  })

  it('is blocked while nothing can go on because a step has not come', () => {
    const play = session().after(numbered(1), numbered(3))
    const state = () => stateOfStream(summarize(play.document, { nowMs: play.nowMs, lastBy: '' }), play.nowMs)
    expect(state()).toBe('ready')
    play.after({ op: 'complete', event: '01.01.00' })
    expect(state()).toBe('blocked')
    const { gated } = summarize(play.document, { nowMs: play.nowMs, lastBy: '' })
    expect(gated.map(item => gatedEvent(item)?.waitsFor)).toContainEqual({ kind: 'step', step: 2 })
    play.after(numbered(2))
    expect(state()).toBe('ready')
  })
})
