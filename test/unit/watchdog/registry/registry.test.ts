import { describe, expect, it } from 'vitest'
import type { ObservedDeadline } from '../../../../src/stream/operations/operation.ts'
import type { Observations } from '../../../../src/watchdog/plan.ts'
import type { KnownStream, WatchedState } from '../../../../src/watchdog/registry/known-stream.ts'
import { StreamRegistry } from '../../../../src/watchdog/registry/registry.ts'

const NEVER = Number.POSITIVE_INFINITY
const state = (more: Partial<WatchedState> = {}): WatchedState => {
  const dueMs = more.dueMs ?? NEVER
  return { status: 'inprocess', openEvents: 2, dueMs, nextInspectionMs: dueMs, ...more }
}
const at = (ms: number) => ({ nowMs: 1_000_000 + ms, atMs: ms })
const NOW = at(0).nowMs
const seen: ObservedDeadline = { event: '01.00', status: 'init', attempt: '', fence: '', timestamp: '', dueMs: NOW }
const NOTHING: Observations = new Map()
const observations: Observations = new Map([['01.00', { seen, sinceMs: 0, dueSinceMs: 0, isNotified: false }]])

/** A sweep that finds these streams; returns those whose rows it needed. */
function sweep(
  registry: StreamRegistry,
  streams: Readonly<Record<string, string>>,
  ms = 0,
  what: WatchedState | 'unread' = state(),
): string[] {
  registry.beginSweep()
  const changed: string[] = []
  for (const [name, etag] of Object.entries(streams)) {
    if (registry.skip(name, etag, () => false)) continue
    changed.push(name)
    registry.sawRow(name, etag, what === 'unread' ? undefined : what, at(ms))
  }
  registry.endSweep()
  return changed
}

function names(registry: StreamRegistry): string[] {
  return [...registry.values()].map(({ name }) => name).sort()
}

/** A stream that the registry must know. */
function known(registry: StreamRegistry, name: string): KnownStream {
  return registry.get(name) ?? expect.fail(`${name} is not known`)
}

const due = (registry: StreamRegistry, nowMs: number) => registry.dueForInspection(nowMs).map(({ name }) => name)

/** An inspection of a stream that is known. */
function inspect(
  registry: StreamRegistry,
  name: string,
  etag: string,
  found: WatchedState,
  observed = NOTHING,
  atMs = 0,
): void {
  registry.recordInspection(known(registry, name), etag, found, observed, atMs)
}

describe('a registry', () => {
  it('knows which streams changed since the last sweep', () => {
    const registry = new StreamRegistry()
    expect(sweep(registry, { a: '"1"', b: '"1"' })).toEqual(['a', 'b'])
    expect(sweep(registry, { a: '"1"', b: '"2"', c: '"1"' })).toEqual(['b', 'c'])
    expect(sweep(registry, { a: '"1"', b: '"2"', c: '"1"' })).toEqual([])
  })

  it('forgets streams that a sweep did not find', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '"1"', b: '"1"' })
    inspect(registry, 'a', '"1"', state({ dueMs: NOW }), observations, 0)
    registry.beginPass()
    registry.recordOutcome('a', true)
    expect(known(registry, 'a').failedInPass).toBe(1)
    sweep(registry, { b: '"1"' })
    expect(names(registry)).toEqual(['b'])
    expect(registry.nextInspectionMs()).toBe(NEVER)
    sweep(registry, { b: '"1"', c: '"1"' }, 5)
    expect(registry.size).toBe(2)
    expect(known(registry, 'c').observations.size).toBe(0)
    expect(known(registry, 'c').failedInPass).toBe(0)
    expect(known(registry, 'c').reportedVersion).toBeUndefined()
    expect(known(registry, 'c').knownSinceMs('"1"')).toBe(5)
  })

  it('forgets nothing in a sweep that is cut off', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '"1"', b: '"1"' })
    registry.beginSweep()
    registry.skip('a', '"1"', () => false)
    expect(names(registry)).toEqual(['a', 'b'])
    expect(sweep(registry, { a: '"1"', b: '"1"' })).toEqual([])
  })

  it('knows since when a stream has its ETag', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '"1"' }, 3)
    sweep(registry, { a: '"1"' }, 7)
    expect(known(registry, 'a').knownSinceMs('"1"')).toBe(3)
    expect(known(registry, 'a').knownSinceMs('"2"')).toBeUndefined()
    sweep(registry, { a: '"2"' }, 9)
    expect(known(registry, 'a').knownSinceMs('"2"')).toBe(9)
    inspect(registry, 'a', '"3"', state(), NOTHING, 11)
    expect(known(registry, 'a').knownSinceMs('"3"')).toBe(11)
    known(registry, 'a').recordChange(1)
    expect(known(registry, 'a').knownSinceMs('"3"')).toBeUndefined()
  })

  it('keeps many streams apart', () => {
    const registry = new StreamRegistry()
    const streams = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`s${n}`, `"${n}"`]))
    sweep(registry, streams)
    known(registry, 's4999').postpone(NOW, 7)
    expect(due(registry, 7)).toEqual(['s4999'])
    expect(sweep(registry, streams)).toEqual([])
    expect(registry.size).toBe(5_000)
  })

  it('puts the streams first that have waited longest for an inspection', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '1', b: '1', c: '1' })
    known(registry, 'a').postpone(NEVER, 30)
    known(registry, 'b').postpone(NEVER, 10)
    known(registry, 'c').postpone(NEVER, 20)
    sweep(registry, { a: '1', b: '1', c: '1', d: '1' }, 0, 'unread')
    expect(due(registry, 20)).toEqual(['d', 'b', 'c'])
    expect(registry.nextInspectionMs()).toBe(Number.NEGATIVE_INFINITY)
  })

  it('puts a stream off to the earliest of several times', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '1' }, 0, state({ dueMs: 50, nextInspectionMs: 50 }))
    known(registry, 'a').postpone(40, 60)
    expect(registry.nextInspectionMs()).toBe(50)
    known(registry, 'a').postpone(45, 30)
    expect(registry.nextInspectionMs()).toBe(30)
    expect(known(registry, 'a').dueMs).toBe(40)
  })

  it('has streams inspected by their limits again after the clock was set back', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '1', b: '1' }, 0, state({ dueMs: 50, nextInspectionMs: 90 }))
    registry.sawRow('b', '2', undefined, at(0))
    for (const stream of registry.values()) stream.clockSetBack(NOW)
    expect(due(registry, 49)).toEqual(['b'])
    expect(due(registry, 50)).toEqual(['b', 'a'])
  })

  it('forgets the observations of a stream once all its events are within their limits', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '1' })
    inspect(registry, 'a', '1', state({ dueMs: NOW }), observations, 0)
    sweep(registry, { a: '2' }, 0, state({ dueMs: NOW }))
    expect(known(registry, 'a').observations.size).toBe(1)
    sweep(registry, { a: '3' }, 0, state({ dueMs: NOW + 1 }))
    expect(known(registry, 'a').observations.size).toBe(0)
  })

  it('remembers through changes of a stream that an event was notified', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '1' })
    inspect(registry, 'a', '1', state({ dueMs: NOW }), observations, 0)
    known(registry, 'a').markNotified('01.00')
    known(registry, 'a').markNotified('02.00')
    sweep(registry, { a: '2' }, 0, 'unread')
    expect(known(registry, 'a').observations.get('01.00')?.isNotified).toBe(true)
  })

  it('counts events that the breaker holds back until the stream is inspected, changed, left or gone', () => {
    const registry = new StreamRegistry()
    const hold = () => {
      sweep(registry, { a: '1', b: '1' })
      known(registry, 'a').holdBack(0, 2)
      known(registry, 'a').holdBack(0, 1)
      known(registry, 'b').holdBack(0, 1)
      expect(registry.heldEvents(() => true)).toBe(4)
    }
    hold()
    inspect(registry, 'a', '1', state(), NOTHING, 0)
    expect(registry.heldEvents(() => true)).toBe(1)
    sweep(registry, { a: '1', b: '2' })
    expect(registry.heldEvents(() => true)).toBe(0)
    sweep(registry, {})
    hold()
    sweep(registry, { a: '1' })
    expect(registry.heldEvents(() => true)).toBe(3)
    known(registry, 'a').leaveUntil(0)
    expect(registry.heldEvents(() => true)).toBe(0)
  })

  it('remembers whether observers were notified of the current stream', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '1' })
    expect(known(registry, 'a').isReported).toBe(false)
    expect(known(registry, 'a').reportedVersion).toBeUndefined()
    known(registry, 'a').markReported({ version: 4, born: 'b' })
    expect(known(registry, 'a').isReported).toBe(true)
    sweep(registry, { a: '1' })
    expect(known(registry, 'a').isReported).toBe(true)
    sweep(registry, { a: '2' })
    expect(known(registry, 'a').isReported).toBe(false)
    expect(known(registry, 'a').reportedVersion).toBe(4)
    expect(['b', 'c', ''].map(born => known(registry, 'a').isOtherLife(born))).toEqual([false, true, false])
  })

  it('names fifty statuses, and counts all others together', () => {
    const registry = new StreamRegistry()
    for (let n = 0; n < 1_000; n++) {
      registry.sawRow(`s${n}`, '1', state({ status: `strange ${n}` }), at(0))
    }
    expect(known(registry, 's0').status).toBe('strange 0')
    expect(known(registry, 's999').status).toBe('other')
  })

  it('finds another stream than those that do not answer', () => {
    const registry = new StreamRegistry()
    sweep(registry, { a: '1', b: '1', c: '1' })
    expect([0, 0.5, 0.99].map(random => registry.another(new Set(['b']), random))).toEqual(['a', 'c', 'c'])
    expect(registry.another(new Set(['a', 'b', 'c']), 0)).toBeUndefined()
  })
})
