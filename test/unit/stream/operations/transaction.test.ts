import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_DOCUMENT, type StreamDocument } from '../../../../src/stream/document.ts'
import { EventStream } from '../../../../src/stream/event-stream.ts'
import { applyOperation } from '../../../../src/stream/operations/apply.ts'
import { observedDeadline } from '../../../../src/stream/operations/cancel-abort.ts'
import type { ObservedDeadline } from '../../../../src/stream/operations/operation.ts'
import { settledDocument } from '../../../../src/stream/operations/transaction.ts'
import { deadlineOf, timeReaderFor } from '../../../../src/stream/time/deadlines.ts'
import { writeDocument } from '../../../../src/stream/xml/write.ts'
import { anInit, aScript, aStrangeDocument, briefOf, RUNS } from '../../../support/arbitraries.ts'
import { BORN, documentText, Play, spec } from '../../../support/stream-builder.ts'

const contextOf = (play: Play) => ({ nowMs: play.nowMs, versionFloor: 0, born: BORN })
const look = (play: Play) => settledDocument(play.document, contextOf(play))
const eventOf = (document: StreamDocument, id: string) => new EventStream(document.events).find(id)

/** A watchdog's observation of an event. */
function seenIn(document: StreamDocument, id: string, nowMs: number): ObservedDeadline {
  const stream = new EventStream(document.events)
  const event = stream.find(id)
  const limit = event && deadlineOf(stream, event, timeReaderFor(document, { nowMs }).read)
  if (event === undefined || limit === undefined) throw new Error(`${id} has no limit`)
  return observedDeadline(event, limit.dueMs)
}

describe('a settled document', () => {
  it('needs no settling and has the same events if the document is ours', () => {
    const play = Play.joined('J', 'A', 'B').after({ op: 'start', event: '01.00' })
    const { document, isSettleDue } = look(play)
    expect(isSettleDue).toBe(false)
    expect(document.events).toEqual(play.document.events)
  })

  it('is empty for an empty document', () => {
    expect(settledDocument(EMPTY_DOCUMENT, contextOf(new Play()))).toEqual({
      document: EMPTY_DOCUMENT,
      isSettleDue: false,
      moves: false,
    })
  })

  it('has closed the events that a foreign writer left open', () => {
    const play = Play.started('A', 'B')
    play.edit(text => text.replaceAll('status="init"', 'status="completed"'))
    const { document, isSettleDue, moves } = look(play)
    expect({ isSettleDue, moves }).toEqual({ isSettleDue: true, moves: true })
    expect(eventOf(document, '00')?.status).toBe('completed')
    expect(play.status('00')).toBe('inprocess')
  })

  it('has the attributes that a foreign writer dropped', () => {
    const play = Play.joined('J', 'A').after({ op: 'start', event: '01.00' })
    play.legacy(() => {}, { rebuildEvents: true })
    const { document, isSettleDue, moves } = look(play)
    expect({ isSettleDue, moves }).toEqual({ isSettleDue: true, moves: false })
    expect(eventOf(document, '01')?.lc.join).toBe('wait')
    expect(eventOf(document, '01.00')?.lc).toMatchObject({ owner: 'w1', fence: '2', attempt: '1' })
  })

  it('needs no settling if a foreign writer changed only other attributes', () => {
    const play = Play.started('A').edit(text => text.replace(' id="01.00"', ' id="01.00" tag="x"'))
    expect(look(play).isSettleDue).toBe(false)
  })

  it('leaves its source document unchanged', () => {
    const play = Play.joined('J', 'A').legacy(stream => stream.setStatus('01.00', 'completed'), { rebuildEvents: true })
    for (const event of play.document.events) Object.freeze(Object.freeze(event).lc)
    Object.freeze(play.document.events)
    const before = writeDocument(play.document).text
    look(play)
    expect(writeDocument(play.document).text).toBe(before)
  })

  it('equals the result of settle, and is due if and only if settle would write', () => {
    let settled = 0
    fc.assert(
      fc.property(anInit(), aScript('dropped'), (init, script) => {
        const play = new Play().after(init)
        for (const step of script) {
          if (step.kind === 'wait') play.wait(step.ms)
          else if (step.kind === 'operation') play.apply(briefOf(step.choice, play.document.events))
          else {
            const target = play.document.events[step.which % play.document.events.length]
            play.legacy(stream => stream.setStatus(target?.id ?? '00', step.status), { rebuildEvents: step.rebuild })
          }
        }
        settled += compareWithSettle(play.document, contextOf(play))
      }),
      { numRuns: RUNS },
    )
    expect(settled).toBeGreaterThan(0)
  })

  it('is at rest after one pass, on a cycle too', () => {
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess' },
        { id: 'x', status: 'init', prev: '00' },
        { id: '1.0', status: 'aborted', prev: 'x', next: '02.00' },
        { id: '02.00', status: 'init', next: 'x' },
      ),
    )
    const { document } = settledDocument(play.document, { nowMs: play.nowMs, versionFloor: 0, born: '' })
    expect(document.events.map(({ id, status }) => `${id} ${status}`)).toContain('02.00 completed')
  })

  it('equals the result of settle for unusual documents too', () => {
    fc.assert(
      fc.property(aStrangeDocument(), events => {
        const play = new Play(documentText(...events))
        compareWithSettle(play.document, contextOf(play))
      }),
      { numRuns: RUNS },
    )
  })
})

/** Returns 1 if the document needs settling. */
function compareWithSettle(document: StreamDocument, context: ReturnType<typeof contextOf>): 0 | 1 {
  const look = settledDocument(document, context)
  const applied = applyOperation(document, { op: 'settle' }, { commandId: 's', by: 'test' }, context)
  expect(applied.kind === 'changed').toBe(look.isSettleDue)
  if (applied.kind !== 'changed') return 0
  expect(look.document.events).toEqual(applied.document.events)
  return 1
}

describe('an expiry planned from the settled document', () => {
  /** The second attempt is claimed without heartbeats; a foreign writer has dropped our attributes of it. */
  function silentAndDropped(): Play {
    const play = new Play()
    play.after({ op: 'init', forks: [spec('A', { timeout: '01:00:00' }), spec('B')] }, { op: 'start', event: '01.00' })
    play.wait(61_000).after({ op: 'start', event: '01.00', owner: 'w2' }).wait(3_600_000)
    return play.legacy(stream => stream.setStatus('02.00', 'inprocess'), { rebuildEvents: true })
  }

  it('is applied although a foreign writer dropped claim and attempt', () => {
    const play = silentAndDropped()
    expect(play.event('01.00').lc).toEqual({})
    const expired = seenIn(look(play).document, '01.00', play.nowMs)
    expect(expired).toMatchObject({ attempt: '2', fence: '3' })
    expect(play.do({ op: 'abort', event: '01.00', msg: 'silent', expired }).outcome).toBe('done')
    expect(play.status('01.00')).toBe('aborted')
  })

  it('is applied although they were dropped between inspection and lease, every time', () => {
    const play = silentAndDropped()
    const expired = seenIn(look(play).document, '01.00', play.nowMs)
    play.do({ op: 'settle' })
    play.wait(1_000).legacy(stream => stream.setStatus('02.00', 'completed'), { rebuildEvents: true })
    expect(play.do({ op: 'abort', event: '01.00', expired }).outcome).toBe('done')
  })

  it('would always be refused if it was planned from the stored text', () => {
    const play = silentAndDropped()
    const expired = seenIn(play.document, '01.00', play.nowMs)
    expect(play.code({ op: 'abort', event: '01.00', expired })).toBe('showed-life')
  })

  it('of a join that a foreign writer released without a record is applied once that is written', () => {
    const play = new Play().after({ op: 'init', forks: [spec('A')], join: spec('J', { timeout: '00:00:00' }) })
    play.legacy(stream => stream.setStatus('01.00', 'completed'), { rebuildEvents: true })
    expect(look(play).isSettleDue).toBe(true)
    play.after({ op: 'settle' }).wait(1)
    expect(look(play).isSettleDue).toBe(false)
    const expired = seenIn(look(play).document, '01', play.nowMs)
    expect(play.do({ op: 'abort', event: '01', expired }).outcome).toBe('done')
  })
})
