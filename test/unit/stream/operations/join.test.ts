import { describe, expect, it } from 'vitest'
import { Play, spec } from '../../../support/stream-builder.ts'

const waiting = () => Play.joined('Done', 'A', 'B')

describe('join', () => {
  it('is written with the fork as next step of the thread, last in next, inprocess, waiting, without an owner', () => {
    const play = waiting()
    expect(play.event('00').next).toBe('01.00|02.00|01')
    expect(play.event('01')).toMatchObject({
      name: 'Done',
      status: 'inprocess',
      prev: '00',
      lc: { wait: 'yes', join: 'wait' },
    })
  })

  it('becomes init in the transaction that ends the last branch, and exactly one finisher is informed', () => {
    const play = waiting()
    expect(play.do({ op: 'complete', event: '01.00' }).joined).toEqual([])
    const last = play.wait(1_000).do({ op: 'fail', event: '02.00' })
    expect(last).toMatchObject({ joined: ['01'], closed: [], done: false })
    expect(play.event('01')).toMatchObject({ status: 'init', lc: { opened: '2024-05-01T12:00:01.000Z' } })
    expect(play.do({ op: 'settle' }).joined).toEqual([])
  })

  it.each([
    { op: 'start', event: '01', takeOver: true },
    { op: 'advance', event: '01', next: spec('N') },
    { op: 'complete', event: '01' },
    { op: 'fail', event: '01' },
  ] as const)('while it waits, $op is refused join-waiting', operation => {
    expect(waiting().refused(operation)).toMatchObject({ code: 'join-waiting', event: '01', status: 'inprocess' })
  })

  it('while it waits, keeps the fork open; if canceled, counts as a failure below the fork', () => {
    const play = waiting().after({ op: 'cancel', event: '01' }, { op: 'complete', event: '01.00' })
    expect(play.do({ op: 'complete', event: '02.00' })).toMatchObject({ joined: [], closed: ['00'] })
    expect(play.event('00').lc.failed).toBe('01')
  })

  it('waits for branches that were added later', () => {
    const play = waiting().after({ op: 'advance', event: '00', forks: [spec('C')], more: true })
    play.after({ op: 'complete', event: '01.00' }, { op: 'complete', event: '02.00' })
    expect(play.do({ op: 'complete', event: '03.00' }).joined).toEqual(['01'])
  })

  it('waits for the forks of its branches', () => {
    const play = waiting().after({ op: 'advance', event: '01.00', next: spec('N') }, { op: 'complete', event: '02.00' })
    expect(play.status('01')).toBe('inprocess')
    expect(play.do({ op: 'complete', event: '01.01' })).toMatchObject({ closed: ['01.00'], joined: ['01'] })
  })

  it('waits while a successor is missing', () => {
    const play = waiting().edit(text => text.replace('next="01.00|', 'next="01.00|09.00|'))
    play.after({ op: 'complete', event: '01.00' }, { op: 'complete', event: '02.00' })
    expect(play.status('01')).toBe('inprocess')
  })

  it('once released is an ordinary event, and later steps continue the count of its thread', () => {
    const play = waiting().after({ op: 'complete', event: '01.00' }, { op: 'complete', event: '02.00' })
    play.after({ op: 'start', event: '01' })
    expect(play.do({ op: 'advance', event: '01', next: spec('Ship'), owner: 'w1' }).added).toEqual(['02'])
    expect(play.do({ op: 'complete', event: '02' }).closed).toEqual(['01', '00'])
  })

  it('of a held stream is released when its branches are canceled', () => {
    const play = new Play().after({ op: 'init', hold: true, forks: [spec('A')], join: spec('J') })
    expect(play.do({ op: 'cancel', event: '01.00' })).toMatchObject({ joined: ['01'], closed: [] })
  })
})
