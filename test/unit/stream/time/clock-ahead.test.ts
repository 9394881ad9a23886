import { describe, expect, it } from 'vitest'
import { settledDocument } from '../../../../src/stream/operations/transaction.ts'
import { summarize } from '../../../../src/stream/summarize.ts'
import { timeReaderFor } from '../../../../src/stream/time/dates.ts'
import { dueMs } from '../../../../src/stream/time/deadlines.ts'
import { BORN, documentText, Play, START_MS, spec } from '../../../support/stream-builder.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const YEAR = 365 * DAY
const iso = (ms: number) => new Date(ms).toISOString()

/** `01.00` is claimed by a worker whose clock is ahead; `02.00` waits. By the store's clock it is START_MS again. */
function claimedAhead(ms: number): Play {
  const forks = [spec('A', { timeout: '00:10:00' }), spec('B', { timeout: '00:10:00' })]
  const play = new Play().after({ op: 'init', root: spec('Start'), forks })
  return play.wait(ms).after({ op: 'start', event: '01.00' }).wait(-ms)
}

describe('a write by a clock a year ahead', () => {
  it('is not continued: the next write has the time of the store', () => {
    const play = claimedAhead(YEAR).wait(MINUTE).after({ op: 'complete', event: '02.00' })
    expect(play.document.at).toBe(iso(START_MS + MINUTE))
    expect(play.event('02.00').timestamp).toBe(iso(START_MS + MINUTE))
    expect(play.journal.at(-1)?.at).toBe(iso(START_MS + MINUTE))
  })

  it('is corrected by any next change: its deadlines and claims count from then', () => {
    const play = claimedAhead(YEAR).wait(MINUTE).after({ op: 'complete', event: '02.00' })
    expect(play.event('01.00')).toMatchObject({
      timestamp: iso(START_MS + MINUTE),
      lc: { owner: 'w1', fence: '2', until: iso(START_MS + 2 * MINUTE) },
    })
    expect(play.do({ op: 'touch', event: '01.00', fence: 2 }).claim?.until).toBe(iso(START_MS + 2 * MINUTE))
  })

  it('is also corrected for an event that it added: the event counts as opened now', () => {
    const play = Play.started('A').wait(YEAR)
    play.do({ op: 'advance', event: '01.00', next: spec('C', { timeout: '00:10:00' }) })
    play.wait(-YEAR).after({ op: 'settle' })
    expect(play.event('01.01')).toMatchObject({ created: iso(START_MS + YEAR), lc: { opened: iso(START_MS) } })
  })

  it('needs settling once, without a journal entry', () => {
    const play = claimedAhead(YEAR)
    const context = { nowMs: START_MS, versionFloor: 0, born: BORN }
    expect(settledDocument(play.document, context).isSettleDue).toBe(true)
    expect(play.do({ op: 'settle' })).toMatchObject({ outcome: 'done', version: 2 })
    expect(play.journal.map(({ op }) => op)).toEqual(['init', 'start'])
    expect(settledDocument(play.document, context).isSettleDue).toBe(false)
    expect(play.do({ op: 'settle' }).outcome).toBe('already')
  })

  it('does not block its event for a year: a refused operation corrects the times', () => {
    const play = claimedAhead(YEAR)
    const applied = play.apply({ op: 'start', event: '01.00', owner: 'w2' })
    if (applied.kind !== 'refused' || applied.document === undefined) throw new Error('refused, and written')
    expect(applied.refusal.code).toBe('claimed')
    expect(applied.document.events[1]?.lc.until).toBe(iso(START_MS + MINUTE))
  })

  it('leaves ended and superseded events and given dates unchanged', () => {
    const root = spec('Start', { timeout: iso(START_MS + 2 * YEAR) })
    const play = new Play().after({ op: 'init', root, forks: [spec('A'), spec('B')] })
    play.wait(YEAR).after({ op: 'complete', event: '01.00' }).wait(-YEAR).after({ op: 'settle' })
    expect(play.event('01.00').timestamp).toBe(iso(START_MS + YEAR))
    expect(play.event('00').timeout).toBe(iso(START_MS + 2 * YEAR))
  })

  it('is accepted if the stream began ahead: this clock may be slow', () => {
    const play = Play.started('A', 'B').after({ op: 'start', event: '01.00' }).wait(-YEAR)
    play.after({ op: 'complete', event: '02.00' })
    expect(play.document.at).toBe(iso(START_MS - YEAR))
    expect(play.event('01.00')).toMatchObject({ timestamp: iso(START_MS), lc: { until: iso(START_MS + MINUTE) } })
  })
})

describe('a write by a clock up to three days ahead', () => {
  it('is never followed by an earlier time', () => {
    const play = claimedAhead(3 * DAY).after({ op: 'complete', event: '02.00' })
    expect(play.event('02.00').timestamp).toBe(iso(START_MS + 3 * DAY))
    expect(play.event('01.00').timestamp).toBe(iso(START_MS + 3 * DAY))
  })
})

describe('a deadline', () => {
  const TIMEOUT = 10 * MINUTE
  const dueOf = (play: Play, lastModifiedMs?: number) => {
    const clock = { nowMs: play.nowMs, ...(lastModifiedMs === undefined ? {} : { lastModifiedMs }) }
    const { read } = timeReaderFor(play.document, clock)
    return dueMs(play.stream, play.event('01.00'), read)
  }

  it.each([
    ['ahead of the clock counts from the time of the last write', 6 * MINUTE, -MINUTE, TIMEOUT - MINUTE],
    ['a year ahead too', YEAR, -MINUTE, TIMEOUT - MINUTE],
    ['of a write that was ahead too counts from now', YEAR, YEAR, TIMEOUT],
    ['of a write at an unknown time counts from now', YEAR, undefined, TIMEOUT],
    ['ahead by a usual clock difference counts from its own time', 5 * MINUTE, -MINUTE, TIMEOUT + 5 * MINUTE],
  ])('%s', (_, aheadMs, writtenMs, due) => {
    const written = writtenMs === undefined ? undefined : START_MS + writtenMs
    expect(dueOf(claimedAhead(aheadMs), written)).toBe(START_MS + due)
  })

  it('that is ahead of the clock is summarized as such', () => {
    const play = claimedAhead(YEAR).after({ op: 'complete', event: '02.00' })
    const options = { nowMs: play.nowMs, lastModifiedMs: play.nowMs, lastBy: '' }
    expect(summarize(play.document, options).dueMs).toBe(START_MS + TIMEOUT)
  })

  it('of another writer that is ahead by another amount is corrected by our next change', () => {
    const ahead = { created: '01/05/2024 10:00:00', timestamp: '05/01/2026 12:00:00' }
    const play = new Play(
      documentText(
        { id: '00', status: 'inprocess', next: '01.00|02.00' },
        { id: '01.00', status: 'inprocess', prev: '00', timeout: '00:10:00', ...ahead },
        { id: '02.00', status: 'init', prev: '00' },
      ),
    )
    play.do({ op: 'complete', event: '02.00' })
    expect(play.event('01.00')).toMatchObject({ created: ahead.created, timestamp: iso(START_MS) })
  })
})
