import type { StreamDocument } from '../../../../src/stream/document.ts'
import { isFinal } from '../../../../src/stream/event.ts'
import type { ChangeResult } from '../../../../src/stream/operations/operation.ts'
import { briefOf, type Step } from '../../../support/arbitraries.ts'
import { type Brief, Play } from '../../../support/stream-builder.ts'

/** Inspects a change: the document before, and the play after it. */
export type Check = (before: StreamDocument, play: Play, given: Brief, result: ChangeResult) => void

/** Plays a script and inspects each of our writes. */
export function perform(init: Brief, script: readonly Step[], check: Check): Play {
  const play = new Play()
  play.do(init)
  for (const step of script) {
    if (step.kind === 'wait') play.wait(step.ms)
    else if (step.kind === 'legacy') legacyStep(play, step)
    else {
      const given = briefOf(step.choice, play.document.events)
      const before = freeze(play.document)
      const applied = play.apply(given)
      if (applied.kind === 'changed') check(before, play, given, applied.result)
    }
  }
  return play
}

/** Lets the .NET library give an open event a status. */
export function legacyStep(play: Play, { which, status, rebuild }: Extract<Step, { kind: 'legacy' }>): void {
  const open = play.document.events.filter(event => !isFinal(event))
  const target = open[which % Math.max(1, open.length)]
  if (target === undefined || (status === 'inprocess' && target.status !== 'init')) return
  play.legacy(stream => stream.setStatus(target.id, status), { rebuildEvents: rebuild })
}

/** From now on a change in place is detected. */
export function freeze(document: StreamDocument): StreamDocument {
  for (const event of document.events) {
    Object.freeze(event.lc)
    Object.freeze(event)
  }
  Object.freeze(document.events)
  return Object.freeze(document)
}
