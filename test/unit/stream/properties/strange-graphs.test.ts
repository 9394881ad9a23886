import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isFinal } from '../../../../src/stream/event.ts'
import { replayStatuses } from '../../../../src/stream/journal/history.ts'
import { aScript, aStrangeDocument, briefOf, RUNS } from '../../../support/arbitraries.ts'
import { documentText, type EventText, Play } from '../../../support/stream-builder.ts'

function strange(check: (before: Play['document'], play: Play, op: string) => void): void {
  fc.assert(
    fc.property(aStrangeDocument(), aScript('none', 6), (events: readonly EventText[], script) => {
      const play = new Play(documentText(...events))
      for (const step of script) {
        if (step.kind === 'wait') play.wait(step.ms)
        if (step.kind !== 'operation') continue
        const given = briefOf(step.choice, play.document.events)
        const before = play.document
        if (play.apply(given).kind === 'changed') check(before, play, given.op)
      }
    }),
    { numRuns: RUNS * 2 },
  )
}

it('in any graph, final events change only by retry, and superseded events never', () => {
  strange((before, play, op) => {
    before.events.forEach((event, at) => {
      const counts = before.events.findIndex(({ id }) => id === event.id) === at
      if (!counts) expect(play.document.events[at]).toEqual(event)
      else if (op !== 'retry' && isFinal(event)) expect(play.status(event.id)).toBe(event.status)
    })
  })
})

it('in any graph, every write is settled and its journal gives the statuses', () => {
  strange((_, play) => {
    const statuses = new Map([...play.document.events].reverse().map(event => [event.id, event.status]))
    expect(replayStatuses(play.journal)).toEqual(statuses)
    expect(play.apply({ op: 'settle' })).toMatchObject({ kind: 'unchanged' })
  })
})

it('in any graph, cancel ends every event that counts', () => {
  fc.assert(
    fc.property(aStrangeDocument(), events => {
      const play = new Play(documentText(...events))
      // A refusal as already final because of pending closings, with nothing written.
      play.apply({ op: 'settle' })
      play.apply({ op: 'cancel' })
      play.document.events.forEach((event, at) => {
        if (play.stream.counts(at)) expect(isFinal(event)).toBe(true)
      })
    }),
    { numRuns: RUNS * 2 },
  )
})
