import { describe, expect, it } from 'vitest'
import { outcomeOf, Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const stage = () => new Stage(worldWith({ streams: ['a', 'b'] }), { writes: 'unlocked' })

/** A change of three streams is running; its outcomes are in front. */
const running = () => stage().press('c').previewed({ count: 3 }).press('tab', 'tab', 'enter')

const END = { kind: 'batch-ended', end: { lines: ['run file: x'] } } as const

describe('a running change', () => {
  it('shows the outcome of each target', () => {
    const there = running()
      .act({ kind: 'outcome', outcome: outcomeOf('a') })
      .act(END)
    expect(there.state.batch).toMatchObject({
      outcomes: [{ target: { stream: 'a' } }],
      end: { lines: ['run file: x'] },
    })
    expect([there.state.dialog?.kind, there.notice]).toEqual(['outcomes', undefined])
  })

  it('continues after its dialog is closed, can be shown again, and reports its end', () => {
    const there = running()
      .press('escape')
      .act({ kind: 'outcome', outcome: outcomeOf('a') })
    expect(there.state.dialog).toBeUndefined()
    expect(there.press('O').state.dialog?.kind).toBe('outcomes')
    there
      .press('escape')
      .act({ kind: 'outcome', outcome: outcomeOf('b', 'busy') })
      .act(END)
    expect(there.state.notice).toMatchObject({ text: 'cancel: 1 done, 1 busy: O shows it', style: 'warn' })
    expect(there.press('O').state.dialog?.kind).toBe('outcomes')
  })

  it('reports why it could not begin', () => {
    const there = running()
      .press('escape')
      .act({ kind: 'batch-ended', end: { fault: 'no \u001b rights' } })
    expect(there.state.notice).toMatchObject({ text: 'cancel: no ␛ rights: O shows it', style: 'warn' })
    expect(there.wait(60_000).state.notice).toBeDefined()
    expect(there.press('j').state.notice).toBeUndefined()
  })

  it('accepts no further outcome after its end', () => {
    const there = running()
      .act(END)
      .act({ kind: 'outcome', outcome: outcomeOf('late') })
      .act({ kind: 'batch-ended', end: { fault: '' } })
    expect(there.state.batch).toMatchObject({ outcomes: [], end: { lines: ['run file: x'] } })
  })

  it('prevents another change from starting', () => {
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

  it('scrolls through its outcomes', () => {
    const there = running()
    for (let at = 0; at < 50; at++) there.act({ kind: 'outcome', outcome: outcomeOf(`s${at}`) })
    expect(there.press('G').state.dialog).toMatchObject({ top: 16 })
    expect(there.press('k', 'home').state.dialog).toMatchObject({ top: 0 })
    expect(there.press('G').act({ kind: 'resize', size: { columns: 80, rows: 200 } }).state.dialog).toMatchObject({
      top: 0,
    })
  })

  it('has no outcomes at the beginning', () => {
    const there = stage().press('O')
    expect([there.state.dialog, there.notice]).toEqual([undefined, 'nothing has been changed yet'])
  })
})

describe('quitting during a change', () => {
  it.each(['q', 'ctrl-c'])('requires confirmation: %s', key => {
    const there = running().press('escape', key)
    expect([there.state.dialog, there.effectsOf('quit')]).toEqual([{ kind: 'quit' }, []])
  })

  it('requires confirmation on the command line too', () => {
    expect(running().press('escape', ':').type('q').press('enter').state.dialog).toEqual({ kind: 'quit' })
  })

  it.each(['escape', 'ctrl-c', 'n', 'q', 'enter'])('is canceled with %s', key => {
    const there = running().press('escape', 'q', key)
    expect([there.state.dialog, there.effectsOf('stop-batch'), there.effectsOf('quit')]).toEqual([undefined, [], []])
  })

  it('stops changes that have not begun, and waits for those that have', () => {
    const there = running().press('escape', 'q', 'y')
    expect([there.effectsOf('stop-batch').length, there.effectsOf('quit')]).toEqual([1, []])
    expect(there.state).toMatchObject({ batch: { isStopping: true }, dialog: { kind: 'outcomes' } })
    expect(there.act(END).effects.at(-1)).toEqual({ kind: 'quit' })
  })

  it('does not wait on a second request', () => {
    expect(running().press('escape', 'q', 'y', 'escape', 'q').effects.at(-1)).toEqual({ kind: 'quit' })
  })

  it('needs no confirmation any more when the change has ended', () => {
    const there = running().press('escape', 'q').act(END)
    expect([there.state.dialog, there.effectsOf('quit')]).toEqual([undefined, []])
    expect(there.press('q').effects.at(-1)).toEqual({ kind: 'quit' })
  })
})
