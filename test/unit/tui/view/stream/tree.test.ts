import { describe, expect, it } from 'vitest'
import type { OpenStream, TreeNode } from '../../../../../src/tui/data/types.ts'
import { treeRows } from '../../../../../src/tui/view/stream/tree.ts'
import { type EventText, Play, spec } from '../../../../support/stream-builder.ts'
import { listingOf } from '../../support/world.ts'
import { opened, type SceneText, sceneOf, searchOrder, textOf, widest } from '../stream-scene.ts'

function linesOf(open: OpenStream, text: SceneText, rows = 12): string[] {
  return textOf(treeRows(sceneOf(open, text), { columns: text.columns, rows }))
}

/** The row of an event. */
function rowOf(open: OpenStream, id: string, text: SceneText): string {
  return linesOf(open, text, 100).find(line => line.includes(id)) ?? `no ${id}`
}

const play = searchOrder()
const { nowMs } = play
const at = { cursor: '01.02.00', offset: 4 }

describe('the thread tree', () => {
  it('has the chosen columns in their order, behind the event', () => {
    const settings = { columns: { stream: ['MESSAGE', 'EVENT', 'STATUS', 'TRY'] }, views: {} }
    const [titles = ''] = linesOf(opened(play), { columns: 120, nowMs, state: { settings } })
    expect(titles.trim().split(/ {2,}/)).toEqual(['EVENT', 'MESSAGE', 'STATUS', 'TRY'])
  })

  it.each([120, 80, 60, 20])('fits %i columns', async columns => {
    const text = linesOf(opened(play), { columns, nowMs, list: at }).join('\n')
    await expect(`${text.trimEnd()}\n`).toMatchFileSnapshot(`tree-${columns}.txt`)
  })

  it('has in its wide form attempt, fence, topic, key, tag and message, and clock times on request', async () => {
    const text = linesOf(opened(play), { columns: 160, nowMs, list: at, state: { isWide: true, time: 'utc' } }).join(
      '\n',
    )
    await expect(`${text.trimEnd()}\n`).toMatchFileSnapshot('tree-160-wide.txt')
  })

  it('has the state of the stream at its root, as the list of streams does', () => {
    const play = new Play().after({
      op: 'init',
      root: spec('Start'),
      onFailure: 'block',
      forks: [spec('A'), spec('B')],
    })
    const root = () => linesOf(opened(play), { columns: 60, nowMs: play.nowMs })[1] ?? ''
    play.after({ op: 'fail', event: '01.00' })
    expect(root()).toContain('■ blocked')
    play.after({ op: 'suspend' })
    expect(root()).toContain('‖ suspended')
  })

  it('has for a folded event the progress and failures of the events below it', () => {
    const folded = new Play().after({ op: 'init', root: spec('Start'), forks: [spec('A'), spec('B'), spec('C')] })
    folded.after({ op: 'complete', event: '01.00' }, { op: 'fail', event: '02.00' })
    expect(linesOf(opened(folded), { columns: 60, nowMs, rows: ['00'] })[1]).toMatch(
      /^›▸ 00 Start +1\/3 ✗ 1 {2}▶✗ failing/,
    )
  })

  it('has marks before the id, the cursor at the edge, and faint rows that left the filter', () => {
    const open = opened(play)
    const rows = listingOf(['00', '01.00', '01.02.00'], { faint: ['01.00'] })
    const list = { marks: new Set(['01.02.00']), cursor: '01.02.00' }
    const shown = treeRows(sceneOf(open, { columns: 80, nowMs, rows, list }), { columns: 80, rows: 6 })
    expect(textOf(shown)[3]).toMatch(/^›│ ├─ •01\.02\.00 Search/)
    expect(shown.map(({ highlight }) => highlight).slice(1, 4)).toEqual([undefined, 'faint', 'cursor'])
  })

  it('distinguishes a running claim, an expired one, and a passed deadline', () => {
    const open = opened(play)
    const later = (seconds: number, columns: number) =>
      rowOf(open, '01.02.00', { columns, nowMs: nowMs + seconds * 1_000 })
    expect(later(0, 120)).toMatch(/▶ inprocess +worker-7 22s left +43s +in 22s/)
    expect(later(30, 120)).toMatch(/! overdue +worker-7 ran out +1m13s +8s ago/)
    const unlimited = Play.started('A').after({ op: 'start', event: '01.00', owner: 'w1' })
    expect(rowOf(opened(unlimited), '01.00', { columns: 80, nowMs: unlimited.nowMs + 19_000 })).toMatch(
      /w1 +19s +41s left$/,
    )
  })

  it('has a replaced event in faint style with a note, and the attempt beside the status', () => {
    const tried = Play.started('A').after({ op: 'fail', event: '01.00' }, { op: 'retry', event: '01.00' })
    expect(rowOf(opened(tried), '01.00', { columns: 80, nowMs })).toContain('○ init #2')
    const old = opened([
      { id: '00', name: 'Start', status: 'inprocess' },
      { id: '01', name: 'A', status: 'aborted', prev: '00', 'lc:superseded': '02' },
    ])
    const rows = treeRows(sceneOf(old, { columns: 80, nowMs }), { columns: 80, rows: 3 })
    expect(textOf(rows)[2]).toContain('✗ replaced')
    expect(rows[2]?.highlight).toBe('faint')
  })

  it('has the message of a failed event in the colour of failures', () => {
    const failed = Play.started('A').after({ op: 'fail', event: '01.00', msg: 'no answer' })
    const rows = treeRows(sceneOf(opened(failed), { columns: 120, nowMs }), { columns: 120, rows: 4 })
    expect(rows[2]?.spans.find(([text]) => text.includes('no answer'))?.[1]).toBe('bad')
  })

  it('has missing ids, cycles and foreign statuses', () => {
    const open = opened([
      { id: '00', name: 'Start', status: 'inprocess', next: '01|77' },
      { id: '01', name: 'A', status: 'paused', next: '00', prev: '00' },
    ])
    const lines = linesOf(open, { columns: 80, nowMs })
    expect(lines.find(line => line.includes('77'))).toMatch(/77 +\? missing$/)
    expect(lines.find(line => line.includes('01 A'))).toMatch(/\? paused|▶ inprocess/)
    expect(lines[3]).toMatch(/00 Start +↑ see above$/)
  })

  it('has readable ids at any depth', () => {
    const chain: EventText[] = Array.from({ length: 60 }, (_, depth) => ({
      id: idAt(depth),
      name: `Step${depth}`,
      status: 'inprocess',
      ...(depth === 0 ? {} : { prev: idAt(depth - 1) }),
    }))
    for (const columns of [30, 60, 80, 120]) {
      const rows = treeRows(sceneOf(opened(chain), { columns, nowMs, list: { cursor: idAt(59) } }), {
        columns,
        rows: 20,
      })
      expect(textOf(rows).find(line => line.startsWith('›'))).toContain('59')
      expect(widest(rows)).toBeLessThanOrEqual(columns)
    }
  })

  it('processes only visible rows: of 2 000 siblings only the visible ones are read', () => {
    const many: EventText[] = Array.from({ length: 2_000 }, (_, at) =>
      at === 0
        ? { id: '00', name: 'Start', status: 'inprocess' }
        : { id: `e${at}`, name: 'N', status: 'init', prev: '00' },
    )
    const whole = opened(many)
    const seen = { nodes: 0, events: 0 }
    const nodes = new Proxy<readonly TreeNode[]>(whole.nodes, {
      get(target, name) {
        if (typeof name === 'string' && /^\d+$/.test(name)) seen.nodes++
        return Reflect.get(target, name)
      },
    })
    const countedEvent: OpenStream['event'] = id => {
      seen.events++
      return whole.event(id)
    }
    const open: OpenStream = { ...partsOf(whole), nodes, event: countedEvent }
    const scene = sceneOf(open, { columns: 80, nowMs, list: { cursor: 'e1000', offset: 10 } })
    const first = textOf(treeRows(scene, { columns: 80, rows: 30 }))
    seen.nodes = 0
    seen.events = 0
    expect(textOf(treeRows(scene, { columns: 80, rows: 30 }))).toEqual(first)
    expect(first.find(line => line.startsWith('›'))).toContain('e1000')
    expect(seen.nodes).toBeLessThan(200)
    expect(seen.events).toBeLessThan(100)
  })

  it('has the reason if it is empty', () => {
    const open = opened('<EventStream/>')
    expect(linesOf(open, { columns: 80 }).join('\n')).toContain('no events yet')
    const none = linesOf(opened(play), { columns: 80, rows: listingOf([], { total: 10 }), list: { filter: 'abc' } })
    expect(none.join('\n')).toContain('abc')
    expect(textOf(treeRows(sceneOf(undefined, { columns: 80 }), { columns: 80, rows: 3 }))).toHaveLength(3)
  })
})

function idAt(depth: number): string {
  return depth === 0 ? '00' : `id-${'x'.repeat(8)}-${depth}`
}

/** A stream whose parts can be replaced: those of a class are on its prototype. */
function partsOf(open: OpenStream): OpenStream {
  const { name, revision, presence, view, fault, listed, summary, nodes, tail, text } = open
  return {
    ...{ name, revision, presence, view, fault, listed, summary, nodes, tail, text },
    below: at => open.below(at),
    event: id => open.event(id),
    transactionsOf: id => open.transactionsOf(id),
  }
}
