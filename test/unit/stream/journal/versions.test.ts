import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFinal, type StreamEvent } from '../../../../src/stream/event.ts'
import { type ForeignWrite, findForeignWrite } from '../../../../src/stream/journal/history.ts'
import type { Transaction } from '../../../../src/stream/journal/journal.ts'
import { eventsAfter } from '../../../../src/stream/journal/versions.ts'
import { entryOf } from '../../../../src/stream/operations/transaction.ts'
import { anInit, aScript, briefOf, RUNS, type Step } from '../../../support/arbitraries.ts'
import { type Brief, documentText, Play, spec } from '../../../support/stream-builder.ts'

/** The events of a version, replayed from the current document. */
function replayed(play: Play, version: number): StreamEvent[] {
  const past = play.journal.filter(tx => tx.version <= version)
  const since = play.journal.filter(tx => tx.version > version)
  const foreign = findForeignWrite(play.document, 0)
  return eventsAfter(play.document.events, past, foreign === undefined ? since : [...since, unrecorded(foreign)])
}

function unrecorded(foreign: ForeignWrite): Transaction {
  return entryOf(foreign, '', 0)
}

/** Plays a script; returns the events of every version that was written. */
function perform(play: Play, init: Brief, script: readonly Step[]): Map<number, readonly StreamEvent[]> {
  const written = new Map<number, readonly StreamEvent[]>()
  const keep = () => written.set(play.document.version, play.document.events)
  play.do(init)
  keep()
  for (const step of script) {
    if (step.kind === 'wait') play.wait(step.ms)
    else if (step.kind === 'legacy') legacyStep(play, step)
    else if (play.apply(briefOf(step.choice, play.document.events)).kind === 'changed') keep()
  }
  return written
}

function legacyStep(play: Play, { which, status, rebuild }: Extract<Step, { kind: 'legacy' }>): void {
  const open = play.document.events.filter(event => !isFinal(event))
  const target = open[which % Math.max(1, open.length)]
  if (target === undefined || (status === 'inprocess' && target.status !== 'init')) return
  play.legacy(stream => stream.setStatus(target.id, status), { rebuildEvents: rebuild })
}

const structure = ({ id, name, status, prev, next }: StreamEvent) => ({ id, name, status, prev, next })

function claims(event: StreamEvent) {
  const { owner, fence, attempt, join, opened, superseded } = event.lc
  return { ...structure(event), owner, fence, attempt, join, opened, superseded }
}

describe('the stream as it was at an earlier version', () => {
  it('has the structure, statuses, claims, joins, attempts and superseded events of every version that was written', () => {
    fc.assert(
      fc.property(anInit(), aScript('none'), (init, script) => {
        const play = new Play()
        for (const [version, events] of perform(play, init, script))
          expect(replayed(play, version).map(claims)).toEqual(events.map(claims))
      }),
      { numRuns: RUNS },
    )
  })

  it.each(['kept', 'dropped'] as const)('has the right structure and statuses beside foreign writers: %s', foreign => {
    fc.assert(
      fc.property(anInit(), aScript(foreign), (init, script) => {
        const play = new Play()
        for (const [version, events] of perform(play, init, script))
          expect(replayed(play, version).map(structure)).toEqual(events.map(structure))
      }),
      { numRuns: RUNS },
    )
  })

  it('at the current version equals the current stream, except for claim ends', () => {
    const play = Play.joined('Join', 'A', 'B').after({ op: 'start', event: '01.00' }, { op: 'fail', event: '02.00' })
    const now = play.document.events.map(event => {
      const { until: _, ...lc } = event.lc
      return { ...event, lc }
    })
    expect(replayed(play, play.document.version)).toEqual(now)
  })

  it('has the message and time of an event from before its later retry', () => {
    const play = Play.started('A', 'B').wait(1_000)
    play.do({ op: 'fail', event: '01.00', msg: 'no answer' }, { why: 'no answer' })
    const failedAt = play.event('01.00').timestamp
    play.wait(1_000).after({ op: 'retry', event: '01.00' }, { op: 'complete', event: '01.00', msg: 'fine' })
    expect(replayed(play, 2)[1]).toMatchObject({ status: 'aborted', msg: 'no answer', timestamp: failedAt })
    expect(replayed(play, 3)[1]).toMatchObject({ status: 'init', msg: '' })
    expect(replayed(play, 4)[1]).toMatchObject({ status: 'completed', msg: 'fine' })
  })

  it('has the message that an event was created with before it ended', () => {
    const play = new Play().after({ op: 'init', root: spec('Start'), forks: [spec('A', { msg: 'ref:1' })] })
    play.after({ op: 'complete', event: '01.00', msg: 'fine' })
    expect(play.event('01.00').msg).toBe('fine')
    expect(replayed(play, 1)[1]?.msg).toBe('ref:1')
  })

  it('shows that a parent that was reopened later had ended with errors', () => {
    const play = Play.started('A', 'B').after({ op: 'complete', event: '01.00' }, { op: 'fail', event: '02.00' })
    expect(play.event('00')).toMatchObject({ status: 'completed', lc: { outcome: 'errors' } })
    play.after({ op: 'retry', event: '02.00' })
    expect(replayed(play, 3)[0]).toMatchObject({ status: 'completed', msg: 'WithError', lc: { outcome: 'errors' } })
    expect(replayed(play, 4)[0]?.lc.outcome).toBeUndefined()
  })

  it('has id and status of an event that a foreign writer has removed since', () => {
    const play = Play.started('A', 'B').edit(text => text.replace(/ *<Event [^>]*id="02\.00"[^>]*>\n/, ''))
    play.after({ op: 'start', event: '01.00' })
    expect(play.stream.find('02.00')).toBeUndefined()
    expect(replayed(play, 1).map(event => `${event.id} ${event.status}`)).toEqual([
      '00 inprocess',
      '01.00 init',
      '02.00 init',
    ])
    expect(replayed(play, 2).map(event => event.id)).toEqual(['00', '01.00'])
  })

  it('begins with the adoption of a document that another writer made', () => {
    const text = documentText(
      { id: '00', status: 'inprocess', next: '01' },
      { id: '01', status: 'completed', prev: '00' },
    )
    const play = new Play(text).after({ op: 'settle' })
    expect(play.journal.map(({ op }) => op)).toEqual(['adopt', 'settle'])
    expect(replayed(play, 1).map(event => `${event.id} ${event.status}`)).toEqual(['00 inprocess', '01 completed'])
    expect(replayed(play, 2).map(event => event.status)).toEqual(['completed', 'completed'])
  })

  it('treats an event whose addition is not in the journal as present from the beginning', () => {
    const play = Play.started('A').after({ op: 'complete', event: '01.00' })
    const [, last] = play.journal
    if (last === undefined) throw new Error('no second transaction')
    expect(eventsAfter(play.document.events, [], [last]).map(event => event.status)).toEqual(['inprocess', 'init'])
  })

  it('omits later events with the id of an earlier one: the journal does not know them', () => {
    const text = documentText({ id: '00', status: 'inprocess' }, { id: '01', prev: '00' }, { id: '01', prev: '00' })
    const play = new Play(text).after({ op: 'cancel', event: '01' })
    expect(replayed(play, 1).map(event => event.id)).toEqual(['00', '01'])
  })
})
