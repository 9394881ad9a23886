import unicode11 from '@xterm/addon-unicode11'
import headless from '@xterm/headless'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { widthOf } from '../../../../src/formats/terminal/width.ts'
import { safeName, safeText } from '../../../../src/tui/view/safe-text.ts'

it('ASCII and characters of one column are unchanged', () => {
  for (const text of ['orders/4711', 'a "b" <c>', 'Grüße, señor', 'x…y']) expect(safeText(text)).toBe(text)
})

it.each([
  ['variation selectors', '❤️☺️', '❤☺'],
  ['joiners', '👩‍🚀', '👩🚀'],
  ['skin tones', '👍🏽', '👍'],
  ['flags', '🇩🇪', 'DE'],
  ['keycaps', '1️⃣', '1'],
  ['Indic conjuncts', 'क्ष', 'क्\u200cष'],
  ['Indic endings', 'क्', 'क्'],
  ['bytes of escapes', '\u001b[31mred\u0007', '␛[31mred␇'],
  ['line ends and tabs', 'a\nb\tc', 'a␊b␉c'],
  ['right-to-left controls', 'a\u202eb', 'a\\u{202e}b'],
  ['invisible characters', 'a\u00ad\u200bb\u{e0041}', 'ab'],
  ['lone surrogates', 'a\ud83db', 'a\ufffdb'],
  ['combining marks without a base', '\u0301a', 'a'],
  ['stacked combining marks', `a${'\u0316'.repeat(40)}b`, 'a\u0316\u0316b'],
  ['combining marks with a composed letter', 'e\u0301', 'é'],
  ['emoji unknown to old terminals', '🫠', '\ufffd'],
  ['private use', '\ue0b0', '\ufffd'],
])('text is made safe: %s', (_what, text, safe) => {
  expect(safeText(text)).toBe(safe)
})

it('wide characters are kept', () => {
  for (const text of ['日本', '客户', '한국어', '🚆', 'ไทย', 'Ωμέγα', 'עברית']) expect(safeText(text)).toBe(text)
})

it('texts that no row could show are cut', () => {
  expect(safeText('a'.repeat(100_000)).length).toBeLessThan(5_000)
  expect(safeText('🚆'.repeat(100_000)).length).toBeLessThan(5_000)
})

/** Blocks in which terminals and libraries differ. */
const BLOCKS = [
  [0x20, 0x17f],
  [0x300, 0x36f],
  [0x590, 0x6ff],
  [0x900, 0xdff],
  [0xe00, 0xfff],
  [0x1000, 0x11ff],
  [0x1780, 0x17ff],
  [0x1a00, 0x1bff],
  [0x2000, 0x20ff],
  [0x2600, 0x27ff],
  [0x3000, 0x30ff],
  [0xa800, 0xabff],
  [0xac00, 0xd7ff],
  [0xfe00, 0xffff],
  [0x1f000, 0x1faff],
  [0x1f1e6, 0x1f1ff],
  [0x1f3f0, 0x1f400],
  [0xe0000, 0xe01ef],
  [0x200d, 0x200d],
  [0xfe0f, 0xfe0f],
] as const
const character = fc
  .oneof(...BLOCKS.map(([from, to]) => fc.integer({ min: from, max: to })))
  .filter(code => code < 0xd800 || code > 0xdfff)
  .map(code => String.fromCodePoint(code))
const text = fc.oneof(
  fc.array(character, { maxLength: 12 }).map(parts => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }),
)

it('the computed width is the width on a terminal', async () => {
  const terminal = new headless.Terminal({ cols: 400, rows: 1, allowProposedApi: true, scrollback: 0 })
  terminal.loadAddon(new unicode11.Unicode11Addon())
  terminal.unicode.activeVersion = '11'
  const columnsOf = (written: string) =>
    new Promise<number>(resolve => terminal.write(`\r${written}`, () => resolve(terminal.buffer.active.cursorX)))
  await fc.assert(
    fc.asyncProperty(text, async given => {
      const safe = safeText(given)
      expect(await columnsOf(safe)).toBe(widthOf(safe))
    }),
    { numRuns: 3_000 },
  )
  terminal.dispose()
})

it('names that differ only in invisible characters look different', () => {
  const names = ['orders/42', 'orders/4\u200b2', 'orders/42\ufe0f', 'orders/42 ', 'orders/\u00ad42']
  expect(new Set(names.map(safeName)).size).toBe(names.length)
  expect(safeName('orders/42')).toBe('orders/42')
})
