import { describe, expect, it } from 'vitest'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { frameText } from '../support/scenes.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const stage = () => new Stage(worldWith({ streams: ['a1', 'a2', 'b'] }))
const typed = (text: string) => stage().press(':').type(text)
const textOf = ({ state }: Stage) => state.prompt?.field.text

/** Presses `tab`, and answers what it asks with these words. */
function tab(there: Stage, ...words: readonly string[]) {
  const before = there.effectsOf('complete').length
  there.press('tab')
  const asked = there.effectsOf('complete')[before]
  return asked === undefined ? there : there.act({ kind: 'completed', typed: asked.typed, words })
}

describe('tab in a command line', () => {
  it('asks for what can follow, and puts in the only answer', () => {
    const there = tab(typed('ls --ov'), '--overdue')
    expect(there.effects).toEqual([{ kind: 'complete', typed: 'ls --ov', line: 'ls --ov' }])
    expect(textOf(there)).toBe('ls --overdue ')
    expect(textOf(tab(typed('ls --status=f'), '--status='))).toBe('ls --status=')
  })

  it('puts in the common beginning, then each in turn, and back', () => {
    const there = tab(typed('show o'), 'orders/1', 'orders/2')
    expect(textOf(there)).toBe('show orders/')
    expect(['tab', 'tab', 'tab', 'shift-tab'].map(key => textOf(there.press(key)))).toEqual([
      'show orders/1',
      'show orders/2',
      'show orders/1',
      'show orders/2',
    ])
    expect(there.effectsOf('complete')).toHaveLength(1)
    expect(there.type('0').state.prompt).toMatchObject({ completion: undefined, field: { text: 'show orders/20' } })
  })

  it('offers the words of the dashboard beside the commands', () => {
    expect(textOf(tab(typed('lea'), 'lease'))).toBe('lease')
    expect(textOf(tab(typed('act')))).toBe('activity ')
    expect(textOf(tab(typed('ls act')))).toBe('ls act')
  })

  it('knows the arguments of the words of the dashboard', () => {
    expect(tab(typed('ctx p')).effects).toEqual([{ kind: 'complete', typed: 'ctx p', line: 'context use p' }])
    expect(tab(typed('open x')).effects).toEqual([{ kind: 'complete', typed: 'open x', line: 'show x' }])
    const there = typed('view l')
    const view = { screen: 'streams', filter: '', onlyBroken: false, sort: undefined }
    there.act({ kind: 'settings-saved', settings: { columns: {}, views: { late: view, bad: view } } })
    expect(textOf(tab(there))).toBe('view late ')
  })

  it('keeps what is behind the cursor, and words with escaped blanks', () => {
    const there = typed('show o -v')
    there.press('left', 'left', 'left')
    expect(textOf(tab(there, 'orders/1'))).toBe('show orders/1  -v')
    expect(textOf(tab(typed('show my\\ o'), 'my\\ orders'))).toBe('show my\\ orders ')
  })

  it('ignores an answer to a line that has changed or was left', () => {
    const late = (there: Stage) => there.act({ kind: 'completed', typed: 'ls', words: ['lsx'] })
    expect(textOf(late(typed('ls -')))).toBe('ls -')
    expect(late(typed('ls').press('escape')).state.prompt).toBeUndefined()
  })

  it('shows what it found beside the line', () => {
    const there = tab(typed('show o'), 'orders/1', 'orders/2')
    const foot = () =>
      frameText(frameOf({ ...there.seen, state: there.state }))
        .split('\n')
        .at(-2)
    expect(foot()).toMatch(/^:show orders\/│ +orders\/1 {2}orders\/2$/)
    there.press('tab')
    expect(foot()).toMatch(/^:show orders\/1│ +1 of 2 {2}orders\/2$/)
    tab(there.press('x'))
    expect(foot()).toMatch(/nothing completes this$/)
  })

  it('does nothing in a filter', () => {
    expect(stage().press('/', 'a', 'tab').list.filter).toBe('a')
  })
})

describe('a word in the command line', () => {
  const line = (text: string) => typed(text).press('enter')

  it('goes to the screen of that name', () => {
    expect(['leases', 'watchdog', 'activity'].map(word => line(word).state.screen)).toEqual([
      'leases',
      'watchdog',
      'activity',
    ])
    expect(line('watchdog status').effectsOf('run-line')).toHaveLength(1)
  })

  it('opens a stream, which need not be listed', () => {
    expect(line('open orders/9').state).toMatchObject({ screen: 'stream', stream: 'orders/9', cameFrom: 'streams' })
    expect(line('open').notice).toBe('one name is needed: :open STREAM')
  })

  it('switches to the store of another context', () => {
    expect(line('ctx prod').effects).toEqual([{ kind: 'switch-store', context: 'prod' }])
    expect(line('ctx').effects).toEqual([{ kind: 'run-line', line: 'context list', mayWrite: false }])
  })

  it('quits, and shows the keys', () => {
    expect(line('q').effects).toEqual([{ kind: 'quit' }])
    expect(line('help').state.dialog?.kind).toBe('help')
    expect(line('help ls').effectsOf('run-line')).toHaveLength(1)
  })
})

describe('the output of a command line', () => {
  const lines = ['NAME  STATUS', 'a1    inprocess', 'zz    gone', 'b     init']
  const shown = () =>
    typed('ls')
      .press('enter')
      .act({ kind: 'line-answered', output: { exit: 0, lines } })

  it('opens the stream that the line under the cursor names', () => {
    expect(shown().state.dialog).toMatchObject({ cursor: 1 })
    expect(shown().press('enter').state).toMatchObject({ screen: 'stream', stream: 'a1', dialog: undefined })
    expect(shown().press('j', 'j', 'enter').state.stream).toBe('b')
    expect(shown().press('G', 'j', 'enter').state.stream).toBe('b')
  })

  it('closes on a line without a stream, and where none is named', () => {
    expect(shown().press('j', 'enter').state).toMatchObject({ screen: 'streams', dialog: undefined })
    const other = typed('x')
      .press('enter')
      .act({ kind: 'line-answered', output: { exit: 0, lines: ['none'] } })
    expect(other.state.dialog).not.toHaveProperty('cursor')
    expect(other.press('enter').state).toMatchObject({ screen: 'streams', dialog: undefined })
  })

  it('keeps the cursor on the screen, and marks its line', () => {
    const many = Array.from({ length: 100 }, (_, at) => `a1 ${at}`)
    const there = typed('x')
      .press('enter')
      .act({ kind: 'line-answered', output: { exit: 0, lines: many } })
    const cursorLine = () => frameText(frameOf({ ...there.seen, state: there.state })).match(/›a1 \d+/)?.[0]
    expect(cursorLine()).toBe('›a1 0')
    expect([there.press('G') && cursorLine(), there.press('g') && cursorLine()]).toEqual(['›a1 99', '›a1 0'])
  })
})
