import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../../../src/stream/data.ts'
import { textLayout } from '../../../../../src/tui/state/text/layout.ts'
import { START_READING } from '../../../../../src/tui/state/text/text.ts'
import { detailRows, eventDetail } from '../../../../../src/tui/view/stream/detail.ts'
import { tailRows } from '../../../../../src/tui/view/stream/journal.ts'
import { Play, spec } from '../../../../support/stream-builder.ts'
import { opened, sceneOf, searchOrder, textOf, widest } from '../stream-scene.ts'

const play = searchOrder()
const open = opened(play)

function detailOf(columns: number, rows: number, cursor = '01.02.00', given = open): string[] {
  const scene = sceneOf(given, {
    columns,
    nowMs: play.nowMs,
    list: { cursor },
    state: { time: 'utc', isDetailOpen: rows > 3 },
  })
  const drawn = detailRows(scene, { columns, rows })
  expect(drawn).toHaveLength(rows)
  expect(widest(drawn)).toBeLessThanOrEqual(columns)
  return textOf(drawn)
}

describe('the detail pane of an event', () => {
  it('has in three rows its owner and claim time, and the end of its journal', () => {
    expect(detailOf(80, 3)).toEqual([
      `─ 01.02.00 Search ${'─'.repeat(62)}`,
      ' worker-7   claim 38s, 22s left   fence 5   timeout 00:01:00   due 12:01:26',
      ' 12:00:21 v3 advance  test     12:00:26 v5 start  test',
    ])
  })

  it('has in many rows all attributes, the most important first', () => {
    expect(detailOf(100, 9).slice(1)).toEqual([
      ' ▶ inprocess   worker-7   claim 38s, 22s left   fence 5',
      ' timeout 00:01:00   due 12:01:26 unless there is a heartbeat',
      ' prev 01.00',
      ' created 2024-05-01 12:00:21Z (43s ago)   changed 2024-05-01 12:00:26Z (38s ago)',
      ' topic search',
      ' 12:00:21 v3 advance   ○ init (added)  test',
      ' 12:00:26 v5 start     init → ▶ inprocess (owner worker-7)  test',
      '',
    ])
  })

  const failed = (msg: string) =>
    opened([
      { id: '00', name: 'Start', status: 'inprocess', next: '01' },
      { id: '01', name: 'A', status: 'aborted', msg, prev: '00', tag: 't', ref: 'r', trackingId: 'x', key: 'k' },
    ])

  it('in three rows has what a failed event says', () => {
    expect(detailOf(80, 3, '01', failed('no such card\nCaused by: a typo')).slice(1)).toEqual([
      expect.stringContaining('✗ aborted'),
      ' msg no such card…',
    ])
  })

  it('does not repeat the lines of a message in the journal below it', () => {
    const msg = 'no such card\nCaused by: a typo'
    const given = new Play().after({ op: 'init', root: spec('Start'), forks: [spec('A')] })
    given.do({ op: 'fail', event: '01.00', msg }, { why: msg })
    const lines = detailOf(100, 12, '01.00', opened(given)).join('\n')
    expect(lines.match(/Caused by/g)).toHaveLength(1)
    expect(lines).toContain('"no such card …"')
  })

  it('has the kind, size and beginning of its input and result', () => {
    const data = (text: string) => dataOf(Buffer.from(text))
    const given = new Play()
      .after({ op: 'init', root: spec('Start'), forks: [spec('A', { data: data('{"a":"\u009b2J"}') })] })
      .after({ op: 'complete', event: '01.00', result: data('x'.repeat(5_000)) })
    const rows = detailOf(60, 9, '01.00', opened(given))
    expect(rows).toContain(' input application/json, 12 B: {"a":"\\u{9b}2J"}')
    expect(rows).toContain(' result text/plain, 4.9 KiB')
  })

  it('has a message of many lines to its end, and says how to scroll to it', () => {
    const stack = Array.from({ length: 13 }, (_, at) => `at line ${at} of the program`).join('\n')
    const long = failed(`${'many words '.repeat(20)}\n\n${stack}\nCaused by: THE REAL REASON`)
    const scene = (top: number) =>
      sceneOf(long, {
        columns: 60,
        nowMs: play.nowMs,
        list: { cursor: '01' },
        state: { detail: { ...START_READING, top }, isDetailOpen: true },
      })
    const text = eventDetail(scene(0))
    const total = text === undefined ? 0 : textLayout(text, 60, START_READING).total
    const [title, ...first] = textOf(detailRows(scene(0), { columns: 60, rows: 10 }))
    expect(title).toContain(`01 A, 1–9 of ${total}: J K scroll`)
    expect(first.join('\n')).toMatch(/✗ aborted[\s\S]*msg many words many[\s\S]*\n\n at line 0 of the program/)
    const all = textOf(detailRows(scene(0), { columns: 60, rows: total + 1 })).join('\n')
    expect(all).toContain(' Caused by: THE REAL REASON\n')
    expect(all).toContain('tracking id x')
    const last = textOf(detailRows(scene(total), { columns: 60, rows: 10 }))
    expect(last).toHaveLength(10)
    expect(last.at(-1)).toContain('not recorded yet')
  })

  it('fits any number of rows and columns', () => {
    for (const columns of [1, 7, 20, 40, 80, 200]) for (let rows = 0; rows < 20; rows++) detailOf(columns, rows)
  })

  it('names for a missing id the event that refers to it', () => {
    const dangling = opened([{ id: '00', name: 'Start', status: 'inprocess', next: '77' }])
    expect(detailOf(80, 3, '77', dangling)[1]).toBe(' no event has this id; next of 00 names it')
  })

  it('has a line of text without a row under the cursor', () => {
    const none = textOf(detailRows(sceneOf(undefined, { columns: 10 }), { columns: 10, rows: 3 }))
    expect(none).toEqual(['─'.repeat(10), '', ''])
  })
})

describe('the end of the journal', () => {
  it('has the newest entry at the bottom, and older ones as space allows', () => {
    const scene = sceneOf(open, { columns: 80, nowMs: play.nowMs, state: { time: 'utc' } })
    expect(textOf(tailRows(scene, { columns: 80, rows: 3 }))).toEqual([
      `─ tail ${'─'.repeat(73)}`,
      ' 12:00:36 v6  01.01.00 inprocess → ✓ completed  worker-2  "12 results"',
      ' 12:00:36 v7  03.00 init → ✗ aborted  worker-3  "no answer"',
    ])
    expect(textOf(tailRows(scene, { columns: 80, rows: 1 }))).toEqual([`─ tail ${'─'.repeat(73)}`])
    expect(tailRows(scene, { columns: 80, rows: 0 })).toEqual([])
  })

  it('says what happened to an event of 45 levels too', () => {
    const deep = new Play()
    deep.do({ op: 'init', root: { name: 'Start' }, forks: [{ name: 'Level' }] })
    const ids = Array.from({ length: 44 }, (_, at) => `${'01.'.repeat(at + 1)}00`)
    for (const event of ids) deep.do({ op: 'advance', event, forks: [{ name: 'Level' }] })
    const scene = sceneOf(opened(deep), { columns: 80, nowMs: deep.nowMs, state: { time: 'utc' } })
    const [, line] = textOf(tailRows(scene, { columns: 80, rows: 2 }))
    expect(line).toMatch(/v45 {2}01\S*…\S*01\.00 init → ▶ inprocess \+1/)
  })

  it('has the operation if it fits, and the number of other changes', () => {
    const scene = sceneOf(open, { columns: 120, nowMs: play.nowMs, state: { time: 'utc' } })
    expect(textOf(tailRows(scene, { columns: 120, rows: 6 }))[1]).toBe(
      ' 12:00:21 v3 advance   01.00 ▶ inprocess +5  test',
    )
  })
})
