import { describe, expect, it } from 'vitest'
import type { Operation, StepSpec } from '../../../../src/stream/operations/operation.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { gatedEvent } from '../../../../src/stream/summary-items.ts'
import { scanDocument } from '../../../../src/stream/xml/fast-read.ts'
import { parseDocument } from '../../../../src/stream/xml/read.ts'
import { Play, spec } from '../../../support/stream-builder.ts'

const HOUR = 3_600_000

/** A sequence in one thread. */
function steps(...names: readonly string[]): StepSpec[] {
  return names.map((name, at) => ({ ...spec(name), thread: 0, needs: at === 0 ? [] : [at - 1] }))
}

function planned(plan: readonly StepSpec[], more: Partial<Extract<Operation, { op: 'init' }>> = {}): Play {
  const play = new Play()
  play.do({ op: 'init', root: spec('Order'), forks: [], steps: plan, hold: false, born: BORN, ...more })
  return play
}

const BORN = '11111111-1111-4111-8111-111111111111'

describe('a plan', () => {
  it('writes its steps in one thread, all below the same event, each gated after the one before', () => {
    const play = planned(steps('A', 'B', 'C'))
    expect(play.event('00').next).toBe('01.00|01.01|01.02')
    expect(play.statuses).toEqual(['00 inprocess', '01.00 init', '01.01 inprocess', '01.02 inprocess'])
    expect(play.event('01.02')).toMatchObject({ prev: '00', lc: { wait: 'yes', after: '01.01' } })
  })

  it('opens each step when the one before is completed, and closes with the last', () => {
    const play = planned(steps('A', 'B'))
    expect(play.do({ op: 'complete', event: '01.00' })).toMatchObject({ opened: ['01.01'], closed: [] })
    expect(play.event('01.01')).toMatchObject({ status: 'init', lc: { opened: play.event('01.01').timestamp } })
    expect(play.event('01.01').lc.wait).toBeUndefined()
    expect(play.do({ op: 'complete', event: '01.01' })).toMatchObject({ opened: [], closed: ['00'], done: true })
  })

  it('gives every thread of its own the next free number, and a step may need several', () => {
    const play = planned([
      { ...spec('A'), thread: 0, needs: [] },
      { ...spec('B'), thread: 1, needs: [0] },
      { ...spec('C'), thread: 2, needs: [0] },
      { ...spec('D'), thread: 0, needs: [1, 2] },
    ])
    expect(play.event('01.01').lc.after).toBe('02.00|03.00')
    expect(play.do({ op: 'complete', event: '01.00' }).opened).toEqual(['02.00', '03.00'])
    expect(play.do({ op: 'complete', event: '02.00' }).opened).toEqual([])
    expect(play.do({ op: 'complete', event: '03.00' }).opened).toEqual(['01.01'])
  })

  it('counts a step with successors as completed when it has closed', () => {
    const play = planned(steps('A', 'B'))
    play.do({ op: 'advance', event: '01.00', forks: [spec('X')] })
    expect(play.status('01.01')).toBe('inprocess')
    expect(play.do({ op: 'complete', event: '01.01.00' })).toMatchObject({ closed: ['01.00'], opened: ['01.01'] })
  })

  it.each([
    ['each other', [[1], [0]]],
    ['itself', [[0]]],
    ['a step that it does not have', [[4]]],
  ])('whose steps need %s is refused bad-gate', (_, needs) => {
    const plan = needs.map((need, at) => ({ ...spec(`S${at}`), thread: 0, needs: need }))
    const operation = { op: 'init', root: spec('R'), forks: [], steps: plan, hold: false, born: BORN } as const
    expect(new Play().refused(operation).code).toBe('bad-gate')
  })

  it('of automatic milestones is passed in one transaction, however they are ordered', () => {
    const auto = (name: string, needs: readonly number[]) => ({ ...spec(name), auto: true, thread: 0, needs })
    const play = planned([auto('C', [1]), auto('B', [2]), { ...spec('A'), thread: 0, needs: [] }])
    expect(play.do({ op: 'complete', event: '01.02' })).toMatchObject({ opened: ['01.01', '01.00'], done: true })
  })
})

it('documents with gates take the fast way of reading, like all that we write', () => {
  const play = planned(steps('A', 'B')).after({ op: 'complete', event: '01.00' })
  expect(scanDocument(play.text)).toEqual(parseDocument(play.text))
})

describe('a failure before a gate', () => {
  it('cancels what is gated after it, directly or not, and the stream closes with errors', () => {
    const play = planned(steps('A', 'B', 'C'))
    expect(play.do({ op: 'fail', event: '01.00' }).done).toBe(true)
    expect(play.statuses).toEqual(['00 completed', '01.00 aborted', '01.01 canceled', '01.02 canceled'])
    expect(play.event('00').lc).toMatchObject({ outcome: 'errors', failed: '01.00|01.01|01.02' })
    expect(summaryOf(play)).toMatchObject({ failed: 1, canceled: 0, failedId: '01.00' })
  })

  it('is taken back by a retry, with everything that was canceled because of it', () => {
    const play = planned(steps('A', 'B', 'C')).after({ op: 'fail', event: '01.00' })
    expect(play.do({ op: 'retry' }).refused).toBeUndefined()
    expect(play.statuses).toEqual(['00 inprocess', '01.00 init', '01.01 inprocess', '01.02 inprocess'])
    play.after(
      { op: 'complete', event: '01.00' },
      { op: 'complete', event: '01.01' },
      { op: 'complete', event: '01.02' },
    )
    expect(play.status('00')).toBe('completed')
  })

  it('does not take back what an operator had canceled before', () => {
    const play = planned(steps('A', 'B', 'C')).after({ op: 'cancel', event: '01.02' }, { op: 'fail', event: '01.00' })
    play.after({ op: 'retry', event: '01.00' })
    expect(play.statuses).toEqual(['00 inprocess', '01.00 init', '01.01 inprocess', '01.02 canceled'])
  })

  it('refuses a retry of what waits for it', () => {
    const play = planned(steps('A', 'B')).after({ op: 'fail', event: '01.00' })
    expect(play.refused({ op: 'retry', event: '01.01' })).toMatchObject({ code: 'waiting', status: 'canceled' })
  })

  it('leaves steps alone that a retry of the event above supersedes', () => {
    const play = planned(steps('A', 'B')).after({ op: 'abort' }, { op: 'retry', event: '00' })
    expect(play.statuses).toEqual(['00 inprocess', '01.00 canceled', '01.01 canceled'])
    expect(play.do({ op: 'complete', event: '00' }).done).toBe(true)
  })

  it('below an event that was passed is not retried once the next step has run, and closes its gate before', () => {
    const passed = () =>
      planned(steps('A', 'B')).after(
        { op: 'advance', event: '01.00', forks: [spec('X')] },
        { op: 'fail', event: '01.01.00' },
      )
    const play = passed().after({ op: 'retry', event: '01.01.00' })
    expect(play.statuses).toContain('01.01 inprocess')
    expect(play.event('01.01').lc).toMatchObject({ wait: 'yes', after: '01.00' })
    const ran = passed().after({ op: 'start', event: '01.01' })
    expect(ran.refused({ op: 'retry', event: '01.01.00' }).code).toBe('join-ran')
  })
})

describe('a timer', () => {
  const delayed = (more: Partial<StepSpec>) =>
    planned([
      { ...spec('A'), thread: 0, needs: [] },
      { ...spec('B'), thread: 0, needs: [0], ...more },
    ])

  it('begins with the last other condition and opens the gate by the clock of the store', () => {
    const play = delayed({ delay: '01:00:00' }).wait(HOUR)
    expect(play.do({ op: 'complete', event: '01.00' }).opened).toEqual([])
    const wake = new Date(Date.parse(play.event('01.01').timestamp) + HOUR).toISOString()
    expect(play.event('01.01').lc).toMatchObject({ wait: 'yes', wake })
    expect(play.event('01.01').lc.delay).toBeUndefined()
    expect(play.wait(HOUR - 1).do({ op: 'settle' }).outcome).toBe('already')
    expect(play.wait(1).do({ op: 'settle' })).toMatchObject({ outcome: 'done', opened: ['01.01'] })
  })

  it('needs nobody to open it: the start after its time opens and claims in one', () => {
    const play = delayed({ delay: '01:00:00' }).after({ op: 'complete', event: '01.00' })
    expect(play.refused({ op: 'start', event: '01.01' })).toMatchObject({ code: 'waiting' })
    expect(play.wait(HOUR).do({ op: 'start', event: '01.01' }).claim?.attempt).toBe(1)
  })

  it.each(['1969-12-31T00:00:00.000Z', '2000-01-01T00:00:00.000Z', '9999-12-31T00:00:00.000Z', 'soon'])(
    'for the time %s is refused bad-gate',
    wake => {
      const operation = { op: 'advance', event: '01.00', forks: [{ ...spec('B'), wake }] } as const
      expect(planned(steps('A')).refused(operation).code).toBe('bad-gate')
    },
  )

  it('is in the summary with its time, and is not work that runs', () => {
    const play = delayed({ delay: '01:00:00' }).after({ op: 'complete', event: '01.00' })
    const wakeMs = Date.parse(play.event('01.01').timestamp) + HOUR
    const { gated, ...summary } = summaryOf(play)
    expect(summary).toMatchObject({ wakeMs, waitingOn: ['01.01'], ready: [], running: [], dueMs: undefined })
    expect(gated.map(gatedEvent)).toEqual([{ id: '01.01', name: 'B', topic: '', waitsFor: { kind: 'timer', wakeMs } }])
  })

  it('gives an event back until later, with the same attempt', () => {
    const play = planned(steps('A')).after({ op: 'start', event: '01.00' })
    play.do({ op: 'release', event: '01.00', owner: 'w1', delay: '01:00:00' })
    expect(play.event('01.00')).toMatchObject({ status: 'inprocess' })
    expect(play.refused({ op: 'start', event: '01.00' }).code).toBe('waiting')
    expect(play.wait(HOUR).do({ op: 'start', event: '01.00' }).claim?.attempt).toBe(1)
  })
})

describe('a wait for a signal', () => {
  const waiting = (more: Partial<StepSpec> = {}) =>
    planned([{ ...spec('Confirm'), signal: 'picked-up', timeout: '1.00:00:00', thread: 0, needs: [], ...more }])

  it('keeps the event from being claimed or completed, and the stream open', () => {
    expect(waiting().refused({ op: 'start', event: '01.00' })).toMatchObject({
      code: 'waiting',
      message: '01.00 waits for the signal picked-up',
    })
    expect(waiting().refused({ op: 'complete', event: '01.00' }).code).toBe('waiting')
  })

  it('goes on without the signal when its time is over, if on-due is open', () => {
    const play = waiting({ onDue: 'open' })
    expect(summaryOf(play)).toMatchObject({
      dueMs: undefined,
      wakeMs: Date.parse(play.event('01.00').created) + 24 * HOUR,
    })
    expect(play.wait(24 * HOUR).do({ op: 'settle' }).opened).toEqual(['01.00'])
    expect(play.event('01.00')).toMatchObject({ status: 'init', msg: 'timed out' })
  })

  it('is due otherwise, from the time when the signal is all that it waits for', () => {
    const play = planned([
      { ...spec('A'), thread: 0, needs: [] },
      { ...spec('B'), signal: 's', timeout: '01:00:00', thread: 0, needs: [0] },
    ])
    expect(summaryOf(play).dueMs).toBeUndefined()
    play.wait(5 * HOUR).after({ op: 'complete', event: '01.00' })
    expect(summaryOf(play).dueMs).toBe(Date.parse(play.event('01.01').timestamp) + HOUR)
  })
})

describe('a gate after events that exist', () => {
  const forked = () => Play.started('A', 'B')

  it('opens when all are completed', () => {
    const play = forked().after({ op: 'complete', event: '02.00' })
    play.do({ op: 'advance', event: '00', forks: [{ ...spec('C'), after: ['01.00', '02.00'] }], more: true })
    expect(play.do({ op: 'complete', event: '01.00' }).opened).toEqual(['03.00'])
  })

  it.each([
    ['an event that the stream does not have', '07.00'],
    ['the event that forks', '01.00'],
    ['the root', '00'],
  ])('is refused bad-gate if it names %s', (_, id) => {
    const operation = { op: 'advance', event: '01.00', forks: [{ ...spec('C'), after: [id] }] } as const
    expect(forked().refused(operation).code).toBe('bad-gate')
  })

  it('is refused bad-gate if it names a join that waits for the event', () => {
    const operation = { op: 'advance', event: '01.00', forks: [{ ...spec('C'), after: ['01'] }] } as const
    expect(Play.joined('Done', 'A', 'B').refused(operation).code).toBe('bad-gate')
  })

  it('survives a writer that drops what it does not know', () => {
    const play = planned([
      { ...spec('A'), thread: 0, needs: [] },
      { ...spec('B'), thread: 0, needs: [0], delay: '01:00:00', signal: 'go on' },
    ])
    const gate = play.event('01.01').lc
    play.edit(text => text.replaceAll(/ lc:(wait|after|delay|signal)="[^"]*"/g, ''))
    expect(play.event('01.01').lc.wait).toBeUndefined()
    play.do({ op: 'set', event: '00', attributes: { tag: 'x' } })
    expect(play.event('01.01').lc).toEqual(gate)
  })
})

function summaryOf(play: Play) {
  return summarize(play.document, { nowMs: Date.parse(play.document.at), lastBy: 'w1' })
}
