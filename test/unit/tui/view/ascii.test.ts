import { expect, it } from 'vitest'
import { widthOf } from '../../../../src/formats/terminal/width.ts'
import { SCREENS } from '../../../../src/tui/state/state.ts'
import { asciiText } from '../../../../src/tui/view/ascii.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { CANCEL_DIALOG, demoScene, dialogScene, frameText, SIZES, tooWide } from '../support/scenes.ts'

const SIZE = { columns: 120, rows: 40 }
const FRAMES = [
  ...SIZES.flatMap(size => SCREENS.map(screen => demoScene(screen, size, { isDetailOpen: true }))),
  demoScene('stream', SIZE, { pane: 'timeline' }),
  demoScene('stream', SIZE, { pane: 'xml' }),
  demoScene('streams', SIZE, {
    frozen: { revision: 0 },
    prompt: { kind: 'filter', field: { text: 'wört', at: 2 }, before: '' },
  }),
  dialogScene({ kind: 'help', top: 0 }, SIZE),
  dialogScene(CANCEL_DIALOG, SIZE),
]

it('every screen can be drawn in ASCII', () => {
  for (const scene of FRAMES) {
    const frame = frameOf(scene, { isAscii: true })
    expect(frameText(frame)).toMatch(/^[ -~\n]*$/)
    expect(tooWide(frame)).toEqual([])
  }
})

it('every glyph of the program has an ASCII sign', () => {
  const strangers = /réserv\S*|客户|bücher|wört|日本\S*|🚆\S*/gu
  for (const scene of FRAMES) {
    const drawn = frameText(frameOf(scene)).replace(strangers, '')
    const signs = [...new Set(drawn.match(/[^ -~\n]/gu) ?? [])]
    expect(signs.filter(sign => asciiText(sign) === '?')).toEqual([])
  }
})

it('glyphs of states stay distinct', () => {
  const glyphs = [...'▶○◷◇✓✗⊘†±■‖↶!?…'].map(asciiText)
  expect(new Set(glyphs).size).toBe(glyphs.length)
  expect(new Set([...'▁▂▃▄▅▇'].map(asciiText)).size).toBe(6)
})

it('cursor, running and folded are three signs', () => {
  expect([...'›▶▸'].map(asciiText)).toEqual(['>', '#', '+'])
})

it('the signs have the width of the glyphs', () => {
  for (const text of ['日本 ok', '🚆', 'Ünïcödé', '├─▾', 'ab']) expect(asciiText(text)).toHaveLength(widthOf(text))
  expect(asciiText('Ünïcödé 日')).toBe('Unicode ??')
})
