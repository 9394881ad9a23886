import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { StreamEntry } from '../../../../src/tui/data/types.ts'
import { SCREENS, type State } from '../../../../src/tui/state/state.ts'
import { START_DOCUMENT } from '../../../../src/tui/state/text/text.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { unreadable, watchdog } from '../support/demo-data.ts'
import { CANCEL_DIALOG, demoScene, frameText, halfDone, sceneWith, tooWide } from '../support/scenes.ts'
import { activity, listingOf, NOW_MS, streamEntry } from '../support/world.ts'

/** Possible foreign texts: escapes, line ends, wide characters, emoji, combining marks, lone surrogates. */
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom(
    '',
    '\u001b[2J\u001b]8;;x',
    'a\nb\r\tc',
    '日本語'.repeat(9),
    '👩‍🚀🇩🇪👍🏽1️⃣'.repeat(5),
    'क्ष'.repeat(20),
    '\ud800',
    'e\u0301'.repeat(30),
  ),
)
const time = fc.oneof(
  fc.constant(undefined),
  fc.integer({ min: NOW_MS - 1e9, max: NOW_MS + 1e9 }),
  fc.constantFrom(-8.64e15, 8.64e15, 9e15, 0),
)
const size = fc.record({ columns: fc.integer({ min: 0, max: 210 }), rows: fc.integer({ min: 0, max: 70 }) })

const entry: fc.Arbitrary<StreamEntry> = fc
  .record({ name: hostile, text: hostile, at: time, dueMs: time, count: fc.nat(1e9), kind: fc.nat(5) })
  .map(({ name, text, at, dueMs, count, kind }) => {
    if (kind === 0) return unreadable(name)
    const waitingOn = [text, `+${count}`]
    const summary = {
      status: text,
      root: text,
      key: text,
      failure: text,
      failedId: text,
      lastBy: text,
      createdMs: at,
      dueMs,
      open: count,
      waitingOn,
      failed: count,
      ready: [text, '%'],
    }
    const holder = { by: text, host: text, pid: count, purpose: text, sinceMs: at ?? 0 }
    const lease =
      kind === 1 ? { state: 'leased' as const, holder, untilMs: dueMs ?? 0 } : { state: 'available' as const }
    return streamEntry(name, summary, {
      lease,
      isRead: kind !== 2,
      rate: [count, 0, 3],
      rateSlot: Math.floor(NOW_MS / 15_000) - kind,
    })
  })

const look = fc.record({
  screen: fc.constantFrom(...SCREENS),
  pane: fc.constantFrom('tree' as const, 'timeline' as const, 'xml' as const),
  time: fc.constantFrom('relative' as const, 'local' as const, 'utc' as const),
  isWide: fc.boolean(),
  isDetailOpen: fc.boolean(),
  xml: fc.record({ top: fc.nat(10), wraps: fc.boolean() }).map(more => ({ ...START_DOCUMENT, ...more })),
  batch: fc.constantFrom(undefined, halfDone()),
  dialog: fc.constantFrom<State['dialog']>(
    undefined,
    undefined,
    CANCEL_DIALOG,
    { kind: 'help', top: 9_999 },
    { kind: 'quit' },
    { kind: 'columns', list: 'streams', titles: ['NAME', 'STATUS'], shown: ['NAME'], at: 1 },
    { kind: 'outcomes', top: 0 },
  ),
})

it('a frame is exactly as high as the terminal and never wider, whatever the store contains', () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 12 }),
      hostile,
      size,
      look,
      fc.boolean(),
      (streams, text, size, state, isAscii) => {
        const { lists } = demoScene(state.screen, size).state
        const changed = Object.fromEntries(
          Object.entries(lists).map(([name, list]) => [name, { ...list, filter: text, cursor: undefined }]),
        )
        const items = streams.map(({ name }, at) => activity(name, at, { by: text, why: text, op: text, on: text }))
        const decisions = streams.map(({ name }) => ({
          stream: name,
          kind: text,
          event: text,
          limit: text,
          dueMs: 0,
          outcome: text,
          atMs: NOW_MS,
        }))
        const names = state.screen === 'activity' ? items.map(({ key }) => key) : streams.map(({ name }) => name)
        const scene = sceneWith({
          size,
          streams,
          activity: items,
          watchdog: {
            state: {
              damaged: true,
              watchdogs: [
                watchdog(text, 1, { decisions, failure: { startedMs: 0, sinceMs: 0, code: text, message: text } }),
              ],
            },
            next: streams.map(({ name }) => ({
              stream: name,
              dueMs: 0,
              limit: { event: text, name: text, kind: 'absolute', timeout: text, dueMs: 0, action: 'notify' },
            })),
            dryRun: { kind: 'failed', message: text },
          },
          ...(state.screen === 'stream' ? {} : { rows: listingOf([...names, text], { faint: [text] }) }),
          freshness: { error: { sinceMs: 0, code: text, message: text } },
          state: { ...state, lists: changed as unknown as State['lists'] },
        })
        const frame = frameOf(scene, { isAscii })
        expect(frame.rows).toHaveLength(size.rows)
        expect(tooWide(frame)).toEqual([])
        expect(frameText(frame)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
      },
    ),
    { numRuns: 150 },
  )
})

it.each([
  [0, 0],
  [1, 1],
  [20, 5],
  [5, 20],
  [39, 9],
  [300, 100],
])('every screen and dialog is drawn on %i × %i', (columns, rows) => {
  for (const screen of SCREENS) {
    for (const dialog of [undefined, CANCEL_DIALOG, { kind: 'help', top: 0 } as const]) {
      const frame = frameOf(demoScene(screen, { columns, rows }, { dialog, isDetailOpen: true }))
      expect(frame.rows).toHaveLength(rows)
      expect(tooWide(frame)).toEqual([])
    }
  }
})

it('a frame has a title, a list of single lines and the keys in a terminal of 20 × 5', () => {
  const frame = frameOf(demoScene('streams', { columns: 20, rows: 5 }))
  expect(frameText(frame)).toMatchInlineSnapshot(`
    " streams  READ-ONLY
     ✓ orders/4709
     ± orders/4710
    ›✗ orders/4711
     ? keys  q quit
    "
  `)
})
