import { describe, expect, it } from 'vitest'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const stage = (options: ConstructorParameters<typeof Stage>[1] = {}) =>
  new Stage(worldWith({ streams: ['a1', 'a2', 'b'] }), options)

describe('the filter', () => {
  it('is applied with each typed character', () => {
    const there = stage().press('/', 'a')
    expect([there.list.filter, there.seen.listing.keys]).toEqual(['a', ['a1', 'a2']])
    expect(there.press('2', 'backspace', 'backspace').list.filter).toBe('')
  })

  it('is kept with enter and can be edited again', () => {
    const there = stage().press('/', 'a', 'enter')
    expect([there.state.prompt, there.list.filter]).toEqual([undefined, 'a'])
    expect(there.press('/', '1', 'enter').list.filter).toBe('a1')
  })

  it.each(['escape', 'ctrl-c'])('is restored after %s', key => {
    const there = stage().press('/', 'a', 'enter', '/', 'x', 'y', key)
    expect([there.state.prompt, there.list.filter, there.effects]).toEqual([undefined, 'a', []])
  })

  it('returns the cursor to its row when it is discarded', () => {
    const there = stage().press('G', '/', 'a')
    expect(there.act({ kind: 'tick' }).cursor).toBe('a2')
    expect(there.press('escape').cursor).toBe('b')
  })

  it('belongs to its list', () => {
    const there = stage().press('/', 'a', 'enter', '3')
    expect([there.list.filter, there.state.lists.streams.filter]).toEqual(['', 'a'])
  })

  it('accepts keys that are commands elsewhere, and a paste', () => {
    expect(stage().press('/').type('q c?!').list.filter).toBe('q c?!')
    expect(stage().press('/').act({ kind: 'paste', text: 'a\nb' }).list.filter).toBe('a b')
  })

  it('counts as a move of the cursor', () => {
    expect(stage().press('/', 'a').list.moves).toBe(1)
  })
})

describe('the command line', () => {
  it('runs read-only while changes are locked', () => {
    const there = stage().press(':').type(' ls --failed ').press('enter')
    expect(there.effects).toEqual([{ kind: 'run-line', line: 'ls --failed', mayWrite: false }])
    expect(there.state.dialog).toEqual({ kind: 'output', line: 'ls --failed', output: undefined, top: 0 })
    expect(there.state.prompt).toBeUndefined()
  })

  it('may make changes as long as they are unlocked', () => {
    const there = stage({ writes: 'unlocked' })
    expect(there.press(':', 'x', 'enter').effectsOf('run-line')[0]?.mayWrite).toBe(true)
    there.nowMs += 600_000
    expect(there.press('escape', 'escape', ':', 'x', 'enter').effectsOf('run-line')[1]?.mayWrite).toBe(false)
  })

  it('shows its output, if that is still waited for', () => {
    const there = stage().press(':', 'x', 'enter')
    there.act({ kind: 'line-answered', output: { exit: 0, lines: ['one'] } })
    there.act({ kind: 'line-answered', output: { exit: 1, lines: ['late'] } })
    expect(there.state.dialog).toMatchObject({ output: { lines: ['one'] } })
    expect(there.press('escape').effectsOf('stop-line')).toEqual([])
    expect(there.act({ kind: 'line-answered', output: { exit: 0, lines: [] } }).state.dialog).toBeUndefined()
  })

  it.each(['escape', 'q', 'ctrl-c'])('is stopped when %s closes it before the output', key => {
    const there = stage().press(':', 'x', 'enter', key)
    expect([there.state.dialog, there.effects.at(-1)]).toEqual([undefined, { kind: 'stop-line' }])
  })

  it('that may have changed a stream is stopped by escape, and its output is waited for until the second escape', () => {
    const there = stage({ writes: 'unlocked' }).press(':', 'x', 'enter', 'escape')
    expect([there.state.dialog?.kind, there.effects.at(-1)]).toEqual(['output', { kind: 'stop-line' }])
    expect(there.notice).toContain('stopping')
    there.act({ kind: 'line-answered', output: { exit: 130, lines: ['3 done; 4 not begun'] } })
    expect(there.state.dialog).toMatchObject({ output: { lines: ['3 done; 4 not begun'] } })
    expect(there.press('escape').state.dialog).toBeUndefined()
    expect(stage({ writes: 'unlocked' }).press(':', 'x', 'enter', 'escape', 'escape').state.dialog).toBeUndefined()
  })

  it('scrolls through the lines of its output', () => {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`)
    const there = stage()
      .press(':', 'x', 'enter')
      .act({ kind: 'line-answered', output: { exit: 0, lines } })
    const tops = ['j', 'k', 'k', 'pagedown', 'G', 'j', 'g'].map(key => {
      const { dialog } = there.press(key).state
      return dialog?.kind === 'output' ? dialog.top : -1
    })
    expect(tops).toEqual([1, 0, 0, 34, 66, 66, 0])
  })

  it('handles a few commands of the dashboard itself', () => {
    expect(stage().press(':').type('q').press('enter').effects).toEqual([{ kind: 'quit' }])
    expect(stage().press(':').type('quit').press('enter').effects).toEqual([{ kind: 'quit' }])
    expect(stage().press(':').type('help').press('enter').state.dialog?.kind).toBe('help')
  })

  it('closes if it is empty', () => {
    for (const key of ['escape', 'ctrl-c']) {
      const there = stage().press(':').type('ls').press(key)
      expect([there.state, there.effects]).toEqual([stage().state, []])
    }
    expect(stage().press(':', 'space', 'enter').effects).toEqual([])
  })

  it('remembers previous lines', () => {
    const there = stage()
    for (const line of ['one', 'two', 'two']) there.press(':').type(line).press('enter', 'escape')
    const texts = ['up', 'up', 'up', 'down', 'down', 'down'].map((key, at) => {
      const { prompt } = there.press(...(at === 0 ? [':'] : []), key).state
      return prompt?.field.text
    })
    expect(texts).toEqual(['two', 'one', 'one', 'two', '', ''])
    expect(there.press('up', 'enter').effects.at(-1)).toMatchObject({ line: 'two' })
  })

  it('keeps the typed text if there is no later line', () => {
    expect(stage().press(':').type('new').press('down').state.prompt?.field.text).toBe('new')
  })
})
