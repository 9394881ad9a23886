import { describe, expect, it } from 'vitest'
import { healthOf, isBroken, stateStyle, streamStateOf } from '../../../../src/formats/listing/health.ts'
import type { Summary } from '../../../../src/stream/summary.ts'
import { summary } from '../../../contract/harness.ts'

const NOW = 1_700_000_000_000
const stream = (over: Partial<Summary>) => summary({ status: 'inprocess', ...over })
const NEW_FAILURE = { failed: 1, failedAtMs: NOW - 5 }
const ACKNOWLEDGED = { ...NEW_FAILURE, ackMs: NOW - 5 }

describe('the state of a stream', () => {
  it.each([
    ['inprocess', {}],
    ['inprocess', { dueMs: NOW + 1, claimEndMs: NOW + 1 }],
    ['inprocess', ACKNOWLEDGED],
    ['inprocess', { canceled: 1 }],
    ['failing', { ...NEW_FAILURE, claimEndMs: NOW, dueMs: NOW }],
    ['abandoned', { claimEndMs: NOW, dueMs: NOW }],
    ['overdue', { dueMs: NOW }],
    ['completed', { status: 'completed' }],
    ['errors', { status: 'completed', outcome: 'errors' as const }],
    ['aborted', { status: 'aborted', outcome: 'errors' as const, ...NEW_FAILURE }],
    ['canceled', { status: 'canceled', outcome: 'errors' as const }],
    ['paused', { status: 'paused' }],
  ])('is %s of a stream with %j', (state, over) => expect(streamStateOf(stream(over), NOW)).toBe(state))

  it('has a glyph that no other state has, also where only its last character is drawn', () => {
    const states = ['failing', 'abandoned', 'overdue', 'errors', 'init', 'inprocess', 'completed', 'canceled', 'paused']
    const glyphs = states.map(state => stateStyle(state).glyph)
    expect(new Set(glyphs).size).toBe(states.length)
    expect(new Set(glyphs.map(glyph => glyph.slice(-1))).size).toBe(states.length)
  })

  it('shows words of foreign documents without control characters', () => {
    expect(stateStyle('a\u001b[2Jb').word).not.toContain('\u001b')
  })
})

const item = (over: Partial<Summary>) => ({ summary: stream(over), fault: undefined })
const UNREADABLE = { summary: undefined, fault: { code: 'bad-document', message: 'm' } }
const UNREAD = { summary: undefined, fault: undefined }

it('a stream is broken by a new failure, a silent worker, a missed deadline or a damaged document', () => {
  const broken = [item(NEW_FAILURE), item({ claimEndMs: NOW }), item({ dueMs: NOW }), UNREADABLE]
  const sound = [item({}), item(ACKNOWLEDGED), item({ canceled: 1 }), UNREAD]
  expect(broken.map(each => isBroken(each, NOW))).toEqual([true, true, true, true])
  expect(sound.map(each => isBroken(each, NOW))).toEqual([false, false, false, false])
})

it('counts streams as the filters of ls select them', () => {
  const items = [
    item({ ...NEW_FAILURE, dueMs: NOW, canceled: 1 }),
    item({ ...ACKNOWLEDGED, status: 'completed' }),
    item({ status: 'canceled', canceled: 3 }),
    item({ claimEndMs: NOW }),
    item({ ...NEW_FAILURE, outcome: 'blocked' as const }),
    item({ outcome: 'blocked' as const, suspendedMs: NOW }),
    UNREADABLE,
    UNREAD,
  ]
  expect(healthOf(items, NOW)).toEqual({
    open: 4,
    completed: 1,
    failed: 2,
    canceled: 2,
    abandoned: 1,
    overdue: 1,
    blocked: 1,
    suspended: 1,
    unreadable: 1,
  })
})
