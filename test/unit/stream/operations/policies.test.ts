import { describe, expect, it } from 'vitest'
import type { EventSpec, OnFailure, StepSpec } from '../../../../src/stream/operations/operation.ts'
import { BORN, Play, spec } from '../../../support/stream-builder.ts'

/** A stream with these branches below its root. */
function forked(onFailure: OnFailure, ...forks: readonly EventSpec[]): Play {
  return new Play().after({ op: 'init', root: spec('Order'), forks, hold: false, born: BORN, onFailure })
}

const undoable = (name: string, more: Partial<EventSpec> = {}) => spec(name, { undo: `Undo${name}`, ...more })
const changes = (play: Play) => play.journal.at(-1)?.changes.map(({ event, to, how }) => `${event} ${to} ${how}`)

describe('a stream that stops on a failure', () => {
  it('does not stop for a failure from before its retry', () => {
    const play = forked('stop', spec('A'), spec('B')).after({ op: 'fail', event: '01.00' })
    expect(play.statuses).toEqual(['00 aborted', '01.00 aborted', '02.00 canceled'])
    play.wait(1_000).after({ op: 'retry', event: '02.00' })
    expect(play.statuses).toEqual(['00 inprocess', '01.00 aborted', '02.00 init'])
    play.wait(1_000).after({ op: 'start', event: '02.00', owner: 'w' })
    expect(play.status('00')).toBe('inprocess')
    play.wait(1_000).after({ op: 'complete', event: '02.00', owner: 'w' })
    expect(play.event('00')).toMatchObject({ status: 'completed', lc: { failed: '01.00' } })
  })

  it('stops again for the next failure, also of the same event', () => {
    const play = forked('stop', spec('A'), spec('B')).after({ op: 'fail', event: '01.00', msg: 'first' })
    play.wait(1_000).after({ op: 'retry', event: '02.00' })
    play.wait(1_000).after({ op: 'fail', event: '02.00', msg: 'second' })
    expect(play.event('00')).toMatchObject({ status: 'aborted', msg: 'second' })
    play.wait(1_000).after({ op: 'retry', event: '01.00' })
    play.wait(1_000).after({ op: 'fail', event: '01.00', msg: 'third' })
    expect(play.event('00')).toMatchObject({ status: 'aborted', msg: 'third' })
  })

  it('names the event that failed where it left no message, in the root and as the reason', () => {
    const play = forked('stop', spec('A'), spec('B')).after({ op: 'fail', event: '02.00' })
    expect(play.event('00').msg).toBe('02.00 B failed')
    expect(play.journal.at(-1)?.why).toBe('02.00 B failed')
    expect(changes(play)).toEqual(['02.00 aborted target', '01.00 canceled cascade', '00 aborted cascade'])
  })

  it('keeps the reason that the operation gave', () => {
    const play = forked('stop', spec('A'))
    play.after({ op: 'abort', event: '01.00', msg: 'INC-7' })
    expect(play.journal.at(-1)).toMatchObject({ op: 'abort', why: 'INC-7' })
  })

  it('names the failure that came first, whatever the order of the ids', () => {
    const play = forked('stop', spec('A'), spec('B'), spec('C'))
    play.legacy(stream => stream.setStatus('02.00', 'aborted'))
    play.wait(60_000).legacy(stream => stream.setStatus('01.00', 'aborted'))
    play.edit(text => text.replace(/(name="B"[^>]*timestamp=")[^"]*/, '$12024-05-01T12:00:00.000Z'))
    play.edit(text => text.replace(/(name="A"[^>]*timestamp=")[^"]*/, '$12024-05-01T12:00:30.000Z'))
    play.do({ op: 'settle' })
    expect(play.event('00').msg).toBe('02.00 B failed')
  })
})

describe('a stream that compensates', () => {
  it('tells why each event changed in the journal', () => {
    const play = forked('compensate', undoable('A'), spec('B')).after({ op: 'complete', event: '01.00' })
    play.after({ op: 'fail', event: '02.00', msg: 'no drone' })
    expect(changes(play)).toEqual([
      '02.00 aborted target',
      '00 inprocess cascade',
      '03.00 inprocess add',
      '03.01.00 init add',
    ])
    play.after({ op: 'complete', event: '03.01.00' })
    expect(changes(play)).toEqual(['03.01.00 completed target', '03.00 completed close', '00 aborted close'])
  })

  it('is the target of an abort that begins to undo it, and of one that ends it by force', () => {
    const play = forked('compensate', undoable('A'), spec('B')).after({ op: 'complete', event: '01.00' })
    play.after({ op: 'abort', msg: 'wrong order' })
    expect(play.event('00')).toMatchObject({ status: 'inprocess', msg: 'wrong order' })
    play.after({ op: 'abort', msg: 'leave it' })
    expect(play.event('00')).toMatchObject({
      status: 'aborted',
      msg: 'leave it',
      lc: { outcome: 'compensation-failed' },
    })
    expect(changes(play)).toContain('00 aborted target')
  })

  it('ends one of its events without undoing anything if that event alone is canceled', () => {
    const play = forked('compensate', undoable('A'), spec('B')).after({ op: 'complete', event: '01.00' })
    play.after({ op: 'cancel', event: '02.00' })
    expect(play.event('00')).toMatchObject({ status: 'completed' })
    expect(play.statuses).toEqual(['00 completed', '01.00 completed', '02.00 canceled'])
  })

  it('still ends one event of its undo sequence alone', () => {
    const play = forked('compensate', undoable('A'), undoable('B'), spec('C'))
    play.after({ op: 'complete', event: '01.00' }, { op: 'complete', event: '02.00' }, { op: 'fail', event: '03.00' })
    play.after({ op: 'cancel', event: '04.01.00' })
    expect(play.status('00')).toBe('inprocess')
    expect(play.status('04.01.01')).toBe('init')
  })

  it('could not undo a step that was completed with a failure below it', () => {
    const play = forked('compensate', undoable('A'), spec('B')).after({ op: 'complete', event: '01.00' })
    play.after({ op: 'fail', event: '02.00' }, { op: 'advance', event: '03.01.00', forks: [spec('X'), spec('Y')] })
    play.after({ op: 'fail', event: '03.01.01.00' }, { op: 'complete', event: '03.01.02.00' })
    expect(play.event('00')).toMatchObject({
      status: 'aborted',
      lc: { outcome: 'compensation-failed', failed: '03.01.00' },
    })
  })

  it('retries an event below an undo step by its name', () => {
    const play = forked('compensate', undoable('A'), spec('B')).after({ op: 'complete', event: '01.00' })
    play.after({ op: 'fail', event: '02.00' }, { op: 'advance', event: '03.01.00', forks: [spec('X')] })
    play.after({ op: 'fail', event: '03.01.01.00' })
    expect(play.event('00').lc.outcome).toBe('compensation-failed')
    play.after({ op: 'retry', event: '03.01.01.00' }, { op: 'complete', event: '03.01.01.00' })
    expect(play.event('00')).toMatchObject({ status: 'aborted', lc: { outcome: 'compensated' } })
  })

  it('says in each refusal of a retry what can be done', () => {
    const compensating = forked('compensate', undoable('A'), spec('B')).after({ op: 'complete', event: '01.00' })
    compensating.after({ op: 'fail', event: '02.00' })
    expect(compensating.refused({ op: 'retry' })).toMatchObject({
      code: 'compensating',
      event: '00',
      message: expect.stringContaining('only a failed undo step can be retried, by name'),
    })
    expect(compensating.refused({ op: 'retry', event: '02.00' })).toMatchObject({
      code: 'compensating',
      event: '02.00',
    })
    const undone = forked('compensate', undoable('A'), spec('B')).after({ op: 'complete', event: '01.00' })
    undone.after({ op: 'fail', event: '02.00' }, { op: 'fail', event: '03.01.00' })
    expect(undone.refused({ op: 'retry', event: '02.00' })).toMatchObject({
      code: 'compensated',
      message: expect.stringContaining('only its failed undo steps can be retried'),
    })
    undone.after({ op: 'retry' }, { op: 'complete', event: '03.01.00' })
    expect(undone.refused({ op: 'retry' }).message).toContain('start a new stream')
  })
})

describe('a gate that could never open is refused with the reason', () => {
  const added = (step: Partial<EventSpec>) =>
    new Play()
      .after({ op: 'init', root: spec('Order'), forks: [spec('A'), spec('B')], hold: false, born: BORN })
      .refused({ op: 'advance', event: '01.00', forks: [spec('X', step)] })
  const CENTURY_MS = 100 * 366 * 86_400_000
  const at = (ms: number) => new Date(Date.parse('2024-05-01T12:00:00.000Z') + ms).toISOString()

  it.each([
    [
      'an absent event',
      { after: ['09.00'] },
      'X could never begin: it would wait for 09.00, which the stream does not have',
    ],
    [
      'the event above',
      { after: ['01.00'] },
      'X could never begin: it would wait for 01.00, which cannot end before it does',
    ],
    ['the root', { after: ['00'] }, 'it would wait for 00, which cannot end before it does'],
    [
      '101 events',
      { after: Array.from({ length: 101 }, () => '02.00') },
      'it would wait for 101 events; at most 100 are possible',
    ],
    ['an unreadable time', { wake: 'soon' }, 'X: the time soon to wait for is unreadable'],
    ['a time long past', { wake: at(-86_400_001) }, `X: the time ${at(-86_400_001)} to wait for is long past`],
    ['a time too far ahead', { wake: at(CENTURY_MS + 1) }, 'to wait for is more than 100 years ahead'],
    ['a delay that is none', { delay: 'soon' }, 'X: the delay soon is not a time from now, at most 100 years'],
    ['a delay into the past', { delay: '-00:00:05' }, 'X: the delay -00:00:05 is not a time from now'],
    [
      'a delay of more than a century',
      { delay: '36601.00:00:00' },
      'X: the delay 36601.00:00:00 is not a time from now',
    ],
  ] as const)('for %s', (_, step, message) => {
    expect(added(step)).toMatchObject({ code: 'bad-gate', event: '01.00', message: expect.stringContaining(message) })
  })

  it.each([
    ['a hundred events', { after: Array.from({ length: 100 }, () => '02.00') }],
    ['a time of this day', { wake: at(-86_400_000) }],
    ['a time a century ahead', { wake: at(CENTURY_MS) }],
    ['a delay of nothing', { delay: '00:00:00' }],
    ['a delay of a century', { delay: '36600.00:00:00' }],
  ])('but not for %s', (_, step) => {
    const play = forked('continue', spec('A'), spec('B'))
    expect(play.do({ op: 'advance', event: '01.00', forks: [spec('X', step)] }).refused).toBeUndefined()
  })

  it.each<[string, readonly (readonly number[])[], string]>([
    ['each other', [[1], [0]], 'S0 could never begin: the steps that it needs wait for it'],
    ['a step behind the last', [[], [4]], 'S1 could never begin: it needs step 5 of a plan of 2'],
    [
      'more than a hundred steps',
      [...Array.from({ length: 101 }, () => []), Array.from({ length: 101 }, (_, step) => step)],
      'S101 could never begin: it needs 101 steps; at most 100 are possible',
    ],
  ])('for steps of a plan that need %s', (_, needs, message) => {
    const steps = needs.map((need, step): StepSpec => ({ ...spec(`S${step}`), thread: 0, needs: need }))
    const init = { op: 'init', root: spec('R'), forks: [], steps, hold: false, born: BORN } as const
    expect(new Play().refused(init)).toMatchObject({ code: 'bad-gate', message: expect.stringContaining(message) })
  })
})

describe('a refusal names what to do', () => {
  it('for a failure of an event whose own work is done', () => {
    const play = forked('continue', spec('A')).after({ op: 'advance', event: '01.00', forks: [spec('X')] })
    const transient = { op: 'fail', event: '01.00', transient: true } as const
    expect(play.refused(transient).message).toBe(
      '01.00 still has open successors: its own work is done; fail one of its successors',
    )
  })

  it('for a skip where failures block nothing, with the policy', () => {
    const stopped = forked('stop', spec('A')).after({ op: 'fail', event: '01.00' })
    expect(stopped.refused({ op: 'skip', event: '01.00' }).message).toContain('its policy is stop')
    const unnamed = Play.started('A', 'B').after({ op: 'fail', event: '01.00' })
    expect(unnamed.refused({ op: 'skip', event: '01.00' }).message).toContain('its policy is continue')
  })

  it('for a skip of what has not failed, was replaced, or is waited for no more', () => {
    const play = forked('block', spec('A'), spec('B')).after({ op: 'complete', event: '02.00' })
    expect(play.refused({ op: 'skip', event: '02.00' }).message).toBe(
      '02.00 is completed; only aborted and canceled events can be skipped',
    )
    play.after({ op: 'advance', event: '01.00', forks: [spec('X')] }, { op: 'fail', event: '01.01.00' })
    play.after({ op: 'abort' })
    expect(play.refused({ op: 'skip', event: '01.01.00' }).message).toBe(
      '00 is aborted: nothing waits for 01.01.00 any more',
    )
    play.after({ op: 'retry', event: '01.00' })
    expect(play.refused({ op: 'skip', event: '01.01.00' }).message).toContain('was replaced when an event above it')
  })
})

describe('the journal of an operation on the whole stream', () => {
  const started = () => Play.started('A', 'B').after({ op: 'start', event: '01.00', owner: 'w' })

  it('names the root as its target and what changed beside it', () => {
    const play = started().after({ op: 'suspend', stop: true })
    expect(changes(play)).toEqual(['01.00 init cascade', '00 inprocess target'])
    play.after({ op: 'resume' })
    expect(changes(play)).toEqual(['00 inprocess target'])
    play.after({ op: 'signal', name: 'go' })
    expect(changes(play)).toEqual(['00 inprocess target'])
  })

  it('names the root of a held stream that goes on', () => {
    const play = new Play().after({ op: 'init', root: spec('R'), forks: [spec('A')], hold: true, born: BORN })
    play.after({ op: 'resume' })
    expect(changes(play)).toEqual(['00 inprocess target'])
  })

  it('names a session, the appended step and the gate of its end', () => {
    const play = new Play().after({ op: 'init', root: spec('Session'), session: true })
    play.after({ op: 'append', step: spec('A') })
    expect(changes(play)?.toSorted()).toEqual(['00 inprocess target', '01.00 inprocess gate', '02.00 init add'])
  })

  it('completes an automatic event by its gate', () => {
    const play = new Play().after({
      op: 'init',
      root: spec('R'),
      forks: [spec('A', { auto: true, signal: 'go' })],
      hold: false,
      born: BORN,
    })
    play.after({ op: 'signal', name: 'go' })
    expect(changes(play)).toContain('01.00 completed gate')
  })
})

describe('suspending with stop hands back', () => {
  it('the message that the event had before its worker wrote one', () => {
    const play = new Play().after({
      op: 'init',
      root: spec('R'),
      forks: [spec('A', { msg: 'order 7' })],
      hold: false,
      born: BORN,
    })
    play.after({ op: 'start', event: '01.00', owner: 'w' }, { op: 'touch', event: '01.00', owner: 'w', msg: 'half' })
    play.after({ op: 'suspend', stop: true })
    expect(play.event('01.00')).toMatchObject({ status: 'init', msg: 'order 7' })
  })

  it('neither what another writer works on without a claim nor what waits, has ended or has open successors', () => {
    const play = Play.started('A', 'B', 'C', 'D')
    play.after({ op: 'start', event: '01.00', owner: 'w' }, { op: 'complete', event: '01.00', owner: 'w' })
    play.after(
      { op: 'start', event: '02.00', owner: 'w' },
      { op: 'advance', event: '02.00', owner: 'w', forks: [spec('X')] },
    )
    play.legacy(stream => stream.setStatus('03.00', 'inprocess'))
    play.do({ op: 'settle' })
    play.after({ op: 'suspend', stop: true })
    expect(play.statuses).toEqual([
      '00 inprocess',
      '01.00 completed',
      '02.00 inprocess',
      '03.00 inprocess',
      '04.00 init',
      '02.01.00 init',
    ])
    expect(play.do({ op: 'suspend', stop: true }).outcome).toBe('already')
  })
})

describe('a signal', () => {
  const waiting = (name: string, more: Partial<EventSpec> = {}) => spec(name, { signal: 'go', ...more })

  it('passes over an event that waits for one that failed', () => {
    const play = forked('block', spec('A'), spec('B')).after({ op: 'fail', event: '01.00' })
    play.after({ op: 'advance', event: '00', more: true, forks: [waiting('X', { after: ['01.00'] }), waiting('Y')] })
    expect(play.do({ op: 'signal', name: 'go' }).opened).toEqual(['04.00'])
  })

  it('is kept when the only event that waited for it has ended or was replaced', () => {
    const play = forked('continue', waiting('A'), spec('B')).after({ op: 'cancel', event: '01.00' })
    play.after({ op: 'signal', name: 'go' })
    expect(play.document.signals.map(({ name }) => name)).toEqual(['go'])
  })

  it('says what is full', () => {
    const play = forked('continue', spec('A'))
    for (let count = 0; count < 100; count++) play.after({ op: 'signal', name: `s${count}` })
    expect(play.refused({ op: 'signal', name: 'go' }).message).toBe(
      '100 signals are kept already, and no event waits for go; add one that does, then send it again',
    )
  })
})

it('a stream that is neither suspended nor held, and a stream that is no session, say so', () => {
  const play = forked('continue', spec('A'))
  expect(play.refused({ op: 'resume' }).message).toBe(
    'the stream is neither suspended nor held; there is nothing to resume',
  )
  expect(play.refused({ op: 'append', step: spec('X') }).message).toContain('the stream is no session')
  const session = new Play().after({ op: 'init', root: spec('Session'), session: true })
  session.after({ op: 'append', step: spec('A'), last: true })
  expect(session.refused({ op: 'append', step: spec('B') }).message).toContain('the session has its last step already')
})

it('a step of a session is refused with the reason if its own gate could never open', () => {
  const session = new Play().after({ op: 'init', root: spec('Session'), session: true })
  expect(session.code({ op: 'append', step: spec('A', { after: ['09.00'] }) })).toBe('bad-gate')
})
