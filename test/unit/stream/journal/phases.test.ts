import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFinal, isWaitingJoin } from '../../../../src/stream/event.ts'
import { stepSequence } from '../../../../src/stream/operations/plan.ts'
import { anInit, aScript, briefOf, RUNS } from '../../../support/arbitraries.ts'
import { Play, spec } from '../../../support/stream-builder.ts'
import { course, courses } from './courses.ts'

const SECOND = 1_000

describe('the phases of an event', () => {
  it('an event is ready until it is claimed and runs until it ends', () => {
    const play = Play.started('A').wait(20 * SECOND)
    play
      .after({ op: 'start', event: '01.00' })
      .wait(10 * SECOND)
      .after({ op: 'complete', event: '01.00', owner: 'w1' })
    expect(course(play, '01.00')).toBe('ready 0-20, running 20-30, completed 30')
    expect(course(play, '00')).toBe('waiting 0-30, completed 30')
  })

  it('an event waits for its successors once it has advanced, until the last of them has ended', () => {
    const play = Play.started('A', 'B').wait(SECOND).after({ op: 'start', event: '01.00' }).wait(SECOND)
    play.after({ op: 'advance', event: '01.00', owner: 'w1', next: { name: 'C' } }).wait(SECOND)
    play.after({ op: 'fail', event: '01.01', msg: 'no' }).wait(SECOND)
    expect(course(play, '01.00')).toBe('ready 0-1, running 1-2, waiting 2-3, completed 3')
    expect(course(play, '01.01')).toBe('ready 2-3, aborted 3')
    expect(course(play, '00')).toBe('waiting 0-')
  })

  it('an event is ready again when it is released', () => {
    const play = Play.started('A')
      .after({ op: 'start', event: '01.00' })
      .wait(5 * SECOND)
    play.after({ op: 'release', event: '01.00', owner: 'w1' }).wait(SECOND)
    expect(course(play, '01.00')).toBe('running 0-5, ready 5-')
  })

  it('a join waits until its branches have ended and is then ready', () => {
    const play = Play.joined('J', 'A').wait(4 * SECOND)
    play.after({ op: 'complete', event: '01.00' }).wait(SECOND).after({ op: 'start', event: '01' })
    expect(course(play, '01')).toBe('waiting 0-4, ready 4-5, running 5-')
  })

  it('a retried event begins again, and a join that has not run waits again', () => {
    const play = Play.joined('J', 'A').wait(SECOND).after({ op: 'cancel', event: '01.00' }).wait(SECOND)
    play.after({ op: 'retry', event: '01.00' }).wait(SECOND)
    expect(course(play, '01.00')).toBe('ready 0-1, ready 2-, canceled 1')
    expect(course(play, '01')).toBe('waiting 0-1, ready 1-2, waiting 2-')
  })

  it('a join that was canceled while it waited waits again after a retry', () => {
    const play = Play.joined('J', 'A').wait(SECOND).after({ op: 'cancel', event: '01' }).wait(SECOND)
    play.after({ op: 'retry', event: '01' })
    expect(isWaitingJoin(play.event('01'))).toBe(true)
    expect(course(play, '01')).toBe('waiting 0-1, waiting 2-, canceled 1')
  })

  it('a step is gated until the one before it is done, and then ready', () => {
    const play = new Play().after({ op: 'init', root: spec('Start'), steps: stepSequence(['A', 'B'], {}) })
    play.wait(SECOND).after({ op: 'complete', event: '01.00' }).wait(SECOND)
    expect(course(play, '01.01')).toBe('gated 0-1, ready 1-')
  })

  it('the pause before a retry is no time ready', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' }).wait(SECOND)
    play.after({ op: 'fail', event: '01.00', transient: true, retry: '3 5s..5s', owner: 'w1' })
    expect(course(play, '01.00')).toBe('running 0-1, gated 1-')
    play.wait(6 * SECOND).after({ op: 'start', event: '01.00' })
    expect(course(play, '01.00')).toBe('running 0-1, gated 1-7, running 7-')
  })

  it('an undo step is gated until the one after which it comes has been undone', () => {
    const play = new Play().after({
      op: 'init',
      root: spec('Start'),
      onFailure: 'compensate',
      steps: stepSequence(['A', 'B', 'C'], {}).map(step => ({ ...step, undo: `Undo${step.name}` })),
    })
    play.after({ op: 'complete', event: '01.00' }, { op: 'complete', event: '01.01' }).wait(SECOND)
    play.after({ op: 'fail', event: '01.02', msg: 'no' }).wait(SECOND)
    const undo = play.document.events.filter(({ lc }) => lc.undoes !== undefined).map(({ id }) => course(play, id))
    expect(undo.slice(1)).toEqual(['ready 1-', 'gated 1-'])
  })

  it('a root without successors is ready: it is not claimed', () => {
    expect(course(Play.started(), '00')).toBe('ready 0-')
  })

  it('phases do not change when attributes are set', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' }).wait(SECOND)
    play.after({ op: 'set', event: '01.00', attributes: { tag: 'x' }, owner: 'w1' })
    expect(course(play, '01.00')).toBe('running 0-')
  })
})

describe('after any history', () => {
  it('spans follow each other without gaps, and only an open event has an open span', () => {
    fc.assert(
      fc.property(anInit(), aScript('none'), (init, script) => {
        const play = new Play()
        play.do(init)
        for (const step of script) {
          if (step.kind === 'wait') play.wait(step.ms)
          else if (step.kind === 'operation') play.apply(briefOf(step.choice, play.document.events))
        }
        const all = courses(play)
        for (const event of play.document.events) {
          const { spans = [], ends = [] } = all.get(event.id) ?? {}
          spans.forEach(({ fromMs, toMs }, at) => {
            expect(toMs ?? play.nowMs).toBeGreaterThanOrEqual(fromMs)
            if (at > 0) expect(fromMs).toBeGreaterThanOrEqual(spans[at - 1]?.toMs ?? Number.POSITIVE_INFINITY)
          })
          for (const { fromMs, toMs } of spans) expect(toMs).not.toBe(fromMs)
          const last = spans.at(-1)
          expect(last !== undefined && last.toMs === undefined).toBe(!isFinal(event))
          if (isFinal(event)) expect(ends.at(-1)?.status).toBe(event.status)
          else if (isWaitingJoin(event) || play.stream.openSuccessors(event)) expect(last?.phase).toBe('waiting')
          else expect(last?.phase).toBe(event.lc.owner === undefined ? 'ready' : 'running')
        }
      }),
      { numRuns: RUNS },
    )
  })
})
