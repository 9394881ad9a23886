import { expect, it } from 'vitest'
import type { StreamEntry } from '../../../../src/tui/data/types.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { listDetailRows } from '../../../../src/tui/view/list-detail.ts'
import { frameText, sceneWith } from '../support/scenes.ts'
import { NOW_MS, streamEntry } from '../support/world.ts'

const STREAM = 'orders/1'

function pictureOf(entry: StreamEntry, columns = 120): string {
  return frameText(frameOf(sceneWith({ streams: [entry], rows: [STREAM], size: { columns, rows: 24 } })))
}

it('the known values of a stream are shown while its newer state is read', () => {
  const older = streamEntry(STREAM, { waitingOn: ['01.02'], open: 1, total: 4 }, { isRead: false })
  expect(pictureOf(older)).toMatch(/orders\/1 +▶ inprocess +[█▌░]+ +3\/4 +01\.02 /)
  expect(pictureOf(older, 30)).toContain('▶ orders/1')
  const { item } = older
  const unknown = { ...older, item: { ...item, summary: undefined } }
  expect(pictureOf(unknown)).toMatch(/orders\/1 +… +… /)
  expect(pictureOf(unknown, 30)).toContain('… orders/1')
})

it('ready events are listed by name, with the topic in brackets if there is one', () => {
  const entry = streamEntry(STREAM, { ready: ['Search|', 'Search|orders%2Fsearch', 'Gr%C3%BC%C3%9Fen|', '%|', '+3'] })
  const size = { columns: 160, rows: 40 }
  const scene = sceneWith({ streams: [entry], rows: [STREAM], size, state: { isDetailOpen: true } })
  const rows = listDetailRows(scene, { columns: 160, rows: 10 })
  expect(frameText({ columns: 160, rows })).toContain('ready Search Search [orders/search] Grüßen % +3')
})

it('a long id of what a stream waits on leaves room for its name', () => {
  const id = `${'01.'.repeat(44)}00`
  const entry = streamEntry(STREAM, { waitingOn: [id, '02.00'], ready: ['Search|', 'Pay|'] })
  expect(pictureOf(entry, 160)).toMatch(/ 01\.01\S*…\S*01\.00 Search, 02\.00 Pay /)
})

it('why a stream was canceled is shown, and no id where no reason was given', () => {
  const canceled = (failure: string) =>
    streamEntry(STREAM, {
      status: 'canceled',
      open: 0,
      total: 4,
      canceled: 4,
      failed: 0,
      failedId: '00',
      failure,
      waitingOn: [],
    })
  const rowWith = (failure: string) => pictureOf(canceled(failure)).split('\n')[4]
  expect(rowWith('customer called')).toContain('  00 customer called  ')
  expect(rowWith('')).not.toMatch(/ 00 /)
})

it('names stay readable when more columns are shown', () => {
  const name = 'orders/eu/2026/000117'
  const scene = sceneWith({ streams: [streamEntry(name)], rows: [name], size: { columns: 120, rows: 24 } })
  expect(frameText(frameOf({ ...scene, state: { ...scene.state, isWide: true } }))).toContain(name)
})

it('a claim is shown with whether it has expired', () => {
  const detailOf = (claimEndMs: number) => {
    const streams = [streamEntry(STREAM, { claimEndMs })]
    const scene = sceneWith({ streams, rows: [STREAM], state: { isDetailOpen: true } })
    return frameText({ columns: 160, rows: listDetailRows(scene, { columns: 160, rows: 10 }) })
  }
  expect(detailOf(NOW_MS + 5_000)).toContain('first claim ends ')
  expect(detailOf(NOW_MS - 5_000)).toContain('first claim ended ')
})

it('what a change has altered is marked for a second', () => {
  const { item } = streamEntry(STREAM, { waitingOn: ['01.00'], open: 3, total: 4 })
  const changed = (agoMs: number) =>
    streamEntry(STREAM, { waitingOn: ['02.00'], open: 3, total: 4 }, { previous: { item, atMs: NOW_MS - agoMs } })
  const marked = (entry: StreamEntry) => {
    const { rows } = frameOf(sceneWith({ streams: [entry], rows: [STREAM], size: { columns: 120, rows: 24 } }))
    const row = rows.find(({ spans }) => spans.some(([text]) => text.includes(STREAM)))
    return row?.spans.filter(([, style]) => style === 'mark').map(([text]) => text)
  }
  expect(marked(changed(400))).toEqual(['02.00'])
  const half = streamEntry(STREAM, { open: 2, total: 4 }, { previous: { item, atMs: NOW_MS - 400 } })
  expect(marked(half)).toContain('2/4')
  expect(marked(half)?.join('')).not.toContain('█')
  expect(marked(changed(1_000))).toEqual([])
})
