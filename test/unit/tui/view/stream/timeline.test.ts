import { describe, expect, it, vi } from 'vitest'
import type { OpenStream } from '../../../../../src/tui/data/types.ts'
import type { State } from '../../../../../src/tui/state/state.ts'
import { timelineRows } from '../../../../../src/tui/view/stream/timeline.ts'
import { Play, START_MS } from '../../../../support/stream-builder.ts'
import { opened, sceneOf, searchOrder, textOf, widest } from '../stream-scene.ts'

const play = searchOrder()

function linesOf(open: OpenStream, columns: number, rows = 13, nowMs = play.nowMs): string[] {
  const list = { cursor: '01.02.00', offset: 4 }
  const drawn = timelineRows(sceneOf(open, { columns, nowMs, list, state: { pane: 'timeline' } }), { columns, rows })
  expect(drawn).toHaveLength(rows)
  expect(widest(drawn)).toBeLessThanOrEqual(columns)
  return textOf(drawn)
}

describe('the timeline of the open stream', () => {
  it.each([120, 80, 60, 20])('fits %i columns', async columns => {
    await expect(`${linesOf(opened(play), columns).join('\n').trimEnd()}\n`).toMatchFileSnapshot(
      `timeline-${columns}.txt`,
    )
  })

  it('has a coming deadline after now, and a passed one at its time', () => {
    const open = opened(play)
    const bar = (nowMs: number) => linesOf(open, 80, 13, nowMs).find(line => line.includes('01.02.00')) ?? ''
    expect(bar(play.nowMs)).not.toContain('┊')
    expect(bar(play.nowMs + 15_000)).toMatch(/█+·+┊ +in 7s$/)
    expect(bar(play.nowMs + 60_000)).toMatch(/█+┊█+ +38s ago$/)
  })

  it('ends at the last moment of an ended stream', () => {
    const done = Play.started('A').wait(60_000).after({ op: 'complete', event: '01.00' })
    const lines = linesOf(opened(done), 80, 13, done.nowMs + 3_600_000)
    expect(lines[0]).not.toContain('now')
    expect(lines[1]).toMatch(/─✓ {10,}$|─✓$/)
  })

  it('processes the whole journal for each state, not for each frame', () => {
    const open = opened(play)
    const { view } = open
    if (view === undefined) throw new Error('no view')
    const transactions = vi.spyOn(view, 'transactions')
    for (let frame = 0; frame < 5; frame++) linesOf(open, 80)
    expect(transactions.mock.calls.length).toBeLessThanOrEqual(2)
  })

  describe('of an hour, and a retry a day later', () => {
    const hour = Play.started('Load', 'Check')
    const start = (owner: string) => ({ op: 'start', event: '01.00', owner, claimMs: 900_000 }) as const
    hour.wait(600_000).do(start('w-1'))
    hour.wait(1_200_000).do(start('w-2'))
    hour.wait(1_200_000).do({ op: 'fail', event: '01.00', owner: 'w-2', msg: 'no rows' })
    hour.wait(600_000).do({ op: 'complete', event: '02.00' })
    hour.wait(86_400_000).do({ op: 'retry', event: '01.00' })
    hour.wait(60_000).do({ op: 'start', event: '01.00', owner: 'w-3', claimMs: 900_000 })
    hour.wait(1_200_000)
    const open = opened(hour)
    const drawn = (state: Partial<State> = {}) => {
      const list = { cursor: '01.00', offset: 1 }
      const scene = sceneOf(open, { columns: 100, nowMs: hour.nowMs, list, state: { pane: 'timeline', ...state } })
      return timelineRows(scene, { columns: 100, rows: 20 })
    }

    it('folds the day between, and says how long it was', () => {
      const [axis = '', root = '', bar = ''] = textOf(drawn())
      expect(axis).toMatch(/│0s +╱ +1d +╱│\+0s +┃now/)
      expect(bar).toMatch(/░+█+2█+✗ +╱ +3█+ /)
      expect(root).toMatch(/─+/)
    })

    it('shows each owner in a colour of its own, and the number of an attempt at its beginning', () => {
      const row = drawn()[2]
      const runs = row?.spans.filter(([text]) => /^[23]?█+$/.test(text)) ?? []
      expect(runs.map(([text, style]) => [text.charAt(0), style])).toEqual([
        ['█', 'hue1'],
        ['2', 'hue2'],
        ['3', 'hue3'],
      ])
      expect(textOf(drawn()).join('\n')).toMatch(/█ w-1 {3}█ w-2 {3}█ w-3/)
    })

    it('has the times of the event under the cursor', () => {
      expect(textOf(drawn({ time: 'utc' })).join('\n')).toContain(
        '01.00   running 13:01:00 for 20m w-3 #3   ready 13:00:00 for 1m',
      )
    })

    it('marks in a part of it what is earlier or later', () => {
      const toMs = START_MS + 300_000
      const rows = textOf(drawn({ zoom: { fromMs: START_MS + 3_000_000, toMs: START_MS + 3_600_000 }, time: 'utc' }))
      expect(rows[2]).not.toContain('█')
      expect(rows[0]).not.toContain('now')
      expect(textOf(drawn({ zoom: { fromMs: START_MS, toMs } }))[2]).toMatch(/░{20}/)
      expect(textOf(drawn({ zoom: { fromMs: START_MS - 9_000, toMs: START_MS - 1_000 } }))[2]).toMatch(/ › /)
    })
  })

  it('has empty rows before the first read', () => {
    expect(timelineRows(sceneOf(undefined, { columns: 80 }), { columns: 80, rows: 4 })).toHaveLength(4)
    expect(linesOf(opened('<EventStream/>'), 80)[0]).toContain('EVENT')
  })
})
