import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KEYS } from '../../../../src/tui/state/keys/table.ts'
import { layoutOf, listHeight } from '../../../../src/tui/state/layout.ts'
import type { Action, State } from '../../../../src/tui/state/state.ts'
import { focusedText } from '../../../../src/tui/state/text/focus.ts'
import { textLayout } from '../../../../src/tui/state/text/layout.ts'
import { textOfLines } from '../../../../src/tui/state/text/text.ts'
import { openNothing, openStream } from '../support/open-stream.ts'
import { outcomeOf, pressOf, previewOf, Stage } from '../support/stage.ts'
import { activity, worldWith } from '../support/world.ts'

const OPEN = openStream('a', [
  { id: '00', name: 'Start', status: 'inprocess' },
  ...Array.from({ length: 20 }, (_, at) => ({ id: `0${at + 1}.00`, name: `E${at}`, status: 'init', prev: '00' })),
])
const NAMES = Array.from({ length: 60 }, (_, at) => `s${at}`)
const FEED = [activity('a', 1), activity('s1', 2), activity('gone', 3)]
const DETAIL = textOfLines(Array.from({ length: 50 }, (_, at) => [[`line ${at} of the details`, 'plain']]))
const TEXTS = { detailOf: () => DETAIL, pageOf: () => ({ title: 'a text', text: DETAIL }) }
const WORLDS = [
  { ...worldWith({ streams: ['a', ...NAMES], open: OPEN, activity: FEED }), ...TEXTS },
  worldWith({ streams: ['a', 's1'], open: openNothing('a', 'gone') }),
  worldWith({ streams: NAMES, facts: { isProtected: true, protectedName: 'ab' } }),
  worldWith(),
]

type Step = Action | { readonly kind: 'world'; readonly at: number } | { readonly kind: 'wait'; readonly ms: number }

const ALL_KEYS = [
  ...KEYS.flatMap(({ keys }) => keys),
  'tab',
  '-',
  '=',
  'shift-tab',
  'delete',
  'ctrl-u',
  'ctrl-w',
  'a',
  'b',
  '2',
  'f5',
]
/** The sequence of keys for a change, more often than at random. */
const TELLING = [
  'c',
  'X',
  'R',
  'L',
  '!',
  'tab',
  'tab',
  'enter',
  'enter',
  'escape',
  'y',
  '2',
  'a',
  'b',
  'down',
  'q',
  's',
  'space',
  '*',
]

const keyStep = (key: string): Step => ({ kind: 'key', press: pressOf(key) })

/** The answer to the request before last, or to the last one: the number is resolved when the step is taken. */
const preview = fc
  .record({ behind: fc.nat({ max: 1 }), count: fc.nat({ max: 2 }), isTyped: fc.boolean() })
  .map(({ behind, count, isTyped }) => {
    const confirm = isTyped ? ({ kind: 'type', text: '2', what: 'the number' } as const) : ({ kind: 'yes' } as const)
    return {
      kind: 'previewed',
      request: -behind,
      preview: previewOf('cancel', { count, confirm }),
    } as const
  })

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...ALL_KEYS).map(keyStep) },
  { weight: 8, arbitrary: fc.constantFrom(...TELLING).map(keyStep) },
  { weight: 4, arbitrary: preview },
  fc.constantFrom<Step>(
    { kind: 'tick' },
    { kind: 'paste', text: 'ab\nc' },
    { kind: 'outcome', outcome: outcomeOf('a') },
    { kind: 'batch-ended', end: { lines: [] } },
    { kind: 'line-answered', output: { exit: 0, lines: ['1', '2', '3'] } },
    { kind: 'wait', ms: 400_000 },
  ),
  fc.nat({ max: WORLDS.length - 1 }).map(at => ({ kind: 'world', at }) as const),
  fc
    .record({ columns: fc.nat({ max: 200 }), rows: fc.nat({ max: 60 }) })
    .map(size => ({ kind: 'resize', size }) as const),
)

/** Takes the steps one after the other and passes the states before and after each to the check. */
function played(
  stage: Stage,
  steps: readonly Step[],
  check: (before: State, step: Step, stage: Stage, effects: Stage['effects']) => void,
) {
  for (const one of steps) {
    const before = stage.state
    const known = stage.effects.length
    if (one.kind === 'world') stage.world = WORLDS[one.at] ?? stage.world
    else if (one.kind === 'wait') stage.wait(one.ms)
    else if (one.kind === 'previewed') stage.act({ ...one, request: stage.state.requests + one.request })
    else stage.act(one)
    check(before, one, stage, stage.effects.slice(known))
  }
}

const stages = fc.constantFrom(
  () => new Stage(WORLDS[0], { writes: 'unlocked' }),
  () => new Stage(WORLDS[0], { writes: 'unlocked', stream: 'a' }),
  () => new Stage(WORLDS[2], { writes: 'locked', size: { columns: 20, rows: 5 } }),
)
/** A change from its key to `enter` on `yes`, if the other steps allow it. */
const change = fc
  .tuple(fc.constantFrom('c', 'X', 'R', 'L'), preview, fc.constantFrom('', '2', '3'), fc.constantFrom('tab', 'y'))
  .map(([key, answer, typed, last]): Step[] => {
    const toTyped = key === 'L' ? [] : ['tab']
    const toNo = answer.preview.confirm.kind === 'type' ? [...toTyped, ...typed, 'tab'] : toTyped
    return [keyStep(key), answer, ...[...toNo, last, 'enter'].map(keyStep)]
  })
const steps = fc
  .array(fc.oneof({ weight: 12, arbitrary: step.map(one => [one]) }, { weight: 4, arbitrary: change }), {
    maxLength: 60,
  })
  .map(parts => parts.flat())
const histories = fc.tuple(stages, steps)

describe('for any sequence of keys', () => {
  it('no change begins without enter on yes, after a preview with targets, while changes are unlocked', () => {
    let carried = 0
    fc.assert(
      fc.property(histories, ([start, given]) => {
        played(start(), given, ({ dialog, writes, batch }, one, { nowMs }, effects) => {
          const begun = effects.filter(({ kind }) => kind === 'carry-out')
          if (begun.length === 0) return
          carried++
          if (dialog?.kind !== 'change' || dialog.preview === undefined) throw new Error('nobody was asked')
          const { preview, typed, focus } = dialog
          expect(one).toEqual({ kind: 'key', press: pressOf('enter') })
          expect([focus, preview.count > 0, batch === undefined || batch.end !== undefined]).toEqual([
            'yes',
            true,
            true,
          ])
          if (preview.confirm.kind === 'type') expect(typed.text).toBe(preview.confirm.text)
          expect(writes.kind === 'unlocked' && nowMs < writes.untilMs).toBe(true)
        })
      }),
      { numRuns: 400 },
    )
    expect(carried).toBeGreaterThan(0)
  })

  it('esc and ctrl-c close the dialog or prompt in front, and change nothing', () => {
    fc.assert(
      fc.property(histories, fc.constantFrom('escape', 'ctrl-c'), ([start, given], key) => {
        const stage = start()
        played(stage, given, () => {})
        const known = stage.effects.length
        if (stage.state.page !== undefined) {
          const { dialog } = stage.state
          // The prompt, the search, the text: each key closes one of them.
          stage.press(key, key, key)
          expect(stage.state.page).toBeUndefined()
          if (dialog === undefined) return
        }
        const wasInFront = stage.state.dialog !== undefined || stage.state.prompt !== undefined
        const before = stage.state.batch
        // A command that may be changing a stream is stopped first: its result so far is not hidden.
        const { dialog } = stage.state
        const isWriting = dialog?.kind === 'output' && dialog.output === undefined && dialog.mayWrite === true
        if (isWriting && !dialog.isStopping) {
          stage.press(key)
          expect(stage.state.dialog).toEqual({ ...dialog, isStopping: true })
        }
        stage.press(key)
        const kinds = stage.effects.slice(known).map(({ kind }) => kind)
        for (const kind of ['carry-out', 'preview', 'stop-batch', 'run-line'] as const)
          expect(kinds).not.toContain(kind)
        if (!wasInFront) return
        expect([stage.state.dialog, stage.state.prompt]).toEqual([undefined, undefined])
        expect(kinds).not.toContain('quit')
        expect(stage.state.batch).toBe(before)
      }),
    )
  })

  it('cursor, window and scrolled texts stay within their bounds', () => {
    fc.assert(
      fc.property(histories, ([start, given]) => {
        played(start(), given, (_before, one, stage) => {
          if (one.kind !== 'world') expectInBounds(stage)
        })
      }),
      { numRuns: 300 },
    )
  })

  it('a dialog or a prompt keeps keys from the lists, and only one of them is in front', () => {
    fc.assert(
      fc.property(histories, ([start, given]) => {
        played(start(), given, (before, one, { state }) => {
          const isReading = state.page !== undefined && state.prompt?.kind === 'search'
          expect(state.dialog === undefined || state.prompt === undefined || isReading).toBe(true)
          if (one.kind !== 'key' || (before.dialog === undefined && before.page === undefined)) return
          expect([state.screen, state.pane, state.frozen, state.folded]).toEqual([
            before.screen,
            before.pane,
            before.frozen,
            before.folded,
          ])
          expect(state.lists[state.screen].moves).toBe(before.lists[state.screen].moves)
        })
      }),
    )
  })

  it('read-only mode never requests a preview, unlocks nothing and runs no command that may change', () => {
    fc.assert(
      fc.property(steps, given => {
        const stage = new Stage(WORLDS[0], { writes: 'never' })
        played(stage, given, () => {})
        expect(stage.state.writes.kind).toBe('never')
        for (const effect of stage.effects) {
          expect(['preview', 'carry-out', 'stop-batch', 'forget-preview']).not.toContain(effect.kind)
          if (effect.kind === 'run-line') expect(effect.mayWrite).toBe(false)
        }
      }),
    )
  })
})

function expectInBounds({ state, seen }: Stage): void {
  const height = listHeight(layoutOf(state))
  const { index, offset } = state.lists[state.screen]
  expect(offset).toBeGreaterThanOrEqual(0)
  expect(offset).toBeLessThanOrEqual(Math.max(0, height - 1))
  expect(Number.isInteger(index) && index >= 0).toBe(true)
  const focused = focusedText(state, seen)
  if (focused !== undefined) {
    const { area, reading } = focused
    const { total, rowOf } = textLayout(area.text, area.columns, reading)
    expect(reading.top).toBeGreaterThanOrEqual(0)
    expect(reading.top).toBeLessThanOrEqual(Math.max(0, total - area.rows))
    expect(reading.left).toBeGreaterThanOrEqual(0)
    if (reading.at !== undefined && total > 0) {
      const row = rowOf(reading.at.line) - reading.top
      expect(row >= 0 && row < area.rows).toBe(true)
    }
  }
  const { dialog } = state
  if (dialog !== undefined && 'top' in dialog) expect(dialog.top >= 0 && Number.isInteger(dialog.top)).toBe(true)
}
