import { describe, expect, it } from 'vitest'
import { viewOf } from '../../../../../src/ops/read-stream.ts'
import type { StreamSnapshot } from '../../../../../src/store/store.ts'
import { unreadStream, withUpdate } from '../../../../../src/tui/data/open-stream.ts'
import type { OpenStream } from '../../../../../src/tui/data/types.ts'
import type { State } from '../../../../../src/tui/state/state.ts'
import { streamHeader } from '../../../../../src/tui/view/stream/header.ts'
import { NAME, opened, sceneOf, searchOrder, storedOf, textOf, widest } from '../stream-scene.ts'

const play = searchOrder()

function headerOf(open: OpenStream | undefined, columns = 120, time: State['time'] = 'relative'): string {
  const rows = [streamHeader(sceneOf(open, { columns, nowMs: play.nowMs, state: { time } }))]
  expect(widest(rows)).toBeLessThanOrEqual(columns)
  return textOf(rows)[0] ?? ''
}

function leased(lease: StreamSnapshot['lease']): OpenStream {
  return withUpdate(unreadStream(NAME, 0), { kind: 'view', view: viewOf(storedOf(play, lease), play.nowMs) })
}

describe('the header of the open stream', () => {
  it('has name, status, age, progress, failures, workers, waiting-on, and due time', () => {
    const parts = '██░░░░░░░░░░ 2/10  ✗ 1  1 worker  waits on 01.02.00 01.03.00 01.04.00 +1'
    expect(headerOf(opened(play))).toBe(` OrderStart  ▶✗ failing  1m4s  ${parts}  due in 17s`)
    expect(headerOf(opened(play), 130, 'utc')).toBe(` OrderStart  ▶✗ failing  since 12:00:00  ${parts}  due 12:01:21`)
  })

  it('names an event of many levels by the ends of its id', () => {
    const deep = `01.${'01.'.repeat(44)}00`
    const events = [
      { id: '00', name: 'Start', status: 'inprocess' },
      { id: deep, name: 'A', status: 'init', prev: '00' },
    ]
    expect(headerOf(opened(events))).toMatch(/ waits on 01\.01\S*…\S*01\.00( |$)/)
  })

  it('drops the ids, the workers and the bar before the numbers', () => {
    expect(headerOf(opened(play), 95)).toContain('██░░░░░░░░░░ 2/10  ✗ 1  1 worker  waits on 4  due in 17s')
    expect(headerOf(opened(play), 66)).toBe(' OrderStart  ▶✗ failing  1m4s  ██░░░░░░░░░░ 2/10  ✗ 1  due in 17s')
    expect(headerOf(opened(play), 60)).toBe(' OrderStart  ▶✗ failing  1m4s  2/10  ✗ 1  due in 17s')
  })

  it('keeps the progress where a suspension is told', () => {
    const suspended = searchOrder()
    suspended.do({ op: 'suspend', msg: 'the gateway of the supplier is down until Monday' }, { by: 'ana@ops-1' })
    const line = (columns: number) => {
      const rows = [streamHeader(sceneOf(opened(suspended), { columns, nowMs: suspended.nowMs }))]
      expect(widest(rows)).toBeLessThanOrEqual(columns)
      return textOf(rows)[0] ?? ''
    }
    expect(line(80)).toBe(' OrderStart  ‖ suspended  1m4s  2/10  ✗ 1  0s by ana@ops-1: the gateway of the …')
    expect(line(40)).toBe(' OrderStart  ‖ suspended  2/10  ✗ 1')
  })

  it('has the holder of the lease', () => {
    const holder = { by: 'worker-7', host: 'aks-3', pid: 41, purpose: '', sinceMs: play.nowMs - 41_000 }
    const line = headerOf(leased({ state: 'leased', duration: 'fixed', holder }), 160)
    expect(line).toContain('leased by worker-7@aks-3 (pid 41) for 41s')
    expect(headerOf(leased({ state: 'leased', duration: 'fixed' }), 160)).toContain('leased, holder unknown')
  })

  it('waits for a stream that does not exist yet', () => {
    const waiting = unreadStream(NAME, 0)
    expect(headerOf(undefined)).toContain('reading…')
    expect(headerOf(waiting)).toContain('reading…')
    expect(headerOf(withUpdate(waiting, { kind: 'missing' }))).toBe(' no stream has this name yet; waiting for it')
  })

  it('has the reason why a document is unreadable, and the time of the tree below', () => {
    const fault = { code: 'bad-document', message: 'line 3: no end tag' }
    const unreadable = (open: OpenStream) => withUpdate(open, { kind: 'unreadable', stored: storedOf('<a>'), fault })
    expect(headerOf(unreadable(unreadStream(NAME, 0)))).toBe(' ? cannot be read (bad-document): line 3: no end tag')
    expect(headerOf(unreadable(opened(play)), 120, 'utc')).toContain('shown as of 12:01:04: line 3')
  })

  it('has the removal, the last state, and a fixed age', () => {
    expect(headerOf(withUpdate(opened(play), { kind: 'missing', atMs: play.nowMs }), 120, 'utc')).toContain(
      'was removed 12:01:04; this is its last state',
    )
    const gone = withUpdate(opened(play), { kind: 'missing' })
    const later = streamHeader(sceneOf(gone, { columns: 120, nowMs: play.nowMs + 3_600_000 }))
    expect(textOf([later])[0]).toMatch(/^ was removed; this is its last state {2}OrderStart {2}▶✗ failing {2}1m4s/)
  })

  it('has a text for a document without events', () => {
    expect(headerOf(opened('<EventStream/>'))).toBe(' no events yet')
  })
})
