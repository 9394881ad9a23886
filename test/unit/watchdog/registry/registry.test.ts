import { describe, expect, it } from 'vitest'
import type { SeenLimit } from '../../../../src/stream/operations/operation.ts'
import type { Sightings } from '../../../../src/watchdog/plan.ts'
import { markOf } from '../../../../src/watchdog/registry/columns.ts'
import { type Kept, Roll } from '../../../../src/watchdog/registry/registry.ts'

const NEVER = Number.POSITIVE_INFINITY
const kept = (more: Partial<Kept> = {}): Kept => {
  const dueMs = more.dueMs ?? NEVER
  return { status: 'inprocess', openEvents: 2, dueMs, nextLookMs: dueMs, ...more }
}
const at = (ms: number) => ({ nowMs: 1_000_000 + ms, atMs: ms })
const NOW = at(0).nowMs
const seen: SeenLimit = { event: '01.00', status: 'init', attempt: '', fence: '', timestamp: '', dueMs: NOW }
const sightings: Sightings = new Map([['01.00', { seen, sinceMs: 0, dueSinceMs: 0, isTold: false }]])

/** A sweep that meets these streams. */
function sweep(
  roll: Roll,
  streams: Readonly<Record<string, string>>,
  ms = 0,
  what: Kept | 'unread' = kept(),
): string[] {
  roll.beginSweep()
  const moved: string[] = []
  for (const [name, etag] of Object.entries(streams)) {
    if (roll.isUnmoved(name, etag)) continue
    moved.push(name)
    roll.met(name, etag, what === 'unread' ? undefined : what, at(ms))
  }
  roll.endSweep()
  return moved
}

function names(roll: Roll): string[] {
  const all: string[] = []
  roll.visit(name => all.push(name))
  return all.sort()
}

describe('a roll', () => {
  it('knows which streams moved', () => {
    const roll = new Roll()
    expect(sweep(roll, { a: '"1"', b: '"1"' })).toEqual(['a', 'b'])
    expect(sweep(roll, { a: '"1"', b: '"2"', c: '"1"' })).toEqual(['b', 'c'])
    expect(sweep(roll, { a: '"1"', b: '"2"', c: '"1"' })).toEqual([])
  })

  it('forgets what a sweep did not meet, and gives its place to others', () => {
    const roll = new Roll()
    sweep(roll, { a: '"1"', b: '"1"' })
    roll.looked('a', '"1"', kept({ dueMs: NOW }), sightings, 0)
    roll.setbacks.beginPass()
    roll.setbacks.note('a')
    expect(roll.setbacks.lastPassOf('a')).toBe(1)
    sweep(roll, { b: '"1"' })
    expect(names(roll)).toEqual(['b'])
    expect(roll.agenda.soonestLookMs()).toBe(NEVER)
    sweep(roll, { b: '"1"', c: '"1"' }, 5)
    expect(roll.size).toBe(2)
    expect(roll.sightingsOf('c').size).toBe(0)
    expect(roll.setbacks.lastPassOf('c')).toBe(0)
    expect(roll.moves.versionOf('c')).toBeUndefined()
    expect(roll.knownSinceMs('c', '"1"')).toBe(5)
  })

  it('forgets nothing in a sweep that is cut off', () => {
    const roll = new Roll()
    sweep(roll, { a: '"1"', b: '"1"' })
    roll.beginSweep()
    roll.isUnmoved('a', '"1"')
    expect(names(roll)).toEqual(['a', 'b'])
    expect(sweep(roll, { a: '"1"', b: '"1"' })).toEqual([])
  })

  it('knows since when a stream stands as it does', () => {
    const roll = new Roll()
    sweep(roll, { a: '"1"' }, 3)
    sweep(roll, { a: '"1"' }, 7)
    expect(roll.knownSinceMs('a', '"1"')).toBe(3)
    expect(roll.knownSinceMs('a', '"2"')).toBeUndefined()
    sweep(roll, { a: '"2"' }, 9)
    expect(roll.knownSinceMs('a', '"2"')).toBe(9)
    roll.looked('a', '"3"', kept(), new Map(), 11)
    expect(roll.knownSinceMs('a', '"3"')).toBe(11)
    roll.changed('a', 1)
    expect(roll.knownSinceMs('a', '"3"')).toBeUndefined()
  })

  it('keeps many streams apart', () => {
    const roll = new Roll()
    const streams = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`s${n}`, `"${n}"`]))
    sweep(roll, streams)
    roll.agenda.postpone('s4999', NOW, 7)
    expect(roll.agenda.toLookAt(7)).toEqual(['s4999'])
    expect(sweep(roll, streams)).toEqual([])
    expect(roll.size).toBe(5_000)
  })

  it('looks first at what has to be looked at for longest', () => {
    const roll = new Roll()
    sweep(roll, { a: '1', b: '1', c: '1' })
    roll.agenda.postpone('a', NEVER, 30)
    roll.agenda.postpone('b', NEVER, 10)
    roll.agenda.postpone('c', NEVER, 20)
    sweep(roll, { a: '1', b: '1', c: '1', d: '1' }, 0, 'unread')
    expect(roll.agenda.toLookAt(20)).toEqual(['d', 'b', 'c'])
    expect(roll.agenda.soonestLookMs()).toBe(Number.NEGATIVE_INFINITY)
  })

  it('puts a stream off to the earliest of several times', () => {
    const roll = new Roll()
    sweep(roll, { a: '1' }, 0, kept({ dueMs: 50, nextLookMs: 50 }))
    roll.agenda.postpone('a', 40, 60)
    expect(roll.agenda.soonestLookMs()).toBe(50)
    roll.agenda.postpone('a', 45, 30)
    expect(roll.agenda.soonestLookMs()).toBe(30)
    roll.visit((_, __, ___, dueMs) => expect(dueMs).toBe(40))
  })

  it('looks by the limits again after the clock was set back', () => {
    const roll = new Roll()
    sweep(roll, { a: '1', b: '1' }, 0, kept({ dueMs: 50, nextLookMs: 90 }))
    roll.met('b', '2', undefined, at(0))
    roll.agenda.wasSetBack()
    expect(roll.agenda.toLookAt(49)).toEqual(['b'])
    expect(roll.agenda.toLookAt(50)).toEqual(['b', 'a'])
  })

  it('does not keep what it saw of events once none of a stream is past its limit', () => {
    const roll = new Roll()
    sweep(roll, { a: '1' })
    roll.looked('a', '1', kept({ dueMs: NOW }), sightings, 0)
    sweep(roll, { a: '2' }, 0, kept({ dueMs: NOW }))
    expect(roll.sightingsOf('a').size).toBe(1)
    sweep(roll, { a: '3' }, 0, kept({ dueMs: NOW + 1 }))
    expect(roll.sightingsOf('a').size).toBe(0)
  })

  it('keeps what was told of an event through moves of its stream', () => {
    const roll = new Roll()
    sweep(roll, { a: '1' })
    roll.looked('a', '1', kept({ dueMs: NOW }), sightings, 0)
    roll.told('a', '01.00')
    roll.told('a', '02.00')
    roll.told('b', '01.00')
    sweep(roll, { a: '2' }, 0, 'unread')
    expect(roll.sightingsOf('a').get('01.00')?.isTold).toBe(true)
  })

  it('counts what the breaker holds back until the stream is looked at, moved, left or gone', () => {
    const roll = new Roll()
    const hold = () => {
      sweep(roll, { a: '1', b: '1' })
      roll.agenda.holdBack('a', 0, 2)
      roll.agenda.holdBack('a', 0, 1)
      roll.agenda.holdBack('b', 0, 1)
      expect(roll.agenda.heldEvents(() => true)).toBe(4)
    }
    hold()
    roll.looked('a', '1', kept(), new Map(), 0)
    expect(roll.agenda.heldEvents(() => true)).toBe(1)
    sweep(roll, { a: '1', b: '2' })
    expect(roll.agenda.heldEvents(() => true)).toBe(0)
    sweep(roll, {})
    hold()
    sweep(roll, { a: '1' })
    expect(roll.agenda.heldEvents(() => true)).toBe(3)
    roll.agenda.leave('a', 0)
    expect(roll.agenda.heldEvents(() => true)).toBe(0)
  })

  it('knows of which state observers were told', () => {
    const roll = new Roll()
    expect(roll.moves.knows('a')).toBe(false)
    sweep(roll, { a: '1' })
    expect(roll.moves.knows('a')).toBe(false)
    expect(roll.moves.versionOf('a')).toBeUndefined()
    roll.moves.tell('a', 4)
    expect([roll.moves.knows('a'), roll.moves.knows('a', '1'), roll.moves.knows('a', '2')]).toEqual([true, true, false])
    sweep(roll, { a: '2' })
    expect(roll.moves.knows('a')).toBe(false)
    expect(roll.moves.versionOf('a')).toBe(4)
  })

  it('names fifty statuses, and all others alike', () => {
    const roll = new Roll()
    for (let n = 0; n < 1_000; n++) {
      roll.met(`s${n}`, '1', kept({ status: `strange ${n}` }), at(0))
    }
    expect(roll.statusOf('s0')).toBe('strange 0')
    expect(roll.statusOf('s999')).toBe('other')
    expect(roll.statusOf('nobody')).toBe('')
  })
})

describe('the mark of an ETag', () => {
  it('is another for another ETag, as services make them', () => {
    const marks = new Set<number>()
    for (let n = 0; n < 50_000; n++) marks.add(markOf(`"0x8DE${n.toString(16).toUpperCase().padStart(12, '0')}"`))
    for (let n = 0; n < 50_000; n++) marks.add(markOf(`"${n}"`))
    expect(marks.size).toBe(100_000)
    for (const mark of marks) if (!(Number.isSafeInteger(mark) && mark > 0)) throw new Error(`${mark} is no mark`)
  })

  it('is not the mark of none', () => {
    expect(markOf('')).toBeGreaterThan(0)
  })
})
