import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFinal, type StreamEvent } from '../../../../src/stream/event.ts'
import { restoreDroppedAttributes } from '../../../../src/stream/journal/history.ts'
import { anInit, aProcess, aProcessScript, aScript, briefOf, RUNS } from '../../../support/arbitraries.ts'
import { Play } from '../../../support/stream-builder.ts'
import { freeze, legacyStep, perform } from './perform.ts'

describe('applyOperation', () => {
  const ARGUMENTS = { by: 'test', commandId: 'once' }

  it('is a function: the same input gives the same output, which reads back unchanged', () => {
    fc.assert(
      fc.property(anInit(), aScript('dropped'), aScript('none', 1), (init, script, [last]) => {
        const play = perform(init, script, () => {})
        if (last?.kind !== 'operation') return
        const document = freeze(play.document)
        const given = briefOf(last.choice, document.events)
        const first = play.apply(given, { commandId: 'once' })
        const again = new Play(play.text)
        again.document = document
        again.nowMs = play.nowMs
        expect(again.apply(given, { commandId: 'once' })).toEqual(first)
        if (first.kind !== 'changed') return
        const { sum: _, ...written } = play.document
        const { sum: __, ...made } = first.document
        expect(written).toEqual({ ...made, attributes: written.attributes })
      }),
      { numRuns: RUNS },
    )
  })

  it('repeated with the same command id changes nothing and returns the first result', () => {
    fc.assert(
      fc.property(anInit(), aScript('kept'), aScript('none', 1), (init, script, [last]) => {
        const play = perform(init, script, () => {})
        if (last?.kind !== 'operation') return
        const given = briefOf(last.choice, play.document.events)
        const first = play.apply(given, ARGUMENTS)
        if (first.kind !== 'changed' || given.op === 'touch') return
        const again = play.do(given, ARGUMENTS)
        const { refused: _, claim, ...result } = first.result
        expect(again).toMatchObject({ ...result, outcome: 'already', duplicate: true })
        expect(again.claim).toEqual(given.op === 'start' ? claim : undefined)
      }),
      { numRuns: RUNS },
    )
  })

  it('finds the gates, attempts, skips and undo steps of a process in its journal', () => {
    fc.assert(
      fc.property(aProcess(), aProcessScript('kept', 40), (init, script) => {
        perform(init, script, (_, play) => {
          expect(restoreDroppedAttributes(play.document.events, play.journal)).toBe(play.document.events)
        })
      }),
      { numRuns: RUNS },
    )
  })

  it('finds the claims, joins and retries of the document in its journal', () => {
    fc.assert(
      fc.property(anInit(), aScript('kept', 40), (init, script) => {
        perform(init, script, (_, play) => {
          expect(restoreDroppedAttributes(play.document.events, play.journal)).toBe(play.document.events)
        })
      }),
      { numRuns: RUNS },
    )
  })

  it.each([
    ['a stream', anInit, aScript],
    ['a process', aProcess, aProcessScript],
  ] as const)('loses nothing essential of %s to a writer that drops our attributes', (_, anyInit, anyScript) => {
    fc.assert(
      fc.property(anyInit(), anyScript('kept', 40), fc.nat(40), (init, script, which) => {
        const play = perform(init, script, () => {})
        play.wait(86_400_000)
        const [kept, dropped] = [false, true].map(rebuild => {
          const other = new Play(play.text)
          other.nowMs = play.nowMs
          legacyStep(other, { kind: 'legacy', which, status: 'completed', rebuild })
          other.apply({ op: 'settle' }, { commandId: 'last' })
          return other.document.events.map(essentialsOf)
        })
        expect(dropped).toEqual(kept)
      }),
      { numRuns: RUNS },
    )
  })
})

function essentialsOf({ id, status, lc }: StreamEvent) {
  const { owner, fence, claimed, paused, suspended, suspendedBy, info, ...kept } = { ...lc, ...NOT_ESSENTIAL }
  // The owner of a claim during which a foreign writer ended the event does not matter, nor do its pauses.
  const open = isFinal({ status }) ? {} : { owner, fence, claimed, paused, suspended, suspendedBy, info }
  // The summary of an ended event is written anew from the events as they are now.
  const summary = isFinal({ status }) ? { outcome: undefined, failed: undefined } : {}
  return { id, status, ...kept, ...open, ...summary }
}

const NOT_ESSENTIAL = { until: undefined, msg: undefined, onDue: undefined }
