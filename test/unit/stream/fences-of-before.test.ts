import { describe, expect, it } from 'vitest'
import { Play } from '../../support/stream-builder.ts'

/** All attributes of ours, dropped as by a writer that creates each document anew from its own class. */
const DROPPED = [/<lc:journal[\s\S]*<\/lc:journal>\s*/, / xmlns:lc="[^"]*"/, / lc:\w+="[^"]*"/g]

/** `01.00` was claimed by `w1` with fence 2; then another writer dropped every trace of it. */
function dropped(): Play {
  const play = Play.started('A', 'B').after({ op: 'start', event: '01.00' })
  return play.edit(text => DROPPED.reduce((left, part) => left.replace(part, ''), text))
}

const WORK = ['touch', 'release', 'advance', 'complete', 'fail'] as const

describe('a fence from before another writer dropped our attributes', () => {
  it.each([...WORK, 'start'] as const)('is refused if the event has not been claimed since: %s', op => {
    expect(dropped().code({ op, event: '01.00', fence: 2 })).toBe('fenced')
    expect(dropped().after({ op: 'complete', event: '02.00' }).code({ op, event: '01.00', fence: 2 })).toBe('fenced')
  })

  it.each(WORK)('does not authorize another owner after the fences started over: %s', op => {
    const play = dropped()
    expect(play.do({ op: 'start', event: '01.00', owner: 'w2', takeOver: true }).claim?.fence).toBe(2)
    expect(play.refused({ op, event: '01.00', fence: 2, owner: 'w1' })).toMatchObject({
      code: 'fenced',
      message: expect.stringContaining('now belongs to w2, not to w1'),
    })
    expect(play.do({ op: 'touch', event: '01.00', fence: 2, owner: 'w2' }).outcome).toBe('done')
  })

  it('is sufficient without an owner: a script may give the fence alone', () => {
    const play = Play.started('A').after({ op: 'start', event: '01.00' })
    expect(play.do({ op: 'complete', event: '01.00', fence: 2 }).outcome).toBe('done')
  })
})
