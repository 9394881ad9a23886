import { describe, expect, it } from 'vitest'
import type { SavedView } from '../../../../src/tui/settings.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const LATE: SavedView = { screen: 'streams', filter: 'a', onlyBroken: true, sort: { by: 'age', isDescending: true } }

function stage(views: Readonly<Record<string, SavedView>> = {}) {
  const there = new Stage(worldWith({ streams: ['a1', 'a2', 'b'] }))
  there.act({ kind: 'settings-saved', settings: { columns: {}, views } })
  return there
}

const line = (there: Stage, text: string) => there.press(':').type(text).press('enter')

describe('a saved view', () => {
  it('is saved with the screen, its filter and its order, and then opened by its name', () => {
    const there = line(stage().press('/', 'a', 'enter', 's', 's', 'S'), 'view late')
    const view = { screen: 'streams', filter: 'a', onlyBroken: false, sort: { by: 'failed', isDescending: true } }
    expect(there.effects).toEqual([{ kind: 'save-settings', change: { views: { late: view } } }])
    expect(there.notice).toBe('saved: :view late opens it again')
  })

  it('is opened from any screen, with the cursor on the first row', () => {
    const there = line(stage({ late: LATE }).press('G', '3'), 'view late')
    expect([there.state.screen, there.cursor, there.effects]).toEqual(['streams', 'a1', []])
    expect(there.list).toMatchObject({ filter: 'a', onlyBroken: true, sort: LATE.sort })
  })

  it.each([["'", '9'], ['9'], ["'", '3'], ["'", 'x']])('has the keys %j%j if its name is one character', (...keys) => {
    const there = stage({ [keys.at(-1) ?? '']: LATE }).press('5', ...keys)
    expect([there.state.screen, there.list.filter]).toEqual(['streams', 'a'])
  })

  it('says how to save one under a key without any', () => {
    expect(stage().press('0').notice).toBe('no view 0 yet: :view 0 saves this list under it')
    expect(stage().press("'", 'escape').state.prefix).toBeUndefined()
    expect(stage().press("'", 'f5').notice).toBe("' f5 does nothing")
  })

  it('is overwritten by :view! only, and removed by :view -d', () => {
    const there = stage({ late: LATE })
    line(there.press('3'), 'view! late')
    expect(there.effectsOf('save-settings')[0]?.change.views?.late).toMatchObject({ screen: 'leases', filter: '' })
    line(there, 'view -d late')
    expect(there.effectsOf('save-settings')[1]?.change).toEqual({ views: { late: undefined } })
    expect(line(there, 'view -d never').notice).toBe('no view never')
  })

  it('is listed by :view', () => {
    const { dialog } = line(stage({ late: LATE, 7: { ...LATE, onlyBroken: false, sort: undefined } }), 'view').state
    expect(dialog).toMatchObject({
      kind: 'output',
      output: { lines: ['7  streams · filter a', 'late  streams · only broken · filter a · sorted by age, reversed'] },
    })
    expect(line(stage(), 'view').state.dialog).toMatchObject({
      output: { lines: [expect.stringContaining('no view')] },
    })
  })

  it('of a screen that this version does not have is told, and changes nothing', () => {
    const there = line(stage({ x: { ...LATE, screen: 'moon' } }), 'view x')
    expect([there.notice, there.list.filter]).toEqual([expect.stringContaining('moon, a screen that is not known'), ''])
  })

  it('is never one of a stream, and needs exactly one name', () => {
    expect(line(stage().press('enter'), 'view x').notice).toContain('a view is one of a list')
    expect(line(stage(), 'view a b').notice).toBe('one name is needed: :view NAME')
    expect(line(stage(), 'view -d').notice).toBe('one name is needed: :view -d NAME')
  })

  it('of a strange name does no harm', () => {
    expect(line(stage(), 'view constructor').effects).toHaveLength(1)
    expect(line(stage(), 'view \u202ex').notice).not.toContain('\u202e')
  })
})
