import { describe, expect, it } from 'vitest'
import type { HeaderOptions } from '../../../../src/formats/stream/header.ts'
import { timeline } from '../../../../src/formats/stream/timeline.ts'
import { threadTree } from '../../../../src/formats/stream/tree.ts'
import type { ShownStream } from '../../../../src/formats/stream/view.ts'
import { widthOf } from '../../../../src/formats/terminal/width.ts'
import { timeReaderFor } from '../../../../src/stream/time/dates.ts'
import { documentText, Play, spec } from '../../../support/stream-builder.ts'

function linesOf(play: Play, options: Partial<HeaderOptions> = {}): string[] {
  const { document, stream, nowMs } = play
  const { read } = timeReaderFor(document, { nowMs })
  const version = document.version
  const shown: ShownStream = {
    name: 's',
    version,
    lease: { state: 'available' },
    stream,
    time: read,
    nowMs,
    transactions: () => play.journal,
  }
  return timeline(shown, threadTree(stream), play.journal, { time: 'relative', ...options })
}

const SECOND = 1_000

/** One branch has advanced, one has failed and is retried, one is left; a join waits for all. */
function searchOrder(): Play {
  const play = Play.joined('Done', 'Search', 'Search', 'Search').wait(10 * SECOND)
  play.after({ op: 'start', event: '01.00', owner: 'w1' }, { op: 'fail', event: '02.00' }).wait(20 * SECOND)
  play.after({ op: 'advance', event: '01.00', owner: 'w1', next: spec('Found') }).wait(10 * SECOND)
  play.after({ op: 'retry', event: '02.00' }).wait(5 * SECOND)
  return play.after({ op: 'complete', event: '01.01' }).wait(5 * SECOND)
}

describe('a timeline', () => {
  it('distinguishes ready, running and waiting, with the end as glyph, and the ready and run times', () => {
    expect(linesOf(searchOrder())).toEqual([
      'EVENT              │0s       │10s      │20s       │30s      │40s         STATUS        READY     RAN',
      '▾ 00 Start         ────────────────────────────────────────────────────  ▶ inprocess       -       -',
      '├─▾ 01.00 Search   ░░░░░░░░░░██████████████████████──────────────✓       ✓ completed     10s     20s',
      '│ └─  01.01 Found                                 ░░░░░░░░░░░░░░░✓       ✓ completed     15s       -',
      '├─  02.00 Search   ░░░░░░░░░░✗                              ░░░░░░░░░░░  ○ init #2       20s       -',
      '├─  03.00 Search   ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  ○ init          50s       -',
      '└─  01 Done        ────────────────────────────────────────────────────  ◷ waiting         -       -',
      '',
      '█ running   ░ ready to be claimed   ─ waiting for others   ✓ completed   ✗ aborted   ⊘ canceled',
    ])
  })

  it('fits every width of a terminal; elsewhere labels are complete and bars have room', () => {
    const play = searchOrder().after({
      op: 'advance',
      event: '03.00',
      next: spec('A name that is long, 日本語, and then some'),
    })
    for (const width of [60, 80, 100, 200])
      for (const line of linesOf(play, { width })) expect(widthOf(line), line).toBeLessThanOrEqual(width)
    const bar = linesOf(play)[1] ?? ''
    expect(linesOf(play).join('\n')).toContain('A name that is long, 日本語, and then some')
    expect(bar.split('─').length).toBeGreaterThan(40)
  })

  it('shows a run that is short relative to the whole', () => {
    const play = Play.started('A')
      .wait(1_000 * SECOND)
      .after({ op: 'start', event: '01.00', owner: 'w1' })
      .wait(SECOND)
    play.after({ op: 'release', event: '01.00', owner: 'w1' }).wait(1_000 * SECOND)
    expect(linesOf(play)[2]).toMatch(/░█{1,2}░/)
  })

  it('is one glyph if beginning and end are equal', () => {
    const play = Play.started('A').after({ op: 'complete', event: '01.00' })
    expect(linesOf(play).slice(0, 3)).toEqual([
      expect.stringMatching(/^EVENT +│0s +STATUS/),
      expect.stringMatching(/^▾ 00 Start +✓ +✓ completed +- +-$/),
      expect.stringMatching(/^└─ {2}01\.00 A +✓ +✓ completed +- +-$/),
    ])
  })

  it('of a document without our history uses created and timestamp', () => {
    const at = (seconds: number) => new Date(Date.UTC(2024, 4, 1, 12, 0, seconds)).toISOString()
    const play = new Play(
      documentText(
        { id: '00', name: 'Old', status: 'inprocess', created: at(0), timestamp: at(0), next: '01' },
        { id: '01', name: 'Step', status: 'completed', created: at(10), timestamp: at(20), prev: '00' },
        { id: '02', name: 'Odd', status: 'init', created: 'once', prev: '00' },
        { id: '03', name: 'Late', status: 'init', created: at(30), prev: '77' },
      ),
    ).wait(40 * SECOND)
    const lines = linesOf(play)
    expect(lines.find(line => line.includes('01 Step'))).toMatch(/Step {2,}╌+✓ {2,}✓ completed/)
    expect(lines.find(line => line.includes('02 Odd'))).toMatch(/Odd {40,}○ init$/)
    expect(lines.find(line => line.includes('03 Late'))).toMatch(/Late {30,}░+ {2}○ init/)
    expect(lines.join('\n')).toContain('╌ not recorded')
  })

  it('without events has a title and a legend', () => {
    expect(linesOf(new Play())).toHaveLength(3)
  })

  it('has optional colors around sections', () => {
    const painted = linesOf(searchOrder(), { paint: (style, text) => `<${style}>${text}</>` })
    expect(painted[2]).toContain('░<active>██████████████████████</><dim>──────────────</><good>✓</>')
  })

  it('has the requested times: the clock instead of the time since the beginning', () => {
    expect(linesOf(searchOrder(), { time: 'utc' })[0]).toContain('│12:00:15Z')
  })
})
