import { describe, expect, test } from 'vitest'
import { KeyReader } from '../../../../src/tui/terminal/keyboard.ts'

/** Names of keys, `<text>` for a paste. */
function names(actions: ReturnType<KeyReader['push']>): string[] {
  return actions
    .filter(({ kind }) => kind !== 'mouse-report')
    .map(action => (action.kind === 'key' ? action.press.key : action.kind === 'paste' ? `<${action.text}>` : '?'))
}

/** All keys from the chunks, and the rest when no more input follows. */
function read(...chunks: readonly string[]): string[] {
  const reader = new KeyReader()
  return names([...chunks.flatMap(chunk => reader.push(chunk)), ...reader.flush()])
}

describe('keys', () => {
  test.each([
    ['each character of a chunk is a key', ['jjj'], ['j', 'j', 'j']],
    ['characters of more than one unit are one key', ['aé👍🏽e\u0301世'], ['a', 'é', '👍🏽', 'e\u0301', '世']],
    [
      'control characters',
      ['\x03\x0c\r\t\x7f\x08\x1a'],
      ['ctrl-c', 'ctrl-l', 'enter', 'tab', 'backspace', 'backspace', 'ctrl-z'],
    ],
    ['arrows, as CSI and as SS3', ['\x1b[A\x1bOB\x1b[C\x1bOD'], ['up', 'down', 'right', 'left']],
    [
      'ends and pages',
      ['\x1b[H\x1b[4~\x1b[5~\x1b[6~\x1b[3~\x1b[7~'],
      ['home', 'end', 'pageup', 'pagedown', 'delete', 'home'],
    ],
    [
      'function keys of xterm, vt220 and the Linux console',
      ['\x1bOP\x1b[11~\x1b[[A\x1b[24~'],
      ['f1', 'f1', 'f1', 'f12'],
    ],
    [
      'modifiers come first',
      ['\x1b[1;5C\x1b[1;2A\x1b[3;3~\x1b[Z'],
      ['ctrl-right', 'shift-up', 'alt-delete', 'shift-tab'],
    ],
    ['a sequence in parts', ['\x1b', '[', '1;5', 'C', 'j'], ['ctrl-right', 'j']],
    ['a lone escape', ['\x1b'], ['escape']],
    ['an escape does not swallow the next key', ['\x1bj'], ['escape', 'j']],
    ['nor a key that looks like the start of a sequence', ['\x1b['], ['escape', '[']],
    ['escape twice', ['\x1b\x1b'], ['escape', 'escape']],
    ['escape and an arrow', ['\x1b\x1b[A'], ['escape', 'up']],
    ['an unfinished sequence is not text', ['\x1b[1;5'], []],
    [
      'answers and mouse reports of the terminal are not keys',
      ['\x1b[?62;4c\x1b[<0;10;5M\x1b[I\x1b]11;rgb:0000/0000/0000\x1b\\\x1bP1$r\x1b\\q'],
      ['q'],
    ],
    ['C1 controls are not text', ['a\x9bb'], ['a', 'b']],
  ])('%s', (_, chunks, expected) => {
    expect(read(...chunks)).toEqual(expected)
  })

  test('the space bar has a name and a text; keys without a text type nothing', () => {
    const [space, up] = new KeyReader().push(' \x1b[A')
    expect(space).toEqual({ kind: 'key', press: { key: 'space', text: ' ' } })
    expect(up).toEqual({ kind: 'key', press: { key: 'up', text: undefined } })
  })

  test('only an incomplete sequence is waited for', () => {
    const reader = new KeyReader()
    reader.push('j\x1b[A')
    expect(reader.waitMs).toBeUndefined()
    reader.push('\x1b')
    expect(reader.waitMs).toBeLessThanOrEqual(50)
  })
})

describe('pastes', () => {
  test.each([
    ['marked, with any content', ['\x1b[200~X\ry\x1b[A\n\x1b[201~j'], ['<X\ry\x1b[A\n>', 'j']],
    ['in parts, including the marks', ['a\x1b[20', '0~one ', 'two\x1b[', '201', '~b'], ['a', '<one two>', 'b']],
    ['with an escape that is not a mark', ['\x1b[200~a\x1b', '[3', 'm\x1b[201~'], ['<a\x1b[3m>']],
    ['that never ends', ['\x1b[200~abc'], ['<abc>']],
    ['without content', ['\x1b[200~\x1b[201~q'], ['q']],
    ['without marks: a line break between other characters', ['abc\rdef'], ['<abc\rdef>']],
    ['but not text that contains Ctrl-C', ['a\rb\x03'], ['a', 'enter', 'b', 'ctrl-c']],
    ['line breaks at the ends may have been typed', ['\rjj', 'abc\r'], ['enter', 'j', 'j', 'a', 'b', 'c', 'enter']],
  ])('%s', (_, chunks, expected) => {
    expect(read(...chunks)).toEqual(expected)
  })

  test('mouse reports are presses of the left button and the wheel, at cells from 0', () => {
    const press = (button: string, column: number, row: number) => ({ kind: 'mouse-report', button, column, row })
    expect(new KeyReader().push('\x1b[<0;12;5M\x1b[<0;12;5m\x1b[<64;1;1M\x1b[<65;300;70M')).toEqual([
      press('left', 11, 4),
      press('wheel-up', 0, 0),
      press('wheel-down', 299, 69),
    ])
    // Other buttons, motion, a report in parts, and broken ones.
    expect(read('\x1b[<2;1;1M', '\x1b[<35;1;1M', '\x1b[<0;1;M', '\x1b[<;;M', '\x1b[<0;1;1;1M')).toEqual([])
    const reader = new KeyReader()
    expect([...reader.push('\x1b[<0;1'), ...reader.push('2;5M')]).toEqual([press('left', 11, 4)])
  })

  test('a large amount of text at once is a paste, marked or not; a key that is held down is not', () => {
    expect(new KeyReader().push('c'.repeat(1_001))).toEqual([{ kind: 'paste', text: 'c'.repeat(1_001) }])
    expect(new KeyReader().push('j'.repeat(1_000))).toHaveLength(1_000)
    expect(names(new KeyReader().push(`${'x'.repeat(2_000)}\x03`)).at(-1)).toBe('ctrl-c')
  })

  test('a huge paste is cut', () => {
    const [paste] = new KeyReader().push(`\x1b[200~${'x'.repeat(1_000_000)}\x1b[201~`)
    expect(paste?.kind === 'paste' && paste.text.length).toBe(100_000)
  })
})
