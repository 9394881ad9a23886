import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isFinal } from '../../../../src/stream/event.ts'
import type { Applied } from '../../../../src/stream/operations/apply.ts'
import { observedDeadline } from '../../../../src/stream/operations/cancel-abort.ts'
import type { ObservedDeadline } from '../../../../src/stream/operations/operation.ts'
import { deadlineOf } from '../../../../src/stream/time/deadlines.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { anInit, aScript, briefOf, RUNS, type Step } from '../../../support/arbitraries.ts'
import { Play } from '../../../support/stream-builder.ts'
import { HOUR, settled } from '../operations/expired-play.ts'

/** Most events have a timeout of minutes, some of a day: with the waits about half of the observations are due. */
const aLook = () => fc.record({ which: fc.nat(40), whole: fc.boolean(), waitMs: fc.constantFrom(0, HOUR, 25 * HOUR) })

it('an expiry is applied exactly if the event is as observed and due; otherwise nothing is changed', () => {
  const met = { applied: 0, refused: 0, final: 0 }
  fc.assert(
    fc.property(anInit(), aScript('dropped', 12), aLook(), aScript('dropped', 3), (init, first, look, between) => {
      const play = new Play().after(init)
      for (const step of first) perform(play, step)
      play.wait(look.waitMs)
      const seen = seenAny(play, look.which)
      if (seen === undefined) return
      for (const step of between) perform(play, step)
      const expected = model(play, seen)
      const before = play.text
      const applied = play.apply({ op: 'abort', expired: seen, ...(look.whole ? {} : { event: seen.event }) })
      expect(outcomeOf(applied)).toBe(expected)
      if (expected === 'applied') met.applied++
      else {
        expect(play.text).toBe(before)
        expectOnlySettled(play, applied)
        met[expected === 'already-final' ? 'final' : 'refused']++
      }
    }),
    { numRuns: RUNS * 3 },
  )
  // The run must include all of them, or it proves nothing.
  for (const count of Object.values(met)) expect(count).toBeGreaterThan(RUNS / 20)
})

function perform(play: Play, step: Step): void {
  if (step.kind === 'wait') play.wait(step.ms)
  else if (step.kind === 'operation') play.apply(briefOf(step.choice, play.document.events))
  else {
    const open = play.document.events.filter(event => !isFinal(event))
    const id = open[step.which % Math.max(1, open.length)]?.id
    if (id !== undefined) play.legacy(stream => stream.setStatus(id, step.status), { rebuildEvents: step.rebuild })
  }
}

/** One of the events with a deadline. */
function seenAny(play: Play, which: number): ObservedDeadline | undefined {
  const { stream, read } = settled(play)
  const seen = stream.events.flatMap(event => {
    const limit = deadlineOf(stream, event, read)
    return limit === undefined ? [] : [observedDeadline(event, limit.dueMs)]
  })
  return seen[which % Math.max(1, seen.length)]
}

/** The expected result: everything computed again from the current document. */
function model(play: Play, seen: ObservedDeadline): string {
  const { stream, read } = settled(play)
  const event = stream.find(seen.event)
  if (event === undefined) return 'event-not-found'
  if (isFinal(event)) return 'already-final'
  const letter = [event.status, event.lc.attempt ?? '', event.lc.fence ?? '', event.timestamp]
  const isSame = letter.join('\n') === [seen.status, seen.attempt, seen.fence, seen.timestamp].join('\n')
  const due = deadlineOf(stream, event, read)?.dueMs
  return isSame && due === seen.dueMs && due <= play.nowMs ? 'applied' : 'showed-life'
}

function outcomeOf(applied: Applied): string {
  if (applied.kind === 'refused') return applied.refusal.code
  return applied.kind === 'changed' ? 'applied' : 'unchanged'
}

/** A refusal may write the closing that a foreign writer left open, and nothing else. */
function expectOnlySettled(play: Play, applied: Applied): void {
  if (applied.kind !== 'refused' || applied.document === undefined) return
  expect(applied.refusal.code).toBe('already-final')
  const again = new Play(writeDocument(applied.document).text)
  expect(again.document.events.map(({ id, status }) => [id, status])).toEqual(
    settled(play).document.events.map(({ id, status }) => [id, status]),
  )
}
