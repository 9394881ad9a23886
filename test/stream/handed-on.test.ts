import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyOperation } from '../../src/stream/apply.ts'
import type { StreamDocument } from '../../src/stream/document.ts'
import type { StreamEvent } from '../../src/stream/event.ts'
import { writeDocument } from '../../src/stream/xml-write.ts'
import { anInit, aScript, aStrangeDocument, briefOf, RUNS, type Step } from '../support/arbitraries.ts'
import { BORN, type Brief, complete, documentText, Play } from '../support/stream-builder.ts'

/** What happens next: so many ms pass, or somebody does something, seeing the events as they are. */
type Happening = number | ((events: readonly StreamEvent[]) => Brief)

const happenings = (script: readonly Step[]): Happening[] =>
  script.flatMap((step): readonly Happening[] => {
    if (step.kind === 'wait') return [step.ms]
    return step.kind === 'operation' ? [(events: readonly StreamEvent[]) => briefOf(step.choice, events)] : []
  })

/** Plays it twice: written and read again after each step, and handed on as it is, as in a group of changes. */
function expectAlike(play: Play, script: readonly Happening[]): void {
  let handedOn: StreamDocument = play.document
  for (const [at, step] of script.entries()) {
    if (typeof step === 'number') {
      play.wait(step)
      continue
    }
    const brief = step(play.document.events)
    const author = { by: 'test', commandId: `h${at}` }
    const context = { nowMs: play.nowMs, versionFloor: 0, born: BORN }
    const applied = applyOperation(handedOn, complete(brief), author, context)
    expect(applied.kind).toBe(play.apply(brief, author).kind)
    if (applied.kind === 'changed') handedOn = applied.document
    expect(writeDocument(handedOn).text).toBe(play.text)
  }
}

it('a document that is handed on becomes what it becomes when it is read again each time', () => {
  fc.assert(
    fc.property(anInit(), aScript('none'), (init, script) => expectAlike(new Play().after(init), happenings(script))),
    { numRuns: RUNS },
  )
})

it('so do strange documents', () => {
  fc.assert(
    fc.property(aStrangeDocument(), aScript('none', 8), (events, script) => {
      const play = new Play(documentText(...events))
      // Our first write gives it our form.
      if (
        play.apply({ op: 'set', event: play.document.events[0]?.id ?? '', attributes: { tag: 'x' } }).kind === 'changed'
      )
        expectAlike(play, happenings(script))
    }),
    { numRuns: RUNS },
  )
})

it('what waits for a claim to run out closes then', () => {
  const claim = { 'lc:owner': 'w1', 'lc:until': '2024-05-01T12:01:00Z' }
  const play = new Play(
    documentText(
      { id: '00', status: 'inprocess', next: '01.00|02.00' },
      { id: '01.00', prev: '00', status: 'inprocess', next: '01.01', ...claim },
      { id: '01.01', prev: '01.00', status: 'init' },
      { id: '02.00', prev: '00', status: 'init' },
    ),
  )
  play.do({ op: 'set', event: '02.00', attributes: { tag: 'x' } })
  expectAlike(play, [
    () => ({ op: 'complete', event: '01.01' }),
    60_000,
    () => ({ op: 'set', event: '02.00', attributes: { tag: 'y' } }),
  ])
  expect(play.status('01.00')).toBe('completed')
})
