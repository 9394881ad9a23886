import { describe, expect, it } from 'vitest'
import { differences, eventsAfter } from '../../../../src/stream/journal/versions.ts'
import { Play } from '../../../support/stream-builder.ts'

/** The differences between two versions of a play; the later one defaults to the current one. */
function between(play: Play, from: number, to = play.document.version) {
  const { journal, document } = play
  const at = (version: number) =>
    eventsAfter(
      document.events,
      journal.filter(tx => tx.version <= version),
      journal.filter(tx => tx.version > version),
    )
  const steps = journal.filter(tx => tx.version > from && tx.version <= to)
  return differences(at(from), at(to), steps)
}

const brief = (play: Play, from: number, to?: number) =>
  between(play, from, to).map(
    ({ id, kind, before, after, last }) => `${id} ${kind} ${before?.status} ${after?.status} v${last?.version}`,
  )

describe('the differences of events between two versions', () => {
  it('list added and changed events with old and new status and the last transaction', () => {
    const play = Play.started('A', 'B')
    play.do({ op: 'advance', event: '01.00', next: { name: 'C' } }, { by: 'ann', why: 'found' })
    play.do({ op: 'start', event: '01.01' }, { by: 'bob' })
    expect(brief(play, 1)).toEqual(['01.00 changed init inprocess v2', '01.01 added undefined inprocess v3'])
    expect(brief(play, 1, 2)).toEqual(['01.00 changed init inprocess v2', '01.01 added undefined init v2'])
    expect(brief(play, 2)).toEqual(['01.01 changed init inprocess v3'])
    expect(brief(play, 3)).toEqual([])
    const [first, second] = between(play, 1)
    expect(first).toMatchObject({ times: 1, last: { by: 'ann', why: 'found' } })
    expect(second).toMatchObject({ times: 2, last: { by: 'bob' }, after: { lc: { owner: 'w1' } } })
  })

  it('list a change of the claim alone, and events that changed back', () => {
    const play = Play.started('A', 'B').after({ op: 'start', event: '01.00' }, { op: 'start', event: '02.00' })
    play.wait(120_000).after({ op: 'start', event: '01.00', owner: 'w2' })
    play.after({ op: 'release', event: '02.00', owner: 'w1' })
    expect(between(play, 3)[0]).toMatchObject({
      kind: 'changed',
      before: { status: 'inprocess', lc: { owner: 'w1', attempt: '1' } },
      after: { status: 'inprocess', lc: { owner: 'w2', attempt: '2' } },
    })
    play.after({ op: 'start', event: '02.00' }, { op: 'release', event: '02.00', owner: 'w1' })
    expect(between(play, 5)).toMatchObject([{ id: '02.00', kind: 'again', times: 2 }])
  })

  it('list the names of attributes that were set', () => {
    const play = Play.started('A').after({ op: 'set', event: '01.00', attributes: { tag: 'x', key: 'k' } })
    play.after({ op: 'set', event: '01.00', attributes: { tag: 'y' } })
    expect(between(play, 1)).toMatchObject([{ id: '01.00', kind: 'changed', times: 2, attributes: ['tag', 'key'] }])
  })

  it('list events that a retry further up replaced, although no transaction names them', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', next: { name: 'C' } })
    play.after({ op: 'cancel', event: '01.00' }).after({ op: 'retry', event: '01.00' })
    const replaced = between(play, 3).find(({ id }) => id === '01.01')
    expect(replaced).toMatchObject({
      kind: 'changed',
      times: 0,
      last: { version: 4 },
      after: { lc: { superseded: '4' } },
    })
  })

  it('list events that a foreign writer removed', () => {
    const play = Play.started('A', 'B').edit(text => text.replace(/ *<Event [^>]*id="02\.00"[^>]*>\n/, ''))
    play.after({ op: 'start', event: '01.00' })
    expect(brief(play, 1)).toEqual(['01.00 changed init inprocess v3', '02.00 removed init undefined v2'])
  })
})
