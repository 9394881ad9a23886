import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../../src/stream/data.ts'
import type { Operation, StepSpec } from '../../../../src/stream/operations/operation.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { dueMs, timeReaderFor } from '../../../../src/stream/time/deadlines.ts'
import { upstreamResults } from '../../../../src/stream/upstream-results.ts'
import { BORN, Play, spec } from '../../../support/stream-builder.ts'

type Init = Extract<Operation, { op: 'init' }>

/** A sequence of steps, each with an undo of its name. */
function delivery(names: readonly string[], more: Partial<Init> = {}): Play {
  const plan = names.map(
    (name, at): StepSpec => ({
      ...spec(name, { undo: `Undo${name}`, key: `k${name}`, retry: '2 1s..1s' }),
      thread: 0,
      needs: at === 0 ? [] : [at - 1],
    }),
  )
  const play = new Play()
  play.do({
    op: 'init',
    root: spec('Delivery'),
    forks: [],
    steps: plan,
    hold: false,
    born: BORN,
    onFailure: 'compensate',
    ...more,
  })
  return play
}

function work(play: Play, id: string): Play {
  return play.after({ op: 'start', event: id, owner: 'w1' }, { op: 'complete', event: id, owner: 'w1' })
}

/** Three steps, of which the third is at work and fails. */
function failed(): Play {
  const play = delivery(['A', 'B', 'C', 'D'])
  work(play, '01.00')
  work(play, '01.01')
  return play.after(
    { op: 'start', event: '01.02', owner: 'w1' },
    { op: 'fail', event: '01.02', owner: 'w1', msg: 'no drone' },
  )
}

const undoSteps = (play: Play) =>
  play.document.events
    .filter(({ prev }) => prev === '02.00')
    .map(({ name, ref, status, lc }) => `${name} ${ref} ${status}${lc.unsure === 'yes' ? ' unsure' : ''}`)

const outcomeOf = (play: Play) => summarize(play.document, { nowMs: play.nowMs, lastBy: '' }).outcome

describe('a stream that compensates', () => {
  it('gives an undo step the input and the attempt timeout of the step that it takes back, and its result', () => {
    const play = new Play()
    const input = dataOf(Buffer.from('parcel 7'))
    const steps = [{ ...spec('A', { undo: 'UndoA', attemptTimeout: '00:01:00', data: input }), thread: 0, needs: [] }]
    const second = { ...spec('B'), thread: 0, needs: [0] }
    const init = { op: 'init', root: spec('R'), forks: [], steps: [...steps, second], hold: false, born: BORN } as const
    play.do({ ...init, onFailure: 'compensate' })
    play.do({ op: 'complete', event: '01.00', result: dataOf(Buffer.from('label 9')) })
    play.do({ op: 'fail', event: '01.01' })
    const [undo] = play.document.events.filter(({ name }) => name === 'UndoA')
    expect(undo).toMatchObject({ ref: '01.00', lc: { attemptTimeout: '00:01:00' }, input: { text: 'parcel 7' } })
    const results = undo === undefined ? [] : upstreamResults(play.stream, undo, new Map())
    expect(results).toMatchObject([{ event: '01.00', data: { text: 'label 9' } }])
  })

  it('cancels what is open and plans the undo of what was done, in reverse order, in the same transaction', () => {
    const play = failed()
    expect(play.event('02.00')).toMatchObject({ name: 'Undo', status: 'inprocess', prev: '00' })
    expect(undoSteps(play)).toEqual(['UndoC 01.02 init unsure', 'UndoB 01.01 inprocess', 'UndoA 01.00 inprocess'])
    expect(play.event('02.01.01')).toMatchObject({ key: 'kB', lc: { after: '02.01.00', retry: '2 1s..1s' } })
    expect(play.event('01.03').status).toBe('canceled')
    expect(play.event('00')).toMatchObject({
      status: 'inprocess',
      msg: 'no drone',
      lc: { outcome: 'compensating', ending: 'aborted' },
    })
    expect(outcomeOf(play)).toBe('compensating')
    expect(play.journal.at(-1)).toMatchObject({ op: 'fail', on: '01.02' })
  })

  it('is aborted as compensated when all undo steps are completed', () => {
    const play = failed()
    for (const id of ['02.01.00', '02.01.01']) work(play, id)
    expect(play.status('00')).toBe('inprocess')
    work(play, '02.01.02')
    expect(play.event('00')).toMatchObject({ status: 'aborted', msg: 'no drone', lc: { outcome: 'compensated' } })
    expect(play.status('02.00')).toBe('completed')
    expect(outcomeOf(play)).toBe('compensated')
  })

  it('is canceled if that was asked, and compensates first', () => {
    const play = work(delivery(['A', 'B']), '01.00')
    expect(play.do({ op: 'cancel', msg: 'not wanted' }).done).toBe(false)
    expect(play.do({ op: 'cancel', msg: 'not wanted' }).outcome).toBe('already')
    work(play, '02.01.00')
    expect(play.event('00')).toMatchObject({ status: 'canceled', msg: 'not wanted', lc: { outcome: 'compensated' } })
  })

  it('ends at once with nothing to undo', () => {
    const play = delivery(['A', 'B'])
    expect(play.do({ op: 'abort', msg: 'wrong' }).done).toBe(true)
    expect(play.statuses).toEqual(['00 aborted', '01.00 canceled', '01.01 canceled'])
    expect(outcomeOf(play)).toBe('compensated')
  })

  it('ends as asked without undoing anything with noCompensate', () => {
    const play = work(delivery(['A', 'B']), '01.00')
    play.after({ op: 'abort', noCompensate: true })
    expect(play.statuses).toEqual(['00 aborted', '01.00 completed', '01.01 canceled'])
    expect(outcomeOf(play)).toBe('errors')
  })

  it('goes on with the undo sequence after a failure in it, and names what could not be undone', () => {
    const play = failed()
    play.after({ op: 'fail', event: '02.01.00', msg: 'no answer' })
    expect(undoSteps(play)[1]).toBe('UndoB 01.01 init')
    for (const id of ['02.01.01', '02.01.02']) work(play, id)
    expect(play.event('00')).toMatchObject({
      status: 'aborted',
      msg: 'no drone',
      lc: { outcome: 'compensation-failed', failed: '02.01.00' },
    })
  })

  it('undoes again exactly what it could not undo, in order, when it is retried', () => {
    const play = failed().after({ op: 'fail', event: '02.01.00' })
    work(play, '02.01.01')
    play.after({ op: 'fail', event: '02.01.02' })
    play.after({ op: 'retry' })
    expect(undoSteps(play)).toEqual(['UndoC 01.02 init unsure', 'UndoB 01.01 completed', 'UndoA 01.00 inprocess'])
    expect(play.event('00')).toMatchObject({ status: 'inprocess', msg: 'no drone', lc: { outcome: 'compensating' } })
    work(play, '02.01.00')
    work(play, '02.01.02')
    expect(play.event('00')).toMatchObject({ status: 'aborted', lc: { outcome: 'compensated' } })
    expect(play.event('00').lc.failed).toBeUndefined()
  })

  it('is ended by force with an abort while it compensates', () => {
    const play = failed().after({ op: 'complete', event: '02.01.00' }, { op: 'abort', msg: 'leave it' })
    expect(play.event('00')).toMatchObject({
      status: 'aborted',
      lc: { outcome: 'compensation-failed', failed: '02.01.01|02.01.02' },
    })
    play.after({ op: 'retry' })
    expect(undoSteps(play)).toEqual(['UndoC 01.02 completed unsure', 'UndoB 01.01 init', 'UndoA 01.00 inprocess'])
  })

  it('does not keep the reason of its cancel for an abort that has none', () => {
    const play = work(delivery(['A', 'B']), '01.00').after({ op: 'cancel', msg: 'customer called' }, { op: 'abort' })
    expect(play.event('00')).toMatchObject({ status: 'aborted', msg: '', lc: { outcome: 'compensation-failed' } })
  })

  it('is not due while it compensates', () => {
    const play = work(delivery(['A', 'B'], { root: spec('Delivery', { timeout: '00:00:01' }) }), '01.00')
    play.after({ op: 'abort', msg: 'timed out' })
    const { read } = timeReaderFor(play.document, play)
    expect(dueMs(play.stream, play.event('00'), read)).toBeUndefined()
  })

  it('undoes parallel branches in reverse order of their own work, not of their closing', () => {
    const undo = (name: string) => spec(name, { undo: `Undo${name}` })
    const play = new Play()
    const forks = [undo('A'), undo('B')]
    play.do({ op: 'init', root: spec('R'), forks, hold: false, born: BORN, onFailure: 'compensate' })
    play.after(
      { op: 'advance', event: '01.00', forks: [undo('X')] },
      { op: 'complete', event: '02.00' },
      { op: 'complete', event: '01.01.00' },
    )
    expect(play.status('00')).toBe('completed')
    const other = new Play()
    other.do({
      op: 'init',
      root: spec('R'),
      forks: [...forks, spec('F')],
      hold: false,
      born: BORN,
      onFailure: 'compensate',
    })
    other.after(
      { op: 'advance', event: '01.00', forks: [undo('X')] },
      { op: 'complete', event: '02.00' },
      { op: 'complete', event: '01.01.00' },
      { op: 'fail', event: '03.00' },
    )
    const names = other.document.events.filter(({ lc }) => lc.undoes !== undefined).map(({ name }) => name)
    expect(names).toEqual(['Undo', 'UndoX', 'UndoB', 'UndoA'])
  })

  it('undoes first what was released or taken over and never done', () => {
    const play = delivery(['A', 'B', 'C'])
    work(play, '01.00').after(
      { op: 'start', event: '01.01', owner: 'w1' },
      { op: 'release', event: '01.01', owner: 'w1' },
      { op: 'abort' },
    )
    expect(undoSteps(play)).toEqual(['UndoB 01.01 init unsure', 'UndoA 01.00 inprocess'])
  })

  it('compensates when another writer aborts an event, and undoes what that writer had done', () => {
    const play = delivery(['A', 'B', 'C'])
    play.legacy(stream => stream.setStatus('01.00', 'inprocess'))
    play.legacy(stream => stream.setStatus('01.00', 'completed'))
    play.do({ op: 'settle' })
    play.legacy(stream => stream.setStatus('01.01', 'aborted'))
    play.do({ op: 'settle' })
    expect(undoSteps(play)).toEqual(['UndoB 01.01 init unsure', 'UndoA 01.00 inprocess'])
  })

  it('survives a writer that drops what it does not know', () => {
    const play = failed()
    const lc = play.document.events.map(event => event.lc)
    play.edit(text =>
      text.replaceAll(/ lc:(outcome|ending|undoes|unsure|undo|retry|wait|after|onFailure)="[^"]*"/g, ''),
    )
    work(play, '02.01.00')
    expect(play.event('02.01.02').lc).toEqual(lc.at(-1))
    for (const id of ['02.01.01', '02.01.02']) work(play, id)
    play.edit(text => text.replaceAll(/ lc:(outcome|ending|undoes|unsure|undo)="[^"]*"/g, ''))
    expect(play.refused({ op: 'retry' }).code).toBe('compensated')
  })

  it('takes the outcome from the undo steps when another writer closes the root', () => {
    const play = failed()
    for (const id of ['02.01.00', '02.01.01']) work(play, id)
    play.legacy(stream => {
      for (const id of ['02.01.02', '02.00', '00']) stream.setStatus(id, 'completed')
    })
    play.do({ op: 'settle' })
    expect(play.event('00')).toMatchObject({ status: 'completed', lc: { outcome: 'compensated' } })
  })

  it.each([
    ['a retry of what was compensated', () => compensated(), { op: 'retry' }, 'compensated'],
    ['a retry by name of what was compensated', () => compensated(), { op: 'retry', event: '01.02' }, 'compensated'],
    ['a retry while it compensates', () => failed(), { op: 'retry' }, 'compensating'],
    ['a retry by name of a failed step', () => failed(), { op: 'retry', event: '01.02' }, 'compensating'],
    ['more work', () => failed(), { op: 'advance', event: '00', forks: [spec('X')], more: true }, 'compensating'],
    [
      'an undo of an undo',
      () => failed(),
      { op: 'advance', event: '02.01.00', forks: [spec('X', { undo: 'UndoX' })] },
      'bad-undo',
    ],
  ] as const)('refuses %s', (_, play, operation, code) => {
    expect(play().refused(operation).code).toBe(code)
  })
})

function compensated(): Play {
  const play = failed()
  for (const id of ['02.01.00', '02.01.01', '02.01.02']) work(play, id)
  return play
}
