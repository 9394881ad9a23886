import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StreamDocument } from '../../../../src/stream/document.ts'
import { applyOperation } from '../../../../src/stream/operations/apply.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { anInit, aScript, aStrangeDocument, briefOf, RUNS, type Step } from '../../../support/arbitraries.ts'
import { BORN, type Brief, complete, documentText, Play } from '../../../support/stream-builder.ts'

it.each(['none', 'dropped'] as const)(
  'a cached document changes like one that is read from text (foreign writers: %s)',
  foreign => {
    fc.assert(
      fc.property(anInit(), aScript(foreign), (init, script) => {
        const play = new Play()
        let kept = changed(play.document, init, play.nowMs)
        for (const step of script) {
          if (step.kind === 'wait') play.wait(step.ms)
          else if (step.kind === 'legacy') kept = foreignWrite(play, kept, step)
          else kept = changed(kept, briefOf(step.choice, kept.events), play.nowMs)
        }
      }),
      { numRuns: RUNS / 2 },
    )
  },
)

it('a cached unusual document changes like one that is read from text', () => {
  fc.assert(
    fc.property(aStrangeDocument(), aScript('none', 10), (events, script) => {
      const play = new Play(documentText(...events))
      let kept = play.document
      for (const step of script) {
        if (step.kind === 'wait') play.wait(step.ms)
        else if (step.kind === 'operation') kept = changed(kept, briefOf(step.choice, kept.events), play.nowMs)
      }
    }),
    { numRuns: RUNS / 2 },
  )
})

it('a cached document closes once the claim that kept it open has expired, also a claim that a heartbeat extended', () => {
  const claim = { 'lc:owner': 'w1', 'lc:fence': '1', 'lc:until': '2024-05-01T12:01:00Z' }
  const play = new Play(
    documentText(
      { id: '00', status: 'inprocess', next: '01.00', created: '2024-05-01T11:00:00Z' },
      { id: '01.00', prev: '00', status: 'inprocess', next: '01.01', ...claim },
      { id: '01.01', prev: '01.00', status: 'completed' },
    ),
  )
  const settled = (kept: StreamDocument, afterMs: number) =>
    changed(kept, { op: 'settle' }, play.nowMs + afterMs).events.map(({ status }) => status)
  const open = ['inprocess', 'inprocess', 'completed']
  const done = ['completed', 'completed', 'completed']

  const set = { op: 'set', event: '00', attributes: { tag: 'x' } } as const
  const kept = changed(play.document, set, play.nowMs)
  expect([settled(kept, 59_999), settled(kept, 60_000)]).toEqual([open, done])

  const touched = changed(kept, { op: 'touch', event: '01.00', owner: 'w1' }, play.nowMs + 30_000)
  expect([settled(touched, 89_999), settled(touched, 90_000)]).toEqual([open, done])
})

/** The next document: the same whether or not data of an earlier one are cached. */
function changed(document: StreamDocument, given: Brief, nowMs: number): StreamDocument {
  const author = { by: 'test', commandId: `${document.version}-${nowMs}` }
  const context = { nowMs, versionFloor: 0, born: BORN }
  const unknown = { ...document, events: [...document.events] }
  const applied = applyOperation(document, complete(given), author, context)
  expect(applied).toEqual(applyOperation(unknown, complete(given), author, context))
  return applied.kind === 'changed' ? applied.document : document
}

function foreignWrite(play: Play, kept: StreamDocument, step: Extract<Step, { kind: 'legacy' }>): StreamDocument {
  play.text = writeDocument(kept).text
  const target = kept.events[step.which % kept.events.length]
  play.legacy(stream => stream.setStatus(target?.id ?? '00', step.status), { rebuildEvents: step.rebuild })
  return play.document
}
