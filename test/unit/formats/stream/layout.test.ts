import { describe, expect, it } from 'vitest'
import { type StreamDisplay, showFitted, showLines, type TreeLayout } from '../../../../src/formats/stream/layout.ts'
import { timeReaderFor } from '../../../../src/stream/time/dates.ts'
import { Play } from '../../../support/stream-builder.ts'

/** Eight branches: five have completed, one has failed, two are left. */
function eight(): Play {
  const play = Play.started(...'ABCDEFGH')
  for (const at of [1, 2, 3, 4, 5]) play.after({ op: 'complete', event: `0${at}.00` })
  return play.after({ op: 'fail', event: '06.00', msg: 'no answer' })
}

function pictureOf(play: Play, layout: TreeLayout = 'tree'): StreamDisplay {
  const { document, stream, nowMs } = play
  const { read } = timeReaderFor(document, { nowMs })
  const lease = { state: 'available' } as const
  const shown = {
    name: 's',
    version: document.version,
    lease,
    stream,
    time: read,
    nowMs,
    transactions: () => play.journal,
  }
  return { shown, layout, transactions: () => play.journal }
}

const fitted = (picture: StreamDisplay, height: number) => showFitted(picture, { time: 'utc' }, height)

/** The rows between the title and the legend, by their first words. */
const idsOf = (lines: readonly string[]) => lines.flatMap(line => /\b\d\d(\.\d\d)*(?= [A-Z])/.exec(line)?.[0] ?? [])

describe('a stream in a limited number of lines', () => {
  it('is complete if it fits', () => {
    for (const layout of ['tree', 'table', 'timeline'] as const) {
      const picture = pictureOf(eight(), layout)
      const all = showLines(picture, { time: 'utc' })
      expect(fitted(picture, all.length)).toEqual(all)
      expect(fitted(picture, all.length - 1)).not.toEqual(all)
    }
  })

  it('keeps the root, open events and failures; successful events are counted', () => {
    const lines = fitted(pictureOf(eight(), 'tree'), 12)
    expect(lines).toHaveLength(12)
    expect(idsOf(lines.slice(4, 8))).toEqual(['00', '06.00', '07.00', '08.00'])
    expect(lines[7]).toMatch(/^08\.00 H +○ init/)
    expect(lines.slice(8)).toEqual(['… 5 more', '', 'Failures', '  ✗ aborted  06.00 F, 12:00:00Z: no answer'])
  })

  it('keeps workable events before waiting ones', () => {
    const play = Play.started('A').after({ op: 'advance', event: '01.00', next: { name: 'B' } })
    play.after({ op: 'advance', event: '01.01', next: { name: 'C' } })
    expect(idsOf(fitted(pictureOf(play), 7).slice(3))).toEqual(['00', '01.02'])
  })

  it('has the count above the legend of a timeline', () => {
    const lines = fitted(pictureOf(eight(), 'timeline'), 14)
    expect(lines).toHaveLength(14)
    const at = lines.findIndex(line => line.startsWith('…'))
    expect(lines.slice(at, at + 3)).toEqual(['… 5 more', '', expect.stringMatching(/^█ running/)])
  })

  it('never exceeds the limit', () => {
    const many = Play.started(...'ABCDEFGH')
    for (const at of [1, 2, 3, 4, 5, 6, 7]) many.after({ op: 'fail', event: `0${at}.00` })
    for (const play of [eight(), many, new Play()])
      for (const layout of ['tree', 'table', 'timeline'] as const)
        for (let height = 1; height < 30; height++)
          expect(fitted(pictureOf(play, layout), height).length, `${layout} ${height}`).toBeLessThanOrEqual(height)
  })

  it('with selected events shows those and no failures', () => {
    const play = eight()
    const picture = { ...pictureOf(play), only: [play.event('06.00'), play.event('01.00')] }
    expect(idsOf(fitted(picture, 20))).toEqual(['06.00', '01.00'])
    expect(fitted(picture, 20).join('\n')).not.toContain('Failures')
  })
})
