import { describe, expect, it } from 'vitest'
import { hintsOf } from '../../../../src/tui/state/keys/hints.ts'
import { bindingFor, HELP, keyLabel } from '../../../../src/tui/state/keys/keys.ts'
import { KEYS } from '../../../../src/tui/state/keys/table.ts'
import { SCREENS, type State } from '../../../../src/tui/state/state.ts'
import { openStream } from '../support/open-stream.ts'
import { Stage } from '../support/stage.ts'
import { worldWith } from '../support/world.ts'

const WORLD = worldWith({ streams: ['a'], open: openStream('a', [{ id: '00', name: 'Start', status: 'init' }]) })
const stage = (options: ConstructorParameters<typeof Stage>[1] = {}) => new Stage(WORLD, options)
const hints = ({ state }: { readonly state: State }) => hintsOf(state).map(({ keys, does }) => `${keys} ${does}`)

describe('the key table', () => {
  it('gives each key one meaning on each screen and pane', () => {
    const places = SCREENS.flatMap(screen => (['tree', 'timeline', 'xml'] as const).map(pane => ({ screen, pane })))
    for (const place of places) {
      const there = KEYS.filter(({ screens, panes }) => {
        return (screens?.includes(place.screen) ?? true) && (panes?.includes(place.pane) ?? true)
      })
      const keys = there.flatMap(({ keys }) => keys)
      expect(new Set(keys).size).toBe(keys.length)
      for (const key of keys) expect(bindingFor({ key }, place)?.keys).toContain(key)
    }
  })

  it('gives no meaning to keys of other screens', () => {
    expect(bindingFor({ key: 'h' }, { screen: 'streams', pane: 'tree' })).toBeUndefined()
    expect(bindingFor({ key: 'c' }, { screen: 'watchdog', pane: 'tree' })).toBeUndefined()
    expect(bindingFor({ key: 'x' }, { screen: 'streams', pane: 'tree' })).toBeUndefined()
  })

  it('is complete in the help, in groups', () => {
    expect(HELP.map(({ title }) => title).sort()).toEqual([
      'Change',
      'Move',
      'Program',
      'Screens',
      'Select',
      'Texts',
      'View',
    ])
    expect(
      HELP.filter(({ title }) => title !== 'Texts')
        .flatMap(({ lines }) => lines)
        .map(({ does }) => does)
        .sort(),
    ).toEqual(KEYS.map(({ does }) => does).sort())
    expect(HELP[0]?.lines[0]).toEqual({ keys: 'j ↓', does: 'down', screens: undefined })
  })

  it('has names for keys without a text', () => {
    expect(['pagedown', 'ctrl-c', 'escape', 'space', 'G'].map(keyLabel)).toEqual(['PgDn', '^C', 'esc', 'space', 'G'])
  })
})

describe('the keys in the footer', () => {
  it('belong to the screen', () => {
    expect(hints(stage()).slice(0, 4)).toEqual(['j/k move', 'enter open', '/ filter', 'F broken'])
    expect(hints(stage({ stream: 'a' })).slice(0, 4)).toEqual(['esc streams', 'j/k move', 'h/l fold', 't timeline'])
    expect(hints(stage().press('4'))).toContain('D dry run')
    expect(hints(stage()).at(-1)).toBe('q quit')
  })

  it('omit locked keys, and include the one that unlocks', () => {
    expect(hints(stage())).toContain('! unlock')
    expect(hints(stage())).not.toContain('c cancel')
    expect(hints(stage({ writes: 'unlocked' }))).toEqual(expect.arrayContaining(['c cancel', 'space mark']))
    expect(hints(stage({ writes: 'unlocked' }))).not.toContain('! unlock')
    expect(hints(stage({ writes: 'never' }))).not.toContain('! unlock')
  })

  it('begin with the way out', () => {
    expect(hints(stage().press('p'))[0]).toBe('p go on')
    expect(hints(stage().press('/', 'a', 'enter'))[0]).toBe('esc clear filter')
    expect(hints(stage({ stream: 'a' }).press('y'))[0]).toBe('esc tree')
    expect(hints(stage().press('3', 'enter'))[0]).toBe('esc leases')
  })

  it('are those of the text in the XML, in focused details and on the whole screen', () => {
    const text = { title: 'a', text: { lines: ['x'] } }
    const there = new Stage({ ...worldWith({ streams: ['a'] }), pageOf: () => text })
    expect(hints(there.press('d', 'tab'))).toEqual(['tab list', '/ search', 'w do not wrap'])
    expect(hints(there.press('w', '/', 'x', 'enter', 'enter'))).toEqual(expect.arrayContaining(['esc back', 'C copy']))
    expect(hints(there.press('/', 'x', 'enter'))).toEqual(
      expect.arrayContaining(['esc clear search', 'n/N next, previous']),
    )
  })

  it('omit keys without effect in the XML', () => {
    const xml = hints(stage({ stream: 'a', writes: 'unlocked' }).press('y'))
    for (const line of ['h/l fold', 'y xml', 'space mark']) expect(xml).not.toContain(line)
    expect(xml).toEqual(expect.arrayContaining(['t timeline', 'c cancel']))
  })

  it('mark the keys that lead to all others as vital', () => {
    expect(
      hintsOf(stage().state)
        .filter(({ isVital }) => isVital)
        .map(({ keys }) => keys),
    ).toEqual(['?', 'q'])
  })
})
