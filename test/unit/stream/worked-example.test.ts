import { expect, it } from 'vitest'
import { Play, spec } from '../../support/stream-builder.ts'

const search = (count: number) => Array.from({ length: count }, () => spec('SearchStart'))

it('the worked example of stream-format 3 gives the documented result step by step', () => {
  const play = new Play()
  play.do({ op: 'init', root: spec('OrderStart', { trackingId: 't1' }), forks: search(3), join: spec('OrderDone') })
  expect(play.statuses).toEqual(['00 inprocess', '01.00 init', '02.00 init', '03.00 init', '01 inprocess'])
  expect(play.event('00').next).toBe('01.00|02.00|03.00|01')
  expect(play.event('01').lc.join).toBe('wait')
  expect(play.document.events.map(event => event.trackingId)).toEqual(Array(5).fill('t1'))

  for (const id of ['01.00', '02.00']) {
    const { claim } = play.do({ op: 'start', event: id })
    expect(claim).toMatchObject({ owner: 'w1', fence: play.document.version, attempt: 1 })
    play.do({ op: 'advance', event: id, next: spec('SearchDone'), fence: claim?.fence ?? 0 })
  }
  const failed = play.do({ op: 'fail', event: '03.00', msg: 'no answer' })
  expect(failed).toMatchObject({ closed: [], joined: [], done: false })
  expect(play.statuses.slice(5)).toEqual(['01.01 init', '02.01 init'])

  play.do({ op: 'start', event: '01.01' })
  expect(play.do({ op: 'advance', event: '01.01', forks: search(4), owner: 'w1' }).added).toEqual([
    '01.01.00',
    '01.02.00',
    '01.03.00',
    '01.04.00',
  ])
  expect(play.do({ op: 'advance', event: '02.01', forks: search(3) }).added).toEqual([
    '02.01.00',
    '02.02.00',
    '02.03.00',
  ])
  for (const id of ['01.01.00', '01.03.00', '02.01.00', '02.02.00']) play.do({ op: 'complete', event: id })
  const waiting = play.document.events.filter(event => event.status === 'init').map(event => event.id)
  expect(waiting).toEqual(['01.02.00', '01.04.00', '02.03.00'])

  expect(play.do({ op: 'complete', event: '01.02.00' }).closed).toEqual([])
  expect(play.do({ op: 'complete', event: '01.04.00' }).closed).toEqual(['01.01', '01.00'])
  const last = play.do({ op: 'complete', event: '02.03.00' })
  expect(last).toMatchObject({ closed: ['02.01', '02.00'], joined: ['01'], done: false })
  expect(play.event('01')).toMatchObject({ status: 'init', lc: { opened: '2024-05-01T12:00:00.000Z' } })
  expect(play.event('01').lc.join).toBeUndefined()

  play.do({ op: 'start', event: '01' })
  expect(play.do({ op: 'complete', event: '01', owner: 'w1' })).toMatchObject({ closed: ['00'], done: true })
  expect(play.event('00')).toMatchObject({
    status: 'completed',
    msg: 'WithError',
    lc: { outcome: 'errors', failed: '03.00' },
  })
  expect(play.event('01.00').lc.outcome).toBeUndefined()
})
