import { describe, expect, it } from 'vitest'
import { stepSequence } from '../../../../../src/stream/operations/plan.ts'
import { asciiRow } from '../../../../../src/tui/view/ascii.ts'
import { detailRows } from '../../../../../src/tui/view/stream/detail.ts'
import { timelineRows } from '../../../../../src/tui/view/stream/timeline.ts'
import { treeRows } from '../../../../../src/tui/view/stream/tree.ts'
import { Play, spec } from '../../../../support/stream-builder.ts'
import { opened, sceneOf, textOf } from '../stream-scene.ts'

const SECOND = 1_000

/** A step that waits for a signal, one with a timer, one in the pause before its retry, two planned ones. */
function waiting(): Play {
  const play = new Play().after({
    op: 'init',
    root: spec('Start'),
    forks: [
      spec('Approve', { signal: 'approve', delay: '02:00:00' }),
      spec('Remind', { delay: '00:05:00' }),
      spec('Pay'),
    ],
  })
  play.after({ op: 'start', event: '03.00', owner: 'w1' })
  play.after({ op: 'fail', event: '03.00', owner: 'w1', transient: true, retry: '3 1m..1m', msg: '503' })
  return play
}

/** Two steps are done, the third has failed: they are undone. */
function undoing(): Play {
  const steps = stepSequence(['Check', 'Pay', 'Drone'], {}).map(step => ({ ...step, undo: `Un${step.name}` }))
  const play = new Play().after({ op: 'init', root: spec('Start'), onFailure: 'compensate', steps })
  return play
    .after({ op: 'complete', event: '01.00' }, { op: 'complete', event: '01.01' })
    .wait(SECOND)
    .after({ op: 'fail', event: '01.02', msg: 'no drone' })
}

const tree = (play: Play, columns = 120) =>
  textOf(treeRows(sceneOf(opened(play), { columns, nowMs: play.nowMs }), { columns, rows: 12 }))

const rowOf = (play: Play, id: string, columns?: number) => tree(play, columns).find(line => line.includes(` ${id} `))

const detail = (play: Play, cursor: string) => {
  const state = { isDetailOpen: true }
  const scene = sceneOf(opened(play), { columns: 120, nowMs: play.nowMs, list: { cursor }, state })
  return textOf(detailRows(scene, { columns: 120, rows: 12 })).join('\n')
}

describe('what an event waits for', () => {
  it('stands in a column: the signal, the timer and the pause before a retry with their rest', () => {
    const play = waiting()
    expect(rowOf(play, '01.00')).toMatch(/◷ waiting {2,}.*signal approve/)
    expect(rowOf(play, '02.00')).toMatch(/◷ waiting {2,}.*timer in 5m/)
    expect(rowOf(play, '03.00')).toMatch(/◷ waiting #2 .*retry in /)
  })

  it('counts down, and says since when it is over', () => {
    const play = waiting().wait(290 * SECOND)
    expect(rowOf(play, '02.00')).toContain('timer in 10s')
    expect(rowOf(play.wait(13 * SECOND), '02.00')).toContain('timer 3s ago')
  })

  it('follows the status where there is no room for columns', () => {
    expect(rowOf(waiting(), '02.00', 38)).toContain('◷ waiting timer in 5m')
  })

  it('stands in the details with what comes after it', () => {
    expect(detail(waiting(), '01.00')).toContain('gate signal approve, then 02:00:00 more')
    expect(detail(undoing(), '02.01.01')).toContain('gate after 02.01.00')
  })
})

describe('a step whose time has not come', () => {
  it('is planned, after the one before it', () => {
    const play = new Play().after({ op: 'init', root: spec('Start'), steps: stepSequence(['A', 'B'], {}) })
    expect(rowOf(play, '01.01')).toMatch(/◇ planned .*after 01\.00/)
    expect(rowOf(play.after({ op: 'complete', event: '01.00' }), '01.01')).toContain('○ init')
  })
})

describe('an undo step', () => {
  it('has a mark before its name, also in ASCII', () => {
    const play = undoing()
    expect(rowOf(play, '02.01.00')).toContain('02.01.00 ↶ UnPay')
    expect(rowOf(play, '01.01')).not.toContain('↶')
    const rows = treeRows(sceneOf(opened(play), { columns: 80, nowMs: play.nowMs }), { columns: 80, rows: 12 })
    expect(textOf(rows.map(asciiRow)).join('\n')).toContain('02.01.00 u UnPay')
  })

  it('says what it takes back, and the step what takes it back', () => {
    const play = undoing()
    expect(detail(play, '02.01.00')).toContain('undoes 01.01 Pay')
    expect(detail(play, '01.01')).toContain('to be undone by 02.01.00 UnPay')
    expect(detail(play.after({ op: 'complete', event: '02.01.00' }), '01.01')).toContain('undone by 02.01.00 UnPay')
    expect(detail(play, '02.00')).toContain('undoes what the stream did')
  })
})

describe('a skipped event', () => {
  it('is told from one that still blocks', () => {
    const steps = stepSequence(['A', 'B'], {})
    const play = new Play().after({ op: 'init', root: spec('Start'), onFailure: 'block', steps })
    play.after({ op: 'fail', event: '01.00', msg: 'no' })
    expect(rowOf(play, '01.00')).toContain('✗ aborted  ')
    expect(rowOf(play.after({ op: 'skip', event: '01.00' }), '01.00')).toContain('✗ aborted, skipped')
  })
})

describe('the timeline', () => {
  const timeline = (play: Play, cursor = '00') => {
    const scene = sceneOf(opened(play), {
      columns: 160,
      height: 40,
      nowMs: play.nowMs,
      list: { cursor },
      state: { pane: 'timeline' },
    })
    return textOf(timelineRows(scene, { columns: 160, rows: 24 }))
  }

  it('shows the time at a gate, and when a timer is over', () => {
    const lines = timeline(waiting().wait(270 * SECOND))
    expect(lines.find(line => line.includes('02.00 Remind'))).toMatch(/┈{10,} *◷/)
    expect(lines.join('\n')).toContain('┈ at its gate')
    expect(lines.join('\n')).toContain('◷ timer')
  })

  it('takes the pause before a retry for no attempt', () => {
    const lines = timeline(waiting().wait(10 * SECOND), '03.00')
    expect(lines.find(line => line.includes('03.00 Pay'))).not.toContain('2┈')
    expect(lines.join('\n')).not.toMatch(/running \S+ for \S+ #2/)
  })

  it('marks undo steps', () => {
    expect(timeline(undoing()).find(line => line.includes('02.01.00'))).toContain('↶ UnPay')
  })
})
