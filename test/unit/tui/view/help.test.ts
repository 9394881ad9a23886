import { expect, it } from 'vitest'
import { HELP } from '../../../../src/tui/state/keys/keys.ts'
import type { Size } from '../../../../src/tui/state/state.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { frameText, sceneWith } from '../support/scenes.ts'
import { Stage } from '../support/stage.ts'

const EVERY_WORD = HELP.flatMap(({ lines }) => lines.flatMap(({ does }) => does.split(' ')))

/** The visible text of the help while it is scrolled to its end, line by line. */
function wholeHelp(size: Size): { readonly text: string; readonly stage: Stage; readonly presses: number } {
  const stage = new Stage().act({ kind: 'resize', size }).press('?')
  let [text, presses] = ['', 0]
  for (let shown = shownOf(stage); shown !== text.slice(-shown.length); shown = shownOf(stage.press('j'))) {
    text += shown
    presses++
  }
  return { text, stage, presses }
}

const SCENE = sceneWith()

function shownOf({ state }: Stage): string {
  return frameText(frameOf({ ...SCENE, state }))
}

it('the help can be scrolled to its last word, however few columns there are', () => {
  for (const size of [
    { columns: 44, rows: 12 },
    { columns: 60, rows: 20 },
    { columns: 100, rows: 20 },
  ]) {
    const { text } = wholeHelp(size)
    expect(EVERY_WORD.filter(word => !text.includes(word))).toEqual([])
    expect(text).toContain('quit\n')
  }
})

it('the help returns with the first key after its end', () => {
  const { stage } = wholeHelp({ columns: 60, rows: 20 })
  const atEnd = shownOf(stage.press('j', 'j', 'j'))
  expect(shownOf(stage.press('k'))).not.toBe(atEnd)
})

it('the help begins with the keys of the screen, and has those of others at its end, faint', () => {
  const size = { columns: 80, rows: 150 }
  const rowsOf = (...keys: readonly string[]) => {
    const { state } = new Stage().act({ kind: 'resize', size }).press(...keys, '?')
    return frameOf({ ...SCENE, state }).rows
  }
  const place = (rows: ReturnType<typeof rowsOf>, text: string) =>
    rows.findIndex(({ spans }) => spans.some(([part]) => part.includes(text)))
  const [streams, watchdog] = [rowsOf(), rowsOf('4')]
  const others = (rows: ReturnType<typeof rowsOf>) => place(rows, 'On other screens')
  expect(place(streams, 'what a watchdog pass')).toBeGreaterThan(others(streams))
  expect(place(watchdog, 'what a watchdog pass')).toBeLessThan(others(watchdog))
  expect(streams[place(streams, 'what a watchdog pass')]?.spans.map(([, style]) => style)).toEqual(['dim'])
})
