import { describe, expect, it } from 'vitest'
import { NOTICE_MS, UNLOCKED_MS } from '../../../../src/tui/state/state.ts'
import { Stage } from '../support/stage.ts'
import { NOW_MS, worldWith } from '../support/world.ts'

const stage = (options: ConstructorParameters<typeof Stage>[1] = {}) =>
  new Stage(worldWith({ streams: ['a'] }), options)
const guarded = (options: ConstructorParameters<typeof Stage>[1] = {}) =>
  new Stage(worldWith({ streams: ['a'], facts: { isProtected: true, protectedName: 'prod' } }), options)

describe('changes', () => {
  it('are locked at first, and can be unlocked for ten minutes', () => {
    const there = stage().press('!')
    expect(there.state.writes).toEqual({ kind: 'unlocked', untilMs: NOW_MS + UNLOCKED_MS })
    expect(there.notice).toContain('10 minutes')
  })

  it('are locked again by the same key, and after that time', () => {
    expect(stage().press('!', '!').state.writes).toEqual({ kind: 'locked' })
    const there = stage()
      .press('!')
      .wait(UNLOCKED_MS - 1)
    expect(there.state.writes.kind).toBe('unlocked')
    there.wait(1)
    expect([there.state.writes.kind, there.notice]).toEqual(['locked', expect.stringContaining('locked again')])
  })

  it('are unlocked from the start on request', () => {
    expect(stage({ writes: 'unlocked' }).state.writes).toEqual({ kind: 'unlocked', untilMs: NOW_MS + UNLOCKED_MS })
  })

  it('stay locked if no change is possible', () => {
    const there = stage({ writes: 'never' }).press('!')
    expect([there.state.writes.kind, there.state.dialog]).toEqual(['never', undefined])
    expect(there.notice).toContain('read-only')
  })
})

describe('changes in a protected store', () => {
  it('are unlocked by typing its name exactly', () => {
    const there = guarded().press('!')
    expect([there.state.dialog, there.state.writes.kind]).toEqual([
      { kind: 'unlock', name: 'prod', field: { text: '', at: 0 }, isWrong: false },
      'locked',
    ])
    there.type('Prod').press('enter')
    expect(there.state).toMatchObject({ writes: { kind: 'locked' }, dialog: { isWrong: true } })
    expect(there.press('ctrl-u').state.dialog).toMatchObject({ isWrong: false })
    there.act({ kind: 'paste', text: 'prod' }).press('enter')
    expect(there.state).toMatchObject({ writes: { kind: 'unlocked' }, dialog: undefined })
  })

  it.each(['escape', 'ctrl-c'])('stay locked after %s', key => {
    const there = guarded().press('!').type('prod').press(key)
    expect([there.state.dialog, there.state.writes.kind, there.effects]).toEqual([undefined, 'locked', []])
  })

  it('are locked without a prompt', () => {
    expect(guarded().press('!').type('prod').press('enter', '!').state.writes.kind).toBe('locked')
  })

  it('prompt at once if they should be unlocked from the start', () => {
    const there = guarded({ writes: 'unlocked', protectedName: 'prod' })
    expect(there.state).toMatchObject({ writes: { kind: 'locked' }, dialog: { kind: 'unlock', name: 'prod' } })
    expect(there.type('prod').press('enter').state.writes.kind).toBe('unlocked')
  })
})

describe('a notice', () => {
  it('is shown for a while', () => {
    const there = stage().act({ kind: 'notice', text: 'hello', style: 'good' })
    expect(there.wait(NOTICE_MS - 1).state.notice).toEqual({
      text: 'hello',
      style: 'good',
      untilMs: NOW_MS + NOTICE_MS,
    })
    expect(there.wait(1).state.notice).toBeUndefined()
  })
})

describe('the help', () => {
  it.each(['escape', 'q', '?', 'enter', 'ctrl-c'])('is closed by %s, which has no other effect', key => {
    const there = stage().press('?')
    expect(there.state.dialog).toEqual({ kind: 'help', top: 0 })
    expect([there.press(key).state.dialog, there.effects]).toEqual([undefined, []])
  })

  it('scrolls within its bounds', () => {
    const there = stage().act({ kind: 'resize', size: { columns: 80, rows: 12 } })
    expect(there.press('f1', 'j', 'j', 'k').state.dialog).toEqual({ kind: 'help', top: 1 })
    expect(there.press('pageup', 'k').state.dialog).toEqual({ kind: 'help', top: 0 })
  })

  it('receives all keys: nothing behind it moves', () => {
    const there = stage({ writes: 'unlocked' }).press('?', 'j', 'c', '3', 'space', ':', '/', '!', 'd')
    expect(there.state).toMatchObject({ screen: 'streams', prompt: undefined, isDetailOpen: false })
    expect([there.state.lists, there.effects]).toEqual([stage().state.lists, []])
  })
})
