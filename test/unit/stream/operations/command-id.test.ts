import { describe, expect, it } from 'vitest'
import { commandHash } from '../../../../src/stream/operations/command-hash.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { Play, spec } from '../../../support/stream-builder.ts'

const same = { commandId: 'job/7' }

describe('command id', () => {
  it('that was used before with the same arguments changes nothing and returns the first result as a duplicate', () => {
    const play = Play.joined('J', 'A')
    const first = play.do({ op: 'complete', event: '01.00' }, same)
    const before = play.after({ op: 'start', event: '01' }, { op: 'complete', event: '01', owner: 'w1' }).document
    expect(play.do({ op: 'complete', event: '01.00' }, same)).toEqual({ ...first, outcome: 'already', duplicate: true })
    expect(play.document).toBe(before)
    expect(first).toMatchObject({ version: 2, joined: ['01'], done: false })
  })

  it('returns from the first result whether the stream was done by then, and what was closed and added', () => {
    const play = new Play()
    const init = play.do({ op: 'init', forks: [spec('A')] }, { commandId: 'i' })
    const end = play.do({ op: 'complete', event: '01.00' }, same)
    expect(end).toMatchObject({ closed: ['00'], done: true })
    play.do({ op: 'settle' })
    expect(play.do({ op: 'complete', event: '01.00' }, same)).toMatchObject({ closed: ['00'], done: true, version: 2 })
    expect(play.do({ op: 'init', forks: [spec('A')] }, { commandId: 'i' })).toEqual({
      ...init,
      outcome: 'already',
      duplicate: true,
    })
  })

  it('of a stream whose events were removed returns that it was not done', () => {
    const play = new Play()
    play.do({ op: 'init' }, same)
    play.edit(text => text.replace(/ *<Event [^>]*>\n/g, ''))
    expect(play.do({ op: 'init' }, same)).toMatchObject({ duplicate: true, done: false })
  })

  it('of a start returns the claim again, with its current end', () => {
    const play = Play.started('A')
    const { claim } = play.do({ op: 'start', event: '01.00' }, same)
    expect(play.do({ op: 'start', event: '01.00' }, same)).toMatchObject({ duplicate: true, claim })
    play.wait(30_000).do({ op: 'touch', event: '01.00', fence: 2 })
    expect(play.do({ op: 'start', event: '01.00' }, same).claim).toEqual({
      ...claim,
      until: '2024-05-01T12:01:30.000Z',
    })
    play.wait(90_000).do({ op: 'start', event: '01.00', owner: 'w2' })
    expect(play.do({ op: 'start', event: '01.00' }, same).claim).toEqual({
      ...claim,
      until: '2024-05-01T12:00:00.000Z',
    })
  })

  it('that was used before with other arguments is refused command-id-reused', () => {
    const play = Play.started('A', 'B').after({ op: 'settle' })
    play.do({ op: 'complete', event: '01.00' }, same)
    expect(play.refused({ op: 'complete', event: '02.00' }, same)).toMatchObject({
      code: 'command-id-reused',
      event: '01.00',
      message: expect.stringContaining('"complete 01.00" in version 2'),
    })
    expect(play.code({ op: 'touch', event: '02.00' }, same)).toBe('command-id-reused')
  })

  it('is checked before precondition and final status', () => {
    const play = Play.started('A')
    play.do({ op: 'complete', event: '01.00' }, same)
    expect(play.do({ op: 'complete', event: '01.00' }, { ...same, ifVersion: 99 }).duplicate).toBe(true)
    expect(play.code({ op: 'complete', event: '01.00' }, { commandId: 'x', ifVersion: 99 })).toBe('changed')
  })

  it('is not found inside a reason or another id', () => {
    const play = Play.started('A', 'B')
    play.do({ op: 'complete', event: '01.00' }, { commandId: 'job/77', why: ' cmd="job/7"' })
    expect(play.do({ op: 'complete', event: '02.00' }, same).duplicate).toBe(false)
  })
})

describe('command hash', () => {
  const author = { commandId: 'c', by: 'a' }
  const hash = (operation: Operation, why?: string) =>
    commandHash(operation, why === undefined ? author : { ...author, why })
  const start: Operation = { op: 'start', event: '01', owner: 'w', claimMs: 1 }

  it('is 16 hex digits, whatever the order of the arguments and of their fields', () => {
    expect(hash(start)).toMatch(/^[0-9a-f]{16}$/)
    expect(hash({ event: '01', claimMs: 1, owner: 'w', op: 'start' })).toBe(hash(start))
    const advance = (next: { name: string }): Operation => ({ op: 'advance', event: '01', forks: [], next })
    expect(hash(advance({ name: 'N', ...{ topic: 't' } }))).toBe(hash(advance({ ...{ topic: 't' }, name: 'N' })))
  })

  it('is stable: ids in existing journals must match', () => {
    expect(hash({ op: 'cancel', event: '01.00' })).toBe('39c2311c6efc1f88')
  })

  it('ignores by, why, times and fence', () => {
    expect(commandHash(start, { commandId: 'd', by: 'b', why: 'x' })).toBe(hash(start))
    expect(hash({ ...start, claimMs: 2, fence: 7 })).toBe(hash(start))
    expect(hash({ op: 'init', root: spec('R'), forks: [], hold: false, born: 'x' })).toBe(
      hash({ op: 'init', root: spec('R'), forks: [], hold: false, born: 'y' }),
    )
  })

  it('ignores a message that only repeats the reason', () => {
    expect(hash({ op: 'fail', event: '01', msg: 'one' }, 'one')).toBe(
      hash({ op: 'fail', event: '01', msg: 'two' }, 'two'),
    )
    expect(hash({ op: 'fail', event: '01', msg: 'one' }, 'two')).not.toBe(hash({ op: 'fail', event: '01' }, 'two'))
  })

  it('depends on operation, target and owner, and on the message of a new event even if it equals the reason', () => {
    const advance = (msg: string): Operation => ({ op: 'advance', event: '01', forks: [], next: { name: 'N', msg } })
    const all = [
      hash({ op: 'cancel', event: '01' }),
      hash({ op: 'cancel' }),
      hash({ op: 'abort', event: '01' }),
      hash(start),
      hash({ ...start, owner: 'v' }),
      hash(advance('x'), 'x'),
      hash(advance('y'), 'x'),
      hash(advance('y'), 'y'),
    ]
    expect(new Set(all).size).toBe(all.length - 1)
  })
})
