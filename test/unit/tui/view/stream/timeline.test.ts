import { describe, expect, it, vi } from 'vitest'
import type { OpenStream } from '../../../../../src/tui/data/types.ts'
import { timelineRows } from '../../../../../src/tui/view/stream/timeline.ts'
import { Play } from '../../../../support/stream-builder.ts'
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
    expect(bar(play.nowMs + 15_000)).toMatch(/█+ *┊ +in 7s$/)
    expect(bar(play.nowMs + 60_000)).toMatch(/█+┊█+ +38s ago$/)
  })

  it('ends at the last moment of an ended stream', () => {
    const done = Play.started('A').wait(60_000).after({ op: 'complete', event: '01.00' })
    const lines = linesOf(opened(done), 80, 13, done.nowMs + 3_600_000)
    expect(lines[0]).not.toContain('now')
    expect(lines[1]).toMatch(/─✓ {10,}$|─✓$/)
  })

  it('processes the whole journal once for each state, not for each frame', () => {
    const open = opened(play)
    const { view } = open
    if (view === undefined) throw new Error('no view')
    const transactions = vi.spyOn(view, 'transactions')
    for (let frame = 0; frame < 5; frame++) linesOf(open, 80)
    expect(transactions.mock.calls.length).toBeLessThanOrEqual(1)
  })

  it('has empty rows before the first read', () => {
    expect(timelineRows(sceneOf(undefined, { columns: 80 }), { columns: 80, rows: 4 })).toHaveLength(4)
    expect(linesOf(opened('<EventStream/>'), 80)[0]).toContain('EVENT')
  })
})
