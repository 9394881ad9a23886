import { type StreamView, viewOf } from '../../../src/ops/read-stream.ts'
import { isFinal } from '../../../src/stream/event.ts'
import { briefOf, type Step } from '../../support/arbitraries.ts'
import { type Brief, documentText, type EventText, Play } from '../../support/stream-builder.ts'

/** The stream of a play in the form of a reader. */
export function viewOfPlay(play: Play, name = 'orders/1'): StreamView {
  return viewOfText(play.text, play.nowMs, name)
}

/** A foreign document in the form of a reader. */
export function viewOfEvents(events: readonly EventText[], nowMs: number): StreamView {
  return viewOfText(documentText(...events), nowMs, 'orders/1')
}

function viewOfText(text: string, nowMs: number, name: string): StreamView {
  const body = Buffer.from(text)
  const lease = { state: 'available' } as const
  return viewOf({ name, etag: '1', size: body.length, modifiedMs: nowMs, lease, body, versionFloor: 0 }, nowMs)
}

/** Any stream after these operations were attempted. */
export function played(init: Brief, script: readonly Step[]): Play {
  const play = new Play()
  play.do(init)
  for (const step of script) {
    if (step.kind === 'wait') play.wait(step.ms)
    else if (step.kind === 'operation') play.apply(briefOf(step.choice, play.document.events))
    else {
      const open = play.document.events.filter(event => !isFinal(event))
      const target = open[step.which % Math.max(1, open.length)]
      if (target !== undefined)
        play.legacy(stream => stream.setStatus(target.id, step.status), { rebuildEvents: step.rebuild })
    }
  }
  return play
}

/** The worked example in short: a branch that is done after a retry, one that failed, a join that ran. */
export function aWholeStory(): Play {
  const play = Play.joined('Done', 'Search', 'Pay')
  play.wait(1_000).after({ op: 'start', event: '01.00' })
  play.wait(2_000).after({ op: 'fail', event: '01.00', owner: 'w1', msg: 'no answer' })
  play.wait(500).do({ op: 'retry', event: '01.00' }, { by: 'ann', why: 'once more' })
  play.wait(500).after({ op: 'start', event: '01.00', owner: 'w2' })
  play.wait(1_000).after({ op: 'complete', event: '01.00', owner: 'w2', msg: '12 results' })
  play.do({ op: 'cancel', event: '02.00' }, { by: 'ann', why: 'not wanted' })
  play.wait(1_000).after({ op: 'start', event: '01', owner: 'w1' })
  return play.wait(4_000)
}
