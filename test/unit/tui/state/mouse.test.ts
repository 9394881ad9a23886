import { expect, it } from 'vitest'
import type { ColumnList } from '../../../../src/tui/state/state.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const NAMES = Array.from({ length: 60 }, (_, at) => `s${String(at).padStart(2, '0')}`)
const stage = () => new Stage(worldWith({ streams: NAMES }))

function mouse(on: Stage, button: 'left' | 'wheel-up' | 'wheel-down', at: Partial<Click> = {}): Stage {
  return on.act({ kind: 'mouse', button, row: 0, column: 0, text: '', key: undefined, ...at })
}

interface Click {
  readonly row: number
  readonly column: number
  readonly text: string
  readonly key: string
  readonly titles: ColumnList
}

it('the wheel moves the cursor by three rows, and stops at the ends', () => {
  const there = mouse(stage(), 'wheel-down')
  expect(there.cursor).toBe('s03')
  expect(mouse(mouse(there, 'wheel-up'), 'wheel-up').cursor).toBe('s00')
})

it('a click selects the row below the head and the titles, a second one opens it', () => {
  const there = mouse(stage(), 'left', { row: 3 + 1 + 5 })
  expect([there.cursor, there.state.screen]).toEqual(['s05', 'streams'])
  expect(mouse(there, 'left', { row: 9 }).state).toMatchObject({ screen: 'stream', stream: 's05' })
})

it('a click on a row that names its key selects it wherever it is', () => {
  expect(mouse(stage(), 'left', { row: 30, key: 's07' }).cursor).toBe('s07')
})

it('a click on a title sorts by its column, and again the other way round', () => {
  const titles = '   NAME ↑     STATUS   PROGRESS   WAITS / WHY'
  const click = (on: Stage, title: string) =>
    mouse(on, 'left', { row: 3, text: titles, column: titles.indexOf(title) + 1, titles: 'streams' })
  const there = click(stage(), 'STATUS')
  expect(there.list.sort).toEqual({ by: 'status', isDescending: false })
  expect(click(there, 'STATUS').list.sort).toEqual({ by: 'status', isDescending: true })
  expect(click(there, 'PROGRESS').list.sort).toEqual({ by: 'progress', isDescending: false })
  expect(click(there, 'WAITS').list.sort).toEqual(there.list.sort)
  expect(click(there, 'NAME').list.sort).toEqual({ by: 'name', isDescending: false })
})

it('a click on a title of a list beside that with the cursor sorts that list', () => {
  const text = '   STEP     READY  RUNNING'
  const there = stage().press('6')
  mouse(there, 'left', { row: 3, text, column: text.indexOf('READY'), titles: 'steps' })
  expect(there.state.sideSorts.steps).toEqual({ by: 'ready', isDescending: false })
  expect(there.list.sort).toBeUndefined()
  expect(mouse(stage(), 'left', { row: 3, text: '   NAME', column: 4 }).list.sort).toBeUndefined()
})

it('a click on a number of the line of health leaves its streams, and again all, from every screen', () => {
  const text = ' 13 streams  ▶ 6  ✗ 3 failed  † 1'
  const click = (on: Stage, part: string) => mouse(on, 'left', { row: 1, text, column: text.indexOf(part) + 1 })
  for (const screen of ['1', '3', '6']) {
    const there = click(stage().press(screen), '✗ 3')
    expect([there.state.screen, there.list.filter]).toEqual(['streams', 'status:failed'])
    expect(click(there, '3 failed').list.filter).toBe('')
    expect(click(there, '† 1').list.filter).toBe('status:abandoned')
  }
  expect(click(stage(), '13 streams').list.filter).toBe('')
})

it('a dialog that asks is answered by keys only, a prompt ignores the mouse', () => {
  const asking = stage().press('!', 'c')
  const { dialog } = asking.state
  expect(dialog?.kind).toBe('change')
  expect(mouse(mouse(asking, 'left', { row: 9 }), 'wheel-down').state.dialog).toEqual(dialog)
  expect(mouse(stage().press('/'), 'left', { row: 9 }).state.prompt?.kind).toBe('filter')
  const help = mouse(
    new Stage(worldWith({ streams: NAMES }), { size: { columns: 80, rows: 24 } }).press('?'),
    'wheel-down',
  )
  expect(help.state.dialog).toMatchObject({ kind: 'help', top: 1 })
})
