import { describe, expect, it } from 'vitest'
import { shownTitles, usualTitles } from '../../../../src/tui/state/columns.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { openNothing } from '../support/open-stream.ts'
import { dialogScene, frameText, SIZES, tooWide } from '../support/scenes.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const stage = () => new Stage(worldWith({ streams: ['a', 'b'] }))
const shown = ({ state }: Stage) => shownTitles(state, 'streams')
const USUAL = usualTitles('streams')

describe('the columns of a list', () => {
  it('are chosen and ordered, and kept for later runs', () => {
    const there = stage().press(',', 'j', 'j', 'space', 'J')
    expect(shown(there)).toEqual(USUAL.filter(title => title !== 'BAR'))
    there.press('k', 'J', 'enter')
    const expected = ['NAME', 'PROGRESS', 'STATUS', ...USUAL.slice(4)]
    expect([...shown(there)].sort()).toEqual([...expected].sort())
    expect(there.state.dialog).toBeUndefined()
    expect(there.effects).toEqual([{ kind: 'save-settings', change: { columns: { streams: shown(there) } } }])
    expect(there.state.settings.columns.streams).toEqual(shown(there))
  })

  it('stay as they were after esc, and are not saved without a change', () => {
    const there = stage().press(',', 'space', 'escape')
    expect([shown(there), there.effects]).toEqual([USUAL, []])
    expect(stage().press(',', 'enter').effects).toEqual([])
  })

  it('are the usual ones again with r, and no longer saved', () => {
    const there = stage().press(',', 'space', 'enter', ',', 'r', 'enter')
    expect(shown(there)).toEqual(USUAL)
    expect(there.effects.at(-1)).toEqual({ kind: 'save-settings', change: { columns: { streams: undefined } } })
  })

  it('have at least one that stays', () => {
    const there = stage().press(',', ...Array(USUAL.length).fill(['space', 'j']).flat())
    expect(shown(there)).toHaveLength(1)
    expect(there.notice).toBe('one column has to stay')
  })

  it('are sorted by in the same list, the second time the other way round', () => {
    const sortOf = (...keys: string[]) => stage().press(',', ...keys).list.sort
    expect(sortOf('j', 's')).toEqual({ by: 'status', isDescending: false })
    expect(sortOf('j', 's', 's')).toEqual({ by: 'status', isDescending: true })
    expect(stage().press(',', 'j', 'j', 's').notice).toBe('this list cannot be sorted by BAR')
  })

  it('are chosen by words too', () => {
    const line = (text: string) => stage().press(':').type(text).press('enter')
    expect(shown(line('columns name,status,why'))).toEqual(['NAME', 'STATUS', 'WAITS / WHY'])
    expect(shown(line('columns last-by na'))).toEqual(['LAST BY', 'NAME'])
    const wrong = line('columns name,colour')
    expect([shown(wrong), wrong.effects]).toEqual([USUAL, []])
    expect(wrong.notice).toMatch(/^no column colour; columns are name status bar .* last-by/)
    expect(line('columns').state.dialog?.kind).toBe('columns')
  })

  it('can be chosen only where there are some to choose', () => {
    const tree = new Stage(worldWith({ open: openNothing('a') }), { stream: 'a' })
    expect(tree.press(',').state.dialog).toMatchObject({ kind: 'columns', list: 'stream' })
    expect(tree.press('escape', 't', ',').state.dialog).toBeUndefined()
    expect(tree.press(':').type('columns name').press('enter').notice).toBe(
      'the columns of this screen cannot be chosen',
    )
    expect(stage().press('5', ',').state.dialog).toMatchObject({ kind: 'columns', list: 'activity' })
  })

  it('are chosen of each list of a screen in turn with tab', () => {
    const there = stage().press('4', ',')
    expect(there.state.dialog).toMatchObject({ list: 'watchdog' })
    there.press('j', 'space', 'tab')
    expect(there.state.settings.columns.watchdog).not.toContain('WILL')
    expect(there.state.dialog).toMatchObject({ list: 'watchdogs' })
    expect(there.press('tab').state.dialog).toMatchObject({ list: 'decisions' })
    expect(there.press('tab').state.dialog).toMatchObject({ list: 'watchdog' })
    expect(stage().press('6', ',', 'tab').state.dialog).toMatchObject({ list: 'steps' })
    expect(stage().press(',', 'tab').state.dialog).toMatchObject({ list: 'streams' })
  })

  it('are chosen by name, of another list of the screen with its name first', () => {
    const there = stage().press('6', ':').type('columns steps step,ready').press('enter')
    expect(there.state.settings.columns.steps).toEqual(['STEP', 'READY'])
    there.press(':').type('columns worker,stream').press('enter')
    expect(there.state.settings.columns.workers).toEqual(['WORKER', 'STREAM'])
    expect(there.press(':').type('columns steps').press('enter').state.dialog).toMatchObject({ list: 'steps' })
  })

  it('sort the list that they belong to', () => {
    const there = stage().press('6', ',', 'tab', 's', 'enter')
    expect(there.state.sideSorts).toEqual({ steps: { by: 'step', isDescending: false } })
    expect(there.list.sort).toBeUndefined()
  })

  it.each([...SIZES, { columns: 20, rows: 5 }])('are listed in a terminal of $columns × $rows', size => {
    const titles = shownTitles({ ...stage().state, isWide: true }, 'streams')
    const dialog = { kind: 'columns', list: 'streams', titles, shown: USUAL, at: 12 } as const
    const frame = frameOf(dialogScene(dialog, size))
    expect(frame.rows).toHaveLength(size.rows)
    expect(tooWide(frame)).toEqual([])
    expect(frameText(frame)).toContain(`› [ ] ${titles[12]}`)
  })
})
