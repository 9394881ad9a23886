import { describe, expect, it } from 'vitest'
import type { ChangeDialog, State } from '../../../../src/tui/state/state.ts'
import { openNothing, openStream } from '../support/open-stream.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const OPEN = openStream('a', [
  { id: '00', name: 'Start', status: 'inprocess' },
  { id: '01.00', name: 'Left', status: 'inprocess', prev: '00' },
  { id: '02.00', name: 'Right', status: 'inprocess', prev: '00' },
])
const WORLD = worldWith({ streams: ['a', 'b', 'c'], open: OPEN })

const stage = (options: ConstructorParameters<typeof Stage>[1] = {}) =>
  new Stage(WORLD, { writes: 'unlocked', ...options })

function dialogOf({ dialog }: State): ChangeDialog {
  if (dialog?.kind !== 'change') throw new Error('no change is asked about')
  return dialog
}

const BIG = { count: 60, confirm: { kind: 'type', text: '60', what: 'the number of streams' } } as const

describe('a change', () => {
  it.each([
    ['c', 'cancel'],
    ['X', 'abort'],
    ['R', 'retry'],
    ['L', 'break'],
  ])('is looked at first: %s', (key, verb) => {
    const there = stage().press('j', key)
    expect(there.effects).toEqual([{ kind: 'preview', request: 1, verb, targets: [{ stream: 'b' }] }])
    expect(dialogOf(there.state)).toMatchObject({ verb, preview: undefined, targets: [{ stream: 'b' }] })
  })

  it.each(['never', 'locked'] as const)('is not even looked at while writes are %s', writes => {
    for (const start of [[], ['3'], ['enter']]) {
      const there = stage({ writes }).press(...start, 'c', 'X', 'R', 'L')
      expect([there.effects, there.state.dialog]).toEqual([[], undefined])
      expect(there.state.notice).toMatchObject({ style: 'warn', text: expect.stringMatching(/locked: ! |read-only/) })
    }
  })

  it('is not looked at when the time of unlocked writes is over, even before the clock has said so', () => {
    const there = stage()
    there.nowMs += 600_000
    expect(there.press('c').effects).toEqual([])
  })

  it('concerns what is marked, whatever the cursor is on, and not what is marked elsewhere', () => {
    expect(stage().press('space', 'space', 'c').effectsOf('preview')[0]?.targets).toEqual([
      { stream: 'a' },
      { stream: 'b' },
    ])
    expect(stage().press('*', '3', 'c').effectsOf('preview')[0]?.targets).toEqual([{ stream: 'a' }])
  })

  it('leaves out marked streams that are gone, and says so', () => {
    const there = stage().press('*')
    there.world = worldWith({ streams: ['b'] })
    expect(there.press('c').effectsOf('preview')[0]?.targets).toEqual([{ stream: 'b' }])
    expect(there.notice).toContain('2 streams left out')
  })

  it('concerns nothing else when all that was marked is gone', () => {
    const there = stage().press('space')
    there.world = worldWith({ streams: ['b'] })
    expect(there.press('c').effects).toEqual([])
    expect(there.notice).toContain('1 stream left out')
  })

  it('of an empty list is none', () => {
    const there = new Stage(worldWith(), { writes: 'unlocked' }).press('c')
    expect([there.effects, there.notice]).toEqual([[], 'no stream under the cursor'])
  })

  it('concerns the event under the cursor, of the root the whole stream', () => {
    const first = (...keys: string[]) =>
      stage({ stream: 'a' })
        .press(...keys)
        .effectsOf('preview')[0]?.targets
    expect(first('j', 'c')).toEqual([{ stream: 'a', event: '01.00' }])
    expect(first('c')).toEqual([{ stream: 'a' }])
    expect(first('j', 'space', 'space', 'X')).toEqual([
      { stream: 'a', event: '01.00' },
      { stream: 'a', event: '02.00' },
    ])
    expect(first('*', 'R')).toEqual([{ stream: 'a' }])
    expect(first('t', 'j', 'c')).toEqual([{ stream: 'a', event: '01.00' }])
  })

  it('concerns the whole stream where no event is seen, and always for its lease', () => {
    const first = (...keys: string[]) =>
      stage({ stream: 'a' })
        .press(...keys)
        .effectsOf('preview')[0]?.targets
    expect(first('j', 'y', 'c')).toEqual([{ stream: 'a' }])
    expect(first('j', 'L')).toEqual([{ stream: 'a' }])
    expect(first('j', 'space', 'L')).toEqual([{ stream: 'a' }])
  })

  it('of a stream that is not there is none', () => {
    for (const presence of ['waiting', 'missing', 'gone'] as const) {
      const there = new Stage(worldWith({ open: openNothing('a', presence) }), { writes: 'unlocked', stream: 'a' })
      expect(there.press('c', 'L').effects).toEqual([])
    }
  })

  it('of a stream that cannot be read concerns the whole', () => {
    const there = new Stage(worldWith({ open: openNothing('a', 'unreadable') }), { writes: 'unlocked', stream: 'a' })
    expect(there.press('L').effectsOf('preview')[0]?.targets).toEqual([{ stream: 'a' }])
  })
})

describe('what is asked before a change', () => {
  const asked = () => stage().press('c').previewed()

  it('is begun by enter on yes and nothing else', () => {
    const there = asked().type('lost').press('tab', 'tab', 'enter')
    expect(there.effectsOf('carry-out')).toMatchObject([{ reason: 'lost', preview: { count: 1 } }])
    expect(there.state).toMatchObject({
      dialog: { kind: 'outcomes', top: 0 },
      batch: { outcomes: [], isStopping: false, end: undefined },
    })
  })

  it('takes the reason first, and goes on to no with enter', () => {
    const there = asked().type('because').press('enter')
    expect(dialogOf(there.state)).toMatchObject({ focus: 'no', reason: { text: 'because' } })
    expect(there.press('enter').effects).toHaveLength(1)
    expect(there.state.dialog).toBeUndefined()
  })

  it('stands on no where no reason is taken', () => {
    expect(dialogOf(stage().press('L').state).focus).toBe('no')
    expect(dialogOf(stage().press('L').previewed({ takesReason: false }).state).focus).toBe('no')
    expect(dialogOf(stage().press('c').previewed({ takesReason: false }).state).focus).toBe('no')
  })

  it.each([
    ['escape'],
    ['ctrl-c'],
    ['tab', 'enter'],
    ['tab', 'q'],
    ['tab', 'n'],
    ['tab', 'tab', 'escape'],
    ['tab', 'tab', 'n'],
  ])('ends without a change on %s', (...keys) => {
    const there = asked().press(...keys)
    expect([there.state.dialog, there.state.batch, there.effects.length]).toEqual([undefined, undefined, 1])
  })

  it('goes round with tab and the arrows, and passes over what cannot be chosen', () => {
    const focus = (there: Stage) => (key: string) => dialogOf(there.press(key).state).focus
    expect(['tab', 'down', 'tab'].map(focus(asked()))).toEqual(['no', 'yes', 'reason'])
    expect(
      ['shift-tab', 'up', 'left', 'right'].map(focus(stage().press('L').previewed({ takesReason: false }))),
    ).toEqual(['yes', 'no', 'yes', 'no'])
    expect(['tab', 'tab', 'tab', 'tab'].map(focus(stage().press('c').previewed(BIG)))).toEqual([
      'typed',
      'no',
      'yes',
      'reason',
    ])
    expect(['tab', 'tab', 'y'].map(focus(stage().press('c')))).toEqual(['no', 'reason', 'reason'])
  })

  it('moves to yes with y, which begins nothing', () => {
    const there = asked().press('tab', 'y')
    expect([dialogOf(there.state).focus, there.effects.length]).toEqual(['yes', 1])
  })

  it('takes y, n, q and C for text in the reason', () => {
    expect(dialogOf(asked().type('ynqC').state).reason.text).toBe('ynqC')
  })

  it('is not answered by keys that came before what would be changed was known', () => {
    const there = stage().press('L').press('y', 'tab', 'right', 'y').previewed({ takesReason: false })
    expect(dialogOf(there.state).focus).toBe('no')
    const other = stage().press('c').type('hm').press('tab', 'tab', 'tab', 'y').previewed()
    expect([dialogOf(other.state).focus, other.effectsOf('carry-out')]).toEqual(['no', []])
  })

  it('keeps a reason that was typed while it was looked at', () => {
    expect(dialogOf(stage().press('c').type('hm').previewed().type('!').state).reason.text).toBe('hm!')
  })

  it('has no yes where there is nothing to do', () => {
    const there = stage().press('c').previewed({ count: 0 })
    expect(dialogOf(there.state).focus).toBe('no')
    expect(there.press('tab', 'y', 'right', 'enter').effectsOf('carry-out')).toEqual([])
    expect(there.state.dialog).toBeUndefined()
  })

  it('has no yes where it could not be looked at', () => {
    const there = stage().press('c').act({ kind: 'preview-failed', request: 1, message: 'no answer' })
    expect(dialogOf(there.state)).toMatchObject({ focus: 'no', fault: 'no answer' })
    expect(there.press('tab', 'y', 'enter').effects).toHaveLength(1)
    expect(there.state.dialog).toBeUndefined()
  })

  it('wants typed what has to be typed, exactly', () => {
    const wrong = stage().press('c').previewed(BIG).press('tab').type('61').press('tab', 'tab', 'enter')
    expect(wrong.effectsOf('carry-out')).toEqual([])
    expect([dialogOf(wrong.state).focus, wrong.notice]).toEqual(['typed', expect.stringContaining('type the number')])
    const right = wrong.press('backspace').type('0').press('enter')
    expect([dialogOf(right.state).focus, right.effectsOf('carry-out')]).toEqual(['no', []])
    expect(right.press('tab', 'enter').effectsOf('carry-out')).toHaveLength(1)
  })

  it('goes from the reason to what has to be typed with enter', () => {
    expect(dialogOf(stage().press('c').previewed(BIG).press('enter').state).focus).toBe('typed')
  })

  it('takes a paste into the field that has the keys, and nowhere else', () => {
    const there = asked().act({ kind: 'paste', text: 'one\ntwo' })
    expect(dialogOf(there.state).reason.text).toBe('one two')
    const before = there.press('tab', 'tab').state
    expect(there.act({ kind: 'paste', text: '\r' }).state).toEqual(before)
  })

  it('copies the command line with the reason', () => {
    const there = asked().type('why').press('tab', 'C')
    expect(there.effectsOf('copy')).toEqual([{ kind: 'copy', text: "leasectl cancel a -m 'why'" }])
    expect(dialogOf(there.state).focus).toBe('no')
  })

  it('does nothing when unlocked writes have run out meanwhile, and says so', () => {
    const there = asked().press('tab', 'tab').wait(600_000).press('enter')
    expect(there.effectsOf('carry-out')).toEqual([])
    expect([dialogOf(there.state).focus, there.notice]).toEqual(['yes', expect.stringContaining('locked')])
  })

  it('does nothing with a reason that a journal cannot hold', () => {
    const there = asked()
      .act({ kind: 'paste', text: 'ü'.repeat(600) })
      .press('tab', 'tab', 'enter')
    expect(there.effectsOf('carry-out')).toEqual([])
    expect([dialogOf(there.state).focus, there.notice]).toEqual(['reason', expect.stringContaining('1024 bytes')])
  })

  it('has all keys: nothing behind it moves', () => {
    const there = asked()
    const { lists, screen } = there.state
    there.press('tab', 'j', 'k', 'space', '*', 'G', '1', '3', 's', '/', ':', '!', '?', 'r', 'c', 'X')
    expect([there.state.lists, there.state.screen, there.effects.length]).toEqual([lists, screen, 1])
  })

  it('clears the marks when it is begun, and leaves them when not', () => {
    expect(stage().press('*', 'c').previewed().press('escape').list.marks.size).toBe(3)
    expect(stage().press('*', 'c').previewed().press('tab', 'tab', 'enter').list.marks.size).toBe(0)
  })
})

describe('an answer to a preview', () => {
  it('is not taken when it is late', () => {
    const there = stage().press('c', 'escape', 'j', 'c')
    expect(there.effects.map(({ kind }) => kind)).toEqual(['preview', 'forget-preview', 'preview'])
    expect(dialogOf(there.previewed({}, 1).state).preview).toBeUndefined()
    there.act({ kind: 'preview-failed', request: 1, message: 'late' })
    expect(dialogOf(there.state).fault).toBeUndefined()
    expect(dialogOf(there.previewed({}, 2).state).preview).toBeDefined()
  })

  it('opens nothing when nobody asks any more', () => {
    const there = stage().press('c', 'escape').previewed()
    expect(there.state.dialog).toBeUndefined()
  })
})
