import { describe, expect, it } from 'vitest'
import { isoTime } from '../../../../src/stream/time/dates.ts'
import { Play, START_MS, spec } from '../../../support/stream-builder.ts'

const DAY = 86_400_000
const CENTURY = 100 * 366 * DAY

describe('the times that an event waits for', () => {
  it.each([
    ['a negative delay', { delay: '-00:00:05' }, 'the delay -00:00:05 is not a time from now, at most 100 years'],
    ['a delay of more than 100 years', { delay: '36601.00:00:00' }, 'is not a time from now, at most 100 years'],
    ['an unreadable delay', { delay: 'soon' }, 'the delay soon is not a time from now'],
    ['an unreadable time', { wake: 'tomorrow' }, 'the time tomorrow to wait for is unreadable'],
    ['a time of two days ago', { wake: isoTime(START_MS - DAY - 1) }, 'to wait for is long past'],
    ['a time too far ahead', { wake: isoTime(START_MS + CENTURY + 1) }, 'is more than 100 years ahead'],
  ])('%s is refused, and nothing is written', (_, gate, message) => {
    const play = Play.started('A')
    const refusal = play.refused({ op: 'advance', event: '01.00', next: spec('B', gate) })
    expect(refusal).toMatchObject({ code: 'bad-gate', event: '01.00' })
    expect(refusal.message).toMatch(/^B: /)
    expect(refusal.message).toContain(message)
  })

  it.each([
    ['a delay of 100 years', { delay: '36600.00:00:00' }, 'inprocess'],
    ['a time of a day ago', { wake: isoTime(START_MS - DAY) }, 'init'],
    ['a time 100 years ahead', { wake: isoTime(START_MS + CENTURY) }, 'inprocess'],
    ['no delay at all', { delay: '00:00:00' }, 'init'],
  ])('%s is accepted', (_, gate, status) => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', next: spec('B', gate) })
    expect(play.status('01.01')).toBe(status)
  })
})

describe('the number of events that one gate names', () => {
  const plan = (needs: number) => [
    ...Array.from({ length: needs }, (_, at) => ({ name: `S${at}`, thread: at, needs: [] })),
    { name: 'Last', thread: needs, needs: Array.from({ length: needs }, (_, at) => at) },
  ]
  const init = (needs: number) => ({ op: 'init', root: spec('R'), forks: [], steps: plan(needs) }) as const

  it('is at most 100', () => {
    expect(new Play().after(init(100)).document.events).toHaveLength(102)
    const refusal = new Play().refused(init(101))
    expect(refusal).toEqual({
      code: 'bad-gate',
      event: '',
      status: '',
      message: 'Last could never begin: it needs 101 steps; at most 100 are possible',
    })
  })

  it('counts only steps of the plan', () => {
    const steps = [{ name: 'A', thread: 0, needs: [7] }]
    expect(new Play().refused({ op: 'init', root: spec('R'), forks: [], steps }).message).toBe(
      'A could never begin: it needs step 8 of a plan of 1',
    )
  })
})

describe('a signal', () => {
  it('is not given to an event whose gate can no longer open', () => {
    const steps = [
      { name: 'A', thread: 0, needs: [] },
      { name: 'B', thread: 0, needs: [0], signal: 'go' },
    ]
    const play = new Play().after({ op: 'init', root: spec('R'), forks: [], steps, onFailure: 'block' })
    play.after({ op: 'fail', event: '01.00' }, { op: 'signal', name: 'go' })
    expect(play.event('01.01').lc.signal).toBe('go')
    expect(play.document.signals).toHaveLength(1)
    play.after({ op: 'skip', event: '01.00' })
    expect(play.status('01.01')).toBe('init')
    expect(play.document.signals).toEqual([])
  })

  it('is refused beyond 100 kept ones, in words that say what to do; one that is waited for still comes', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', next: spec('B', { signal: 'go' }) })
    for (let at = 0; at < 100; at += 1) play.after({ op: 'signal', name: `s${at}` })
    const refusal = play.refused({ op: 'signal', name: 'more' })
    expect(refusal.code).toBe('signals-full')
    expect(refusal.message).toBe(
      '100 signals are kept already, and no event waits for more; add one that does, then send it again',
    )
    expect(play.do({ op: 'signal', name: 'go' }).opened).toEqual(['01.01'])
    expect(play.document.signals).toHaveLength(100)
  })
})

it('suspend --stop gives an event the message back that its worker had replaced', () => {
  const play = new Play().after({ op: 'init', root: spec('R'), forks: [spec('A', { msg: 'ref:1' })] })
  play.after({ op: 'start', event: '01.00', owner: 'w' }, { op: 'touch', event: '01.00', owner: 'w', msg: 'half' })
  expect(play.event('01.00').msg).toBe('half')
  play.after({ op: 'suspend', stop: true })
  expect(play.event('01.00').msg).toBe('ref:1')
  const [handedBack] = play.journal.at(-1)?.changes ?? []
  expect(handedBack).toMatchObject({ event: '01.00', from: 'inprocess', to: 'init', how: 'cascade' })
})
