import { expect, it } from 'vitest'
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
  const titles = '   NAME       STATUS   PROGRESS   WAITS / WHY'
  const click = (on: Stage, title: string) =>
    mouse(on, 'left', { row: 3, text: titles, column: titles.indexOf(title) + 1 })
  const there = click(stage(), 'STATUS')
  expect(there.list.sort).toEqual({ by: 'status', isDescending: false })
  expect(click(there, 'STATUS').list.sort).toEqual({ by: 'status', isDescending: true })
  expect(click(there, 'PROGRESS').list.sort).toEqual({ by: 'failed', isDescending: false })
  expect(mouse(there, 'left', { row: 3, text: titles, column: 9 }).list.sort?.by).toBe('failed')
})

it('a dialog that asks is answered by keys only, a prompt ignores the mouse', () => {
  const asking = stage().press('!', 'c')
  const { dialog } = asking.state
  expect(dialog?.kind).toBe('change')
  expect(mouse(mouse(asking, 'left', { row: 9 }), 'wheel-down').state.dialog).toBe(dialog)
  expect(mouse(stage().press('/'), 'left', { row: 9 }).state.prompt?.kind).toBe('filter')
  const help = mouse(
    new Stage(worldWith({ streams: NAMES }), { size: { columns: 80, rows: 24 } }).press('?'),
    'wheel-down',
  )
  expect(help.state.dialog).toMatchObject({ kind: 'help', top: 1 })
})
