import { describe, expect, it } from 'vitest'
import { outcomeOf, Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const stage = () => new Stage(worldWith({ streams: ['a', 'b'] }), { writes: 'unlocked' })

/** A change of three streams is being carried out; its outcomes are in front. */
const running = () => stage().press('c').previewed({ count: 3 }).press('tab', 'tab', 'enter')

const END = { kind: 'batch-ended', end: { lines: ['run file: x'] } } as const

describe('a change that is carried out', () => {
  it('tells what became of each target', () => {
    const there = running()
      .act({ kind: 'outcome', outcome: outcomeOf('a') })
      .act(END)
    expect(there.state.batch).toMatchObject({
      outcomes: [{ target: { stream: 'a' } }],
      end: { lines: ['run file: x'] },
    })
    expect([there.state.dialog?.kind, there.notice]).toEqual(['outcomes', undefined])
  })

  it('goes on behind its closed dialog, can be looked at again, and says when it has ended', () => {
    const there = running()
      .press('escape')
      .act({ kind: 'outcome', outcome: outcomeOf('a') })
    expect(there.state.dialog).toBeUndefined()
    expect(there.press('o').state.dialog?.kind).toBe('outcomes')
    there
      .press('escape')
      .act({ kind: 'outcome', outcome: outcomeOf('b', 'busy') })
      .act(END)
    expect(there.state.notice).toMatchObject({ text: 'cancel: 1 done, 1 busy: o shows it', style: 'warn' })
    expect(there.press('o').state.dialog?.kind).toBe('outcomes')
  })

  it('says why it could not be begun', () => {
    const there = running()
      .press('escape')
      .act({ kind: 'batch-ended', end: { fault: 'no \u001b rights' } })
    expect(there.state.notice).toMatchObject({ text: 'cancel: no ␛ rights: o shows it', style: 'warn' })
  })

  it('takes nothing more when it has ended', () => {
    const there = running()
      .act(END)
      .act({ kind: 'outcome', outcome: outcomeOf('late') })
      .act({ kind: 'batch-ended', end: { fault: '' } })
    expect(there.state.batch).toMatchObject({ outcomes: [], end: { lines: ['run file: x'] } })
  })

  it('lets no other one begin', () => {
    const there = running().press('escape', 'c')
    expect([there.state.dialog, there.effectsOf('preview').length]).toEqual([undefined, 1])
    expect(there.notice).toContain('under way')
    expect(there.act(END).press('c').effectsOf('preview')).toHaveLength(2)
  })

  it('is stopped by s, once', () => {
    const there = running().press('s', 's')
    expect(there.effectsOf('stop-batch')).toHaveLength(1)
    expect(there.state.batch).toMatchObject({ isStopping: true })
    expect(there.act(END).effectsOf('quit')).toEqual([])
  })

  it('scrolls through its outcomes as far as there are some', () => {
    const there = running()
    for (let at = 0; at < 50; at++) there.act({ kind: 'outcome', outcome: outcomeOf(`s${at}`) })
    expect(there.press('G').state.dialog).toMatchObject({ top: 16 })
    expect(there.press('k', 'home').state.dialog).toMatchObject({ top: 0 })
    expect(there.press('G').act({ kind: 'resize', size: { columns: 80, rows: 200 } }).state.dialog).toMatchObject({
      top: 0,
    })
  })

  it('has no outcomes before the first one', () => {
    const there = stage().press('o')
    expect([there.state.dialog, there.notice]).toEqual([undefined, 'nothing has been changed yet'])
  })
})

describe('quitting while a change is carried out', () => {
  it.each(['q', 'ctrl-c'])('is asked about: %s', key => {
    const there = running().press('escape', key)
    expect([there.state.dialog, there.effectsOf('quit')]).toEqual([{ kind: 'quit' }, []])
  })

  it('is asked about on the command line too', () => {
    expect(running().press('escape', ':').type('q').press('enter').state.dialog).toEqual({ kind: 'quit' })
  })

  it.each(['escape', 'ctrl-c', 'n', 'q', 'enter'])('is given up by %s', key => {
    const there = running().press('escape', 'q', key)
    expect([there.state.dialog, there.effectsOf('stop-batch'), there.effectsOf('quit')]).toEqual([undefined, [], []])
  })

  it('stops what has not begun, and waits for what has', () => {
    const there = running().press('escape', 'q', 'y')
    expect([there.effectsOf('stop-batch').length, there.effectsOf('quit')]).toEqual([1, []])
    expect(there.state).toMatchObject({ batch: { isStopping: true }, dialog: { kind: 'outcomes' } })
    expect(there.act(END).effects.at(-1)).toEqual({ kind: 'quit' })
  })

  it('does not wait when it is said again', () => {
    expect(running().press('escape', 'q', 'y', 'escape', 'q').effects.at(-1)).toEqual({ kind: 'quit' })
  })

  it('is not asked about any more when the change has ended', () => {
    const there = running().press('escape', 'q').act(END)
    expect([there.state.dialog, there.effectsOf('quit')]).toEqual([undefined, []])
    expect(there.press('q').effects.at(-1)).toEqual({ kind: 'quit' })
  })
})
