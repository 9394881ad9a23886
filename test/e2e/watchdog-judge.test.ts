import { describe, expect, test } from 'vitest'
import { trustRow } from '../guarantees/record.ts'
import { slownessMs } from './watchdog/figure.ts'
import { complaints, type Evidence, type Fate, starved } from './watchdog/judge.ts'
import { type Life, livesOf, type Signs } from './watchdog/lives.ts'
import { expectKept } from './watchdog/verdict.ts'

/** The judge of the plays with processes, on histories that it must reject. */

const LAST_MS = Date.UTC(2026, 10, 20, 12)
const TIMEOUT_MS = 8_000
const ALLOWED_MS = 4_000
const STREAM = 'orders/1'

const life: Life = { stream: STREAM, kind: 'silenced', timeoutMs: TIMEOUT_MS, silentAfterMs: 0, beat: [0.2, 0.3] }
const signs: Signs = { stream: STREAM, lastMs: LAST_MS, count: 3, doubtfulMs: null, refused: null }
const end = {
  atMs: LAST_MS + TIMEOUT_MS + 100,
  commandId: 'watchdog:01.00:1:2026-11-20T12:00:08.000Z',
  why: 'timed out: no sign of life since 2026-11-20T12:00:00.000Z (timeout 00:00:08)',
}
const ended: Fate = { status: 'aborted', ends: [end], byWatchdogs: 1, lease: 'available' }
const open: Fate = { status: 'inprocess', ends: [], byWatchdogs: 0, lease: 'available' }

function judged(over: { life?: Partial<Life>; signs?: Partial<Signs>; fate?: Fate | undefined }): readonly string[] {
  const evidence: Evidence = {
    lives: [{ ...life, ...over.life }],
    signs: new Map([[STREAM, { ...signs, ...over.signs }]]),
    fates: new Map('fate' in over ? (over.fate ? [[STREAM, over.fate]] : []) : [[STREAM, ended]]),
    allowedMs: () => ALLOWED_MS,
  }
  return complaints(evidence)
}

test('a correct run passes', () => {
  expect(judged({})).toEqual([])
  expect(judged({ life: { kind: 'lively', silentAfterMs: null }, fate: open })).toEqual([])
})

test('the last allowed moment is in time, the last moment before the deadline is early', () => {
  const at = (ms: number) => judged({ fate: { ...ended, ends: [{ ...end, atMs: LAST_MS + TIMEOUT_MS + ms }] } })
  expect([at(0), at(ALLOWED_MS)]).toEqual([[], []])
  expect(at(-1)).toEqual([`${STREAM} (silenced): ended early, 7999 ms after its last sign of life`])
  expect(at(ALLOWED_MS + 1)).toEqual([`${STREAM} (silenced): ended 4001 ms after its limit, 4000 ms are allowed`])
})

test('a heartbeat without an answer may have been written: the event may last longer, and must not end earlier', () => {
  const later = {
    ...ended,
    ends: [{ ...end, atMs: LAST_MS + TIMEOUT_MS + ALLOWED_MS + 500, why: 'of another moment' }],
  }
  expect(judged({ signs: { doubtfulMs: LAST_MS + 500 }, fate: later })).toEqual([])
  const early = { ...ended, ends: [{ ...end, atMs: LAST_MS + TIMEOUT_MS - 1 }] }
  expect(judged({ signs: { doubtfulMs: LAST_MS - 500 }, fate: early })).toHaveLength(1)
})

describe('the judge detects', () => {
  const lively = { kind: 'lively', silentAfterMs: null } as const
  test.each<[string, Parameters<typeof judged>[0], RegExp]>([
    ['a silent event that stands', { fate: open }, /fell silent and is inprocess/],
    ['an event ended twice', { fate: { ...ended, ends: [end, end], byWatchdogs: 2 } }, /ended 2 times/],
    ['a second change by a watchdog', { fate: { ...ended, byWatchdogs: 2 } }, /ended 2 times/],
    ['an end by somebody else', { fate: { ...ended, ends: [{ ...end, commandId: 'x' }] } }, /ended by x/],
    ['an end for another moment', { signs: { lastMs: LAST_MS + 50 } }, /ended for "timed out/],
    ['another end than an abort', { fate: { ...ended, status: 'canceled' } }, /it was ended and is canceled/],
    ['a live event that is not in process', { life: lively, fate: { ...open, status: 'init' } }, /it is init/],
    ['a change of a live event', { life: lively, fate: { ...open, byWatchdogs: 1 } }, /a watchdog changed it/],
    ['a stream nobody has seen', { fate: undefined }, /nothing is known/],
  ])('%s', (what, over, complaint) => {
    expect(judged(over)).toEqual([expect.stringMatching(complaint)])
    trustRow('watchdog').control(`the judge: ${what}`, true)
  })
})

test('a live event that was ended for a real silence is not an error: the machine was too slow for it', () => {
  const lives = [{ ...life, kind: 'lively', silentAfterMs: null } as const]
  expect(judged({ life: { kind: 'lively', silentAfterMs: null } })).toEqual([])
  expect(starved({ lives, fates: new Map([[STREAM, ended]]) })).toEqual([STREAM])
  expect(starved({ lives, fates: new Map([[STREAM, open]]) })).toEqual([])
})

describe('on a machine that was too slow', () => {
  const lively = { ...life, kind: 'lively', silentAfterMs: null } as const
  /** The report on a play whose only event was ended long after its deadline, with a read that took this long. */
  function told(slowestReadMs: number, lives: readonly Life[], isStrict = false): readonly string[] {
    const lines: string[] = []
    const say = (name: string) => void lines.push(name)
    const trust = { figure: say, skipped: say }
    const allowedMs = () => slownessMs({ slowestReadMs })
    const late = { ...ended, ends: [{ ...end, atMs: LAST_MS + TIMEOUT_MS + 60_000 }] }
    const played = { lives, signs: new Map([[STREAM, signs]]), fates: new Map([[STREAM, late]]), slowestReadMs }
    expectKept(played, { trust, what: 'here', again: '', allowedMs, isStrict })
    return lines
  }

  test('timing is not judged, which is reported; nightly it fails', () => {
    expect(told(1_001, [life])).toEqual(['heartbeats', 'ended early', 'stale', 'ended late, here'])
    expect(() => told(1_001, [life], true)).toThrow(/too slow/)
    expect(() => told(1_000, [life])).toThrow()
  })

  test('live events without heartbeats are reported; nightly it fails', () => {
    expect(told(1_001, [lively])).toContain('live events, here')
    expect(() => told(1_001, [lively], true)).toThrow(/really fell silent/)
  })
})

test('the plan of events follows from the seed alone, with the requested number of each kind', () => {
  const timeouts = { shortMs: 1, longMs: 2 }
  const setting = { seed: 3, streams: 50, silenced: 10, silenceWithinMs: 100, dawdlers: 5, timeouts }
  const lives = livesOf(setting)
  expect(livesOf(setting)).toEqual(lives)
  expect(livesOf({ ...setting, seed: 4 })).not.toEqual(lives)
  expect(new Set(lives.map(({ stream }) => stream)).size).toBe(50)
  const count = (kind: string) => lives.filter(life => life.kind === kind).length
  expect([count('silenced'), count('dawdler'), count('lively')]).toEqual([10, 5, 35])
})
