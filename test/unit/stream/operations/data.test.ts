import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../../src/stream/data.ts'
import { EventStream } from '../../../../src/stream/event-stream.ts'
import { declaredGates } from '../../../../src/stream/journal/history.ts'
import { parseJournal } from '../../../../src/stream/journal/journal.ts'
import { upstreamResults } from '../../../../src/stream/upstream-results.ts'
import { Play, spec } from '../../../support/stream-builder.ts'

const data = (text: string) => dataOf(Buffer.from(text))
const eventOf = (play: Play, id: string) => play.document.events.find(event => event.id === id)

/** What an event works with, as `ID: text`. */
function resultsFor(play: Play, id: string): string[] {
  const { events, journal, prefix } = play.document
  const event = eventOf(play, id)
  if (event === undefined) throw new Error(`no ${id}`)
  const found = upstreamResults(EventStream.of(events), event, declaredGates(parseJournal(journal, prefix)))
  return found.map(({ event, data: { text } }) => `${event}: ${text}`)
}

describe('data in operations', () => {
  it('gives each new event its input, and an event its result when its own work ends', () => {
    const play = new Play()
      .after({
        op: 'init',
        root: spec('Start', { data: data('root') }),
        forks: [spec('A', { data: data('a') }), spec('B')],
        join: spec('J', { data: data('j') }),
      })
      .after({ op: 'advance', event: '01.00', next: spec('C', { data: data('c') }), forks: [], result: data('done a') })
      .after({ op: 'complete', event: '01.01', result: data('done c') })
      .after({ op: 'fail', event: '02.00', msg: 'no', result: data('why b') })
    const texts = play.document.events.map(({ id, input, result }) => [id, input?.text, result?.text])
    expect(texts).toEqual([
      ['00', 'root', undefined],
      ['01.00', 'a', 'done a'],
      ['02.00', undefined, 'why b'],
      ['01', 'j', undefined],
      ['01.01', 'c', 'done c'],
    ])
  })

  it('keeps only type, size and hash of data beside the document', () => {
    const long = data('x'.repeat(5_000))
    const play = new Play().after({ op: 'init', root: spec('Start', { data: long }), forks: [] })
    const { bytes: _, ...kept } = long
    expect(eventOf(play, '00')?.input).toEqual(kept)
  })

  it('a retry drops the result of the failed attempt and keeps the input, and results above', () => {
    const play = Play.started('A')
      .after({ op: 'advance', event: '01.00', next: spec('B', { data: data('b') }), forks: [], result: data('a') })
      .after({ op: 'fail', event: '01.01', result: data('half') })
      .after({ op: 'retry', event: '01.01' })
    expect(eventOf(play, '01.00')?.result?.text).toBe('a')
    expect(eventOf(play, '01.01')).toMatchObject({ status: 'init', input: { text: 'b' } })
    expect(eventOf(play, '01.01')?.result).toBeUndefined()
  })

  it('counts for the size of the stream', () => {
    const forks = Array.from({ length: 2_200 }, (_, at) => spec('N', { data: data(`${at}`.padEnd(4_000, 'x')) }))
    const applied = Play.started('A').apply({ op: 'advance', event: '01.00', forks })
    expect(applied).toMatchObject({ kind: 'refused', refusal: { code: 'stream-full' } })
  })
})

describe('the results that an event works with', () => {
  it('are those of the branches for a join, in the order of their ids, the last of each branch', () => {
    const play = Play.joined('J', 'A', 'B', 'C')
      .after({ op: 'advance', event: '01.00', next: spec('A2'), forks: [], result: data('a1') })
      .after({ op: 'complete', event: '01.01', result: data('a2') })
      .after({ op: 'advance', event: '02.00', next: spec('B2'), forks: [], result: data('b1') })
      .after({ op: 'complete', event: '02.01' })
      .after({ op: 'fail', event: '03.00', result: data('why') })
    expect(eventOf(play, '01')?.status).toBe('init')
    expect(resultsFor(play, '01')).toEqual(['01.01: a2', '02.00: b1', '03.00: why'])
  })

  it('are that of a nested join in place of those of its branches', () => {
    const play = Play.joined('J', 'A')
      .after({
        op: 'advance',
        event: '01.00',
        forks: [spec('X'), spec('Y')],
        join: spec('XY'),
        result: data('a'),
      })
      .after({ op: 'complete', event: '01.01.00', result: data('x') })
      .after({ op: 'complete', event: '01.02.00', result: data('y') })
    expect(resultsFor(play, '01.01')).toEqual(['01.01.00: x', '01.02.00: y'])
    expect(resultsFor(play, '01')).toEqual(['01.01.00: x', '01.02.00: y'])
    play.after({ op: 'complete', event: '01.01', result: data('xy') })
    expect(resultsFor(play, '01')).toEqual(['01.01: xy'])
  })

  it('are that of the event before it for any other event', () => {
    const play = Play.started('A').after({
      op: 'advance',
      event: '01.00',
      next: spec('B'),
      forks: [spec('C')],
      result: data('a'),
    })
    expect(resultsFor(play, '01.01')).toEqual(['01.00: a'])
    expect(resultsFor(play, '01.01.00')).toEqual(['01.00: a'])
    expect(resultsFor(play, '01.00')).toEqual([])
    expect(resultsFor(play, '00')).toEqual([])
  })

  it('leave out superseded events', () => {
    const play = Play.joined('J', 'A', 'B')
      .after({ op: 'advance', event: '01.00', next: spec('A2'), forks: [], result: data('a1') })
      .after({ op: 'complete', event: '01.01', result: data('old') })
      .after({ op: 'cancel', event: '02.00' })
    expect(resultsFor(play, '01')).toEqual(['01.01: old'])
  })
})
