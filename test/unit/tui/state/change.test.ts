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
    ['i', 'signal'],
  ])('begins with a preview: %s', (key, verb) => {
    const there = stage().press('j', key)
    expect(there.effects).toEqual([{ kind: 'preview', request: 1, verb, targets: [{ stream: 'b' }] }])
    expect(dialogOf(there.state)).toMatchObject({ verb, preview: undefined, targets: [{ stream: 'b' }] })
  })

  it.each(['never', 'locked'] as const)('has no preview while writes are %s', writes => {
    for (const start of [[], ['3'], ['enter']]) {
      const there = stage({ writes }).press(...start, 'c', 'X', 'R', 'L')
      expect([there.effects, there.state.dialog]).toEqual([[], undefined])
      expect(there.state.notice).toMatchObject({ style: 'warn', text: expect.stringMatching(/locked: ! |read-only/) })
    }
  })

  it('has no preview when the time of unlocked writes is over, even before the next tick', () => {
    const there = stage()
    there.nowMs += 600_000
    expect(there.press('c').effects).toEqual([])
  })

  it('applies to the marks, wherever the cursor is, and not to marks on other screens', () => {
    expect(stage().press('space', 'space', 'c').effectsOf('preview')[0]?.targets).toEqual([
      { stream: 'a' },
      { stream: 'b' },
    ])
    expect(stage().press('*', '3', 'c').effectsOf('preview')[0]?.targets).toEqual([{ stream: 'a' }])
  })

  it('omits marked streams that are gone, and says so', () => {
    const there = stage().press('*')
    there.world = worldWith({ streams: ['b'] })
    expect(there.press('c').effectsOf('preview')[0]?.targets).toEqual([{ stream: 'b' }])
    expect(there.notice).toContain('2 streams left out')
  })

  it('has no other target when all marked streams are gone', () => {
    const there = stage().press('space')
    there.world = worldWith({ streams: ['b'] })
    expect(there.press('c').effects).toEqual([])
    expect(there.notice).toContain('1 stream left out')
  })

  it('has no target in an empty list', () => {
    const there = new Stage(worldWith(), { writes: 'unlocked' }).press('c')
    expect([there.effects, there.notice]).toEqual([[], 'no stream under the cursor'])
  })

  it('applies to the event under the cursor, for the root to the whole stream', () => {
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

  it('applies to the whole stream where the XML has no event, and always for its lease', () => {
    const first = (...keys: string[]) =>
      stage({ stream: 'a' })
        .press(...keys)
        .effectsOf('preview')[0]?.targets
    expect(first('j', 'y', 'c')).toEqual([{ stream: 'a', event: '01.00' }])
    expect(first('j', 'y', 'g', 'c')).toEqual([{ stream: 'a' }])
    expect(first('j', 'L')).toEqual([{ stream: 'a' }])
    expect(first('j', 'space', 'L')).toEqual([{ stream: 'a' }])
  })

  it('has no target if the stream is missing', () => {
    for (const presence of ['waiting', 'missing', 'gone'] as const) {
      const there = new Stage(worldWith({ open: openNothing('a', presence) }), { writes: 'unlocked', stream: 'a' })
      expect(there.press('c', 'L').effects).toEqual([])
    }
  })

  it('applies to the whole of an unreadable stream', () => {
    const there = new Stage(worldWith({ open: openNothing('a', 'unreadable') }), { writes: 'unlocked', stream: 'a' })
    expect(there.press('L').effectsOf('preview')[0]?.targets).toEqual([{ stream: 'a' }])
  })
})

describe('the confirmation dialog', () => {
  const asked = () => stage().press('c').previewed()

  it('begins the change with enter on yes and no other key', () => {
    const there = asked().type('lost').press('tab', 'tab', 'enter')
    expect(there.effectsOf('carry-out')).toMatchObject([{ reason: 'lost', preview: { count: 1 } }])
    expect(there.state).toMatchObject({ batch: { outcomes: [], isStopping: false, end: undefined } })
  })

  it('takes two keys without a reason: up to yes, and enter', () => {
    const there = stage().press('c').previewed().press('up')
    expect([dialogOf(there.state).focus, there.effectsOf('carry-out')]).toEqual(['yes', []])
    expect(there.press('enter').effectsOf('carry-out')).toMatchObject([{ reason: '' }])
  })

  it('begins nothing when up and enter come before the preview', () => {
    const there = stage().press('c', 'up').previewed().press('enter')
    expect([there.state.dialog, there.effectsOf('carry-out')]).toEqual([undefined, []])
  })

  it('makes room for the outcomes of several targets, and only for those', () => {
    const of = (count: number) => stage().press('c').previewed({ count }).press('tab', 'tab', 'enter').state.dialog
    expect(of(1)).toBeUndefined()
    expect(of(2)).toEqual({ kind: 'outcomes', top: 0 })
  })

  it('starts at the reason, and enter moves to no', () => {
    const there = asked().type('because').press('enter')
    expect(dialogOf(there.state)).toMatchObject({ focus: 'no', reason: { text: 'because' } })
    expect(there.press('enter').effects).toHaveLength(1)
    expect(there.state.dialog).toBeUndefined()
  })

  it('starts at the name of a lease, which can be typed before the preview has arrived', () => {
    const there = stage().press('L').type('a')
    expect(dialogOf(there.state)).toMatchObject({ focus: 'typed', typed: { text: 'a' } })
    there.previewed({ confirm: { kind: 'type', text: 'ab', what: 'the name of the stream' } }).type('b')
    expect(dialogOf(there.state)).toMatchObject({ focus: 'typed', typed: { text: 'ab' } })
    expect(there.press('enter', 'right', 'enter').effectsOf('carry-out')).toHaveLength(1)
  })

  it('scrolls its list of targets, in the field by pages, and stays within it', () => {
    const affected = Array.from({ length: 100 }, (_, at) => `s${at}`)
    const there = stage().press('c').previewed({ affected, count: 100 })
    expect(dialogOf(there.press('pagedown').state)).toMatchObject({ top: 29, focus: 'reason' })
    expect(dialogOf(there.press('tab', 'j', 'j', 'k').state)).toMatchObject({ top: 30, focus: 'no' })
    expect(dialogOf(there.press(...Array.from({ length: 20 }, () => 'ctrl-f')).state).top).toBe(71)
    expect(dialogOf(there.act({ kind: 'resize', size: { columns: 80, rows: 200 } }).state).top).toBe(0)
    expect(dialogOf(there.press('pageup').state).top).toBe(0)
  })

  it.each([
    ['escape'],
    ['ctrl-c'],
    ['tab', 'enter'],
    ['tab', 'q'],
    ['tab', 'n'],
    ['tab', 'tab', 'escape'],
    ['tab', 'tab', 'n'],
  ])('closes without a change on %s', (...keys) => {
    const there = asked().press(...keys)
    expect([there.state.dialog, there.state.batch, there.effects.length]).toEqual([undefined, undefined, 1])
  })

  it('cycles with tab and the arrows, and skips inactive fields', () => {
    const focus = (there: Stage) => (key: string) => dialogOf(there.press(key).state).focus
    expect(['tab', 'down', 'tab'].map(focus(asked()))).toEqual(['no', 'yes', 'reason'])
    expect(['tab', 'left', 'right', 'right'].map(focus(stage().press('L').previewed(BIG)))).toEqual([
      'no',
      'typed',
      'typed',
      'typed',
    ])
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

  it('accepts y, n, q and C as text in the reason', () => {
    expect(dialogOf(asked().type('ynqC').state).reason.text).toBe('ynqC')
  })

  it('ignores keys typed before the preview arrived', () => {
    const there = stage().press('L').press('tab', 'y', 'enter').press('L', 'tab', 'y').previewed(BIG)
    expect(dialogOf(there.state).focus).toBe('no')
    const other = stage().press('c').type('hm').press('tab', 'tab', 'tab', 'y').previewed()
    expect([dialogOf(other.state).focus, other.effectsOf('carry-out')]).toEqual(['no', []])
  })

  it('keeps a reason that was typed before the preview arrived', () => {
    expect(dialogOf(stage().press('c').type('hm').previewed().type('!').state).reason.text).toBe('hm!')
  })

  it('has no yes if there is nothing to do', () => {
    const there = stage().press('c').previewed({ count: 0 })
    expect(dialogOf(there.state).focus).toBe('no')
    expect(there.press('tab', 'y', 'right', 'enter').effectsOf('carry-out')).toEqual([])
    expect(there.state.dialog).toBeUndefined()
  })

  it('has no yes if there is no preview', () => {
    const there = stage().press('c').act({ kind: 'preview-failed', request: 1, message: 'no answer' })
    expect(dialogOf(there.state)).toMatchObject({ focus: 'no', fault: 'no answer' })
    expect(there.press('tab', 'y', 'enter').effects).toHaveLength(1)
    expect(there.state.dialog).toBeUndefined()
  })

  it('requires the exact text to be typed', () => {
    const wrong = stage().press('c').previewed(BIG).press('tab').type('61').press('tab', 'tab', 'enter')
    expect(wrong.effectsOf('carry-out')).toEqual([])
    expect([dialogOf(wrong.state).focus, wrong.notice]).toEqual(['typed', expect.stringContaining('type the number')])
    const right = wrong.press('backspace').type('0').press('enter')
    expect([dialogOf(right.state).focus, right.effectsOf('carry-out')]).toEqual(['no', []])
    expect(right.press('tab', 'enter').effectsOf('carry-out')).toHaveLength(1)
  })

  it('moves with enter from the reason to the text that must be typed', () => {
    expect(dialogOf(stage().press('c').previewed(BIG).press('enter').state).focus).toBe('typed')
  })

  it('accepts a paste only into the focused field', () => {
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

  it('begins nothing when unlocked writes have expired meanwhile, and says so', () => {
    const there = asked().press('tab', 'tab').wait(600_000).press('enter')
    expect(there.effectsOf('carry-out')).toEqual([])
    expect([dialogOf(there.state).focus, there.notice]).toEqual(['yes', expect.stringContaining('locked')])
  })

  it('refuses a reason that a journal cannot contain', () => {
    const there = asked()
      .act({ kind: 'paste', text: 'ü'.repeat(600) })
      .press('tab', 'tab', 'enter')
    expect(there.effectsOf('carry-out')).toEqual([])
    expect([dialogOf(there.state).focus, there.notice]).toEqual(['reason', expect.stringContaining('1024 bytes')])
  })

  it('receives all keys: nothing behind it moves', () => {
    const there = asked()
    const { lists, screen } = there.state
    there.press('tab', 'j', 'k', 'space', '*', 'G', '1', '3', 's', '/', ':', '!', '?', 'r', 'c', 'X')
    expect([there.state.lists, there.state.screen, there.effects.length]).toEqual([lists, screen, 1])
  })

  it('clears the marks when the change begins, and keeps them otherwise', () => {
    expect(stage().press('*', 'c').previewed().press('escape').list.marks.size).toBe(3)
    expect(stage().press('*', 'c').previewed().press('tab', 'tab', 'enter').list.marks.size).toBe(0)
  })
})

describe('a preview that arrives', () => {
  it('late is ignored', () => {
    const there = stage().press('c', 'escape', 'j', 'c')
    expect(there.effects.map(({ kind }) => kind)).toEqual(['preview', 'forget-preview', 'preview'])
    expect(dialogOf(there.previewed({}, 1).state).preview).toBeUndefined()
    there.act({ kind: 'preview-failed', request: 1, message: 'late' })
    expect(dialogOf(there.state).fault).toBeUndefined()
    expect(dialogOf(there.previewed({}, 2).state).preview).toBeDefined()
  })

  it('after its dialog was closed opens no dialog', () => {
    const there = stage().press('c', 'escape').previewed()
    expect(there.state.dialog).toBeUndefined()
  })
})

describe('a signal', () => {
  const GATED = openStream('a', [
    { id: '00', name: 'Start', status: 'inprocess' },
    { id: '01.00', name: 'Ask', status: 'inprocess', prev: '00', 'lc:wait': 'yes', 'lc:signal': 'approve' },
    { id: '02.00', name: 'Pay', status: 'aborted', prev: '00' },
  ])
  const inStream = () => new Stage(worldWith({ streams: ['a'], open: GATED }), { writes: 'unlocked' }).press('enter')

  it('asks for its name first, then for data and reason, and is sent with all of them', () => {
    const there = stage().press('i').previewed({ verb: 'signal' })
    expect(dialogOf(there.state).focus).toBe('signal')
    there.type('paid').press('enter').type('@bill.pdf').press('enter').type('it came').press('enter')
    expect(dialogOf(there.state).focus).toBe('no')
    const [effect] = there.press('right', 'enter').effectsOf('carry-out')
    expect(effect).toMatchObject({ reason: 'it came', given: { name: 'paid', data: '@bill.pdf' } })
  })

  it('proposes the name that the event under the cursor waits for, else the first of the preview', () => {
    expect(dialogOf(inStream().press('j', 'i').state).signal.text).toBe('approve')
    const there = stage()
      .press('i')
      .previewed({ verb: 'signal', awaited: ['paid', 'approve'] })
    expect(dialogOf(there.state).signal.text).toBe('paid')
  })

  it('keeps a name that was typed before the preview came', () => {
    const there = stage()
      .press('i')
      .type('mine')
      .previewed({ verb: 'signal', awaited: ['paid'] })
    expect(dialogOf(there.state).signal.text).toBe('mine')
  })

  it('without a name changes nothing and goes back to the name', () => {
    const there = stage().press('i').previewed({ verb: 'signal' }).press('tab', 'tab', 'tab', 'right', 'enter')
    expect(there.effectsOf('carry-out')).toEqual([])
    expect(there.notice).toBe('nothing was changed: type the name of the signal')
    expect(dialogOf(there.state).focus).toBe('signal')
  })

  it('goes to the stream, not to the event under the cursor', () => {
    expect(inStream().press('j', 'i').effectsOf('preview')[0]?.targets).toEqual([{ stream: 'a' }])
  })

  describe('and skipping', () => {
    it('is of one failed event, and needs a reason', () => {
      const there = inStream().press('j', 'j', 'P').previewed({ verb: 'skip' })
      expect(there.effectsOf('preview')[0]).toMatchObject({ verb: 'skip', targets: [{ stream: 'a', event: '02.00' }] })
      there.press('enter', 'right', 'enter')
      expect(there.effectsOf('carry-out')).toEqual([])
      expect(there.notice).toBe('nothing was changed: say why the stream can go on without it')
      there.type('by hand').press('enter', 'right', 'enter')
      expect(there.effectsOf('carry-out')).toMatchObject([{ reason: 'by hand', given: undefined }])
    })

    it('takes neither the root nor several events', () => {
      expect(inStream().press('P').notice).toBe('skip takes a failed event')
      expect(inStream().press('j', 'space', 'space', 'P').notice).toBe('skip takes one event: u clears the marks')
    })
  })
})
