import { expect, it } from 'vitest'
import { Lists } from '../../../../src/tui/state/lists/lists.ts'
import type { Sort, State } from '../../../../src/tui/state/state.ts'
import { watchdogRows } from '../../../../src/tui/view/watchdog.ts'
import { workerRows } from '../../../../src/tui/view/workers.ts'
import { demoScene } from '../support/scenes.ts'
import { NOW_MS } from '../support/world.ts'
import { textOf } from './stream-scene.ts'

const SIZE = { columns: 160, rows: 48 }
const AREA = { columns: 160, rows: 40 }
const by = (name: string, isDescending = false): Sort => ({ by: name, isDescending })

/** The rows below the title with this beginning, up to the next empty one. */
function below(rows: readonly string[], title: string): readonly string[] {
  const at = rows.findIndex(row => row.trimStart().startsWith(title))
  return rows.slice(at + 1, rows.indexOf('', at))
}

const steps = (sort: Sort) => {
  const scene = demoScene('workers', SIZE, { sideSorts: { steps: sort } })
  return below(textOf(workerRows(scene, AREA)), 'STEP').map(row => row.trim().split(/ +/)[0])
}

it('steps are sorted by the chosen column', () => {
  expect(steps(by('step')).length).toBeGreaterThan(1)
  expect(steps(by('step'))).toEqual(steps(by('step')).toSorted())
  expect(steps(by('step', true))).toEqual(steps(by('step')).toReversed())
})

it('decisions of watchdogs are sorted by the chosen column, the arrow is in its title', () => {
  const rows = (sort: Sort) =>
    textOf(watchdogRows(demoScene('watchdog', SIZE, { sideSorts: { decisions: sort } }), AREA))
  const streams = (sort: Sort) => below(rows(sort), 'DECIDED').map(row => /\S+\/\S+/.exec(row)?.[0])
  expect(streams(by('stream'))).toEqual(streams(by('stream')).toSorted())
  expect(streams(by('stream', true))).toEqual(streams(by('stream')).toReversed())
  expect(rows(by('stream')).join('\n')).toMatch(/DECIDED +OUTCOME +STREAM ↑/)
})

it('limits and changes are sorted by the chosen column', () => {
  const keys = (screen: 'watchdog' | 'activity', sort: Sort | undefined) => {
    const { state, data } = demoScene(screen, SIZE)
    const sorted: State = { ...state, lists: { ...state.lists, [screen]: { ...state.lists[screen], sort } } }
    return new Lists().listing(sorted, data, NOW_MS).keys
  }
  for (const screen of ['watchdog', 'activity'] as const) {
    const usual = keys(screen, undefined)
    expect(keys(screen, by('stream'))).toEqual(usual.toSorted())
    expect(keys(screen, by(screen === 'watchdog' ? 'due' : 'when', true))).toEqual(usual.toReversed())
  }
})
