import { describe, expect, it } from 'vitest'
import { dataOf } from '../../../../src/stream/data.ts'
import { type Reading, START_DOCUMENT, START_READING, textOfLines } from '../../../../src/tui/state/text/text.ts'
import { xmlText } from '../../../../src/tui/state/text/xml.ts'
import { visibleDataOf } from '../../../../src/tui/state/visible-data.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { pageFor } from '../../../../src/tui/view/page.ts'
import { readableRows } from '../../../../src/tui/view/text.ts'
import { Play, spec } from '../../../support/stream-builder.ts'
import { openStream } from '../support/open-stream.ts'
import { demoScene, frameText, sceneWith, tooWide } from '../support/scenes.ts'
import { activity, streamEntry } from '../support/world.ts'
import { opened, textOf } from './stream-scene.ts'

const area = { columns: 20, rows: 4 }
const reading = (more: Partial<Reading>) => ({ ...START_READING, ...more })

describe('a text that is read', () => {
  it('has its colours, and matches in reverse video whatever their case', () => {
    const text = textOfLines([
      [
        ['label ', 'dim'],
        ['No Such Card', 'bad'],
      ],
    ])
    const [row] = readableRows(text, reading({ search: 'such' }), { columns: 40, rows: 1 })
    expect(row?.spans).toEqual([
      [' ', 'plain'],
      ['label ', 'dim'],
      ['No ', 'bad'],
      ['Such', 'mark'],
      [' Card', 'bad'],
    ])
  })

  it('begins further right where it is scrolled to the side', () => {
    const text = { lines: ['0123456789'.repeat(4), 'short', '漢字'.repeat(10)] }
    expect(textOf(readableRows(text, reading({ wraps: false, left: 16 }), area))).toEqual([
      ' 678901234567890123…',
      '',
      ' 漢字漢字漢字漢字漢…',
      '',
    ])
  })

  it('shows hostile characters, and no row is too wide', () => {
    const text = { lines: ['a\u001b[2J\u202e\u0007', '👩‍🚀🇩🇪'.repeat(20), 'e\u0301'.repeat(40)] }
    const rows = readableRows(text, START_READING, { columns: 20, rows: 20 })
    expect(tooWide({ columns: 20, rows })).toEqual([])
    expect(textOf(rows)[0]).toBe(' a␛[2J\\u{202e}␇')
  })
})

describe('the XML of a document', () => {
  const open = openStream('a', [
    { id: '00', name: 'Start', status: 'aborted', msg: 'a "quoted" & <odd> message', next: '01' },
    { id: '01', name: 'Next', status: 'init', prev: '00' },
  ])
  const text = xmlText(open)

  it('has names, attributes and values in styles of their own', () => {
    const line = text.lines.findIndex(one => one.includes('id="00"'))
    const rows = readableRows(text, { ...START_DOCUMENT, top: line }, { columns: 300, rows: 1 })
    const styles = new Map(rows[0]?.spans.map(([part, style]) => [part.trim(), style]))
    expect([styles.get('<'), styles.get('Event'), styles.get('name'), styles.get('"aborted"')]).toEqual([
      'dim',
      'strong',
      'hue1',
      'bad',
    ])
    expect(rows[0]?.spans.map(([part]) => part).join('')).toContain(text.lines[line] ?? 'no line')
  })

  it('says of a folded element how many lines it hides', () => {
    const lines = ['<a id="1">', '<b/>', '<c/>', '</a>']
    const folded = xmlText({ ...open, text: lines })
    const shown = readableRows(folded, { ...START_DOCUMENT, toggled: new Set(['a 1']) }, { columns: 40, rows: 2 })
    expect(textOf(shown)).toEqual(['›  1▸ <a id="1">  +3 lines', ''])
  })
})

describe('the elements of a damaged document', () => {
  it('end where an end tag has their name', () => {
    const open = openStream('a', [{ id: '00', name: 'Start', status: 'init' }])
    const { outline } = xmlText({ ...open, text: ['<Stream>', '  <Event id="00"', '</Stream>', '</Other>'] })
    expect([...(outline?.ends ?? [])]).toEqual([[0, 2]])
  })
})

const viewWith = (msg: string) => {
  const { view } = openStream('orders/4712', [
    { id: '00', name: 'Start', status: 'inprocess' },
    { id: '01.00', name: 'Pay', status: 'aborted', prev: '00', msg, tag: 'deep' },
  ])
  if (view === undefined) throw new Error('the stream is not read')
  return view
}

describe('the whole screen', () => {
  const message = `${'a long reason '.repeat(30)}\nCaused by: THE REAL REASON`

  it('shows all about an event: its message to the end, each attribute whole', () => {
    const open = openStream('orders/4711', [
      { id: '00', name: 'Start', status: 'aborted', msg: message, tag: 't'.repeat(300), next: '01' },
      { id: '01', name: 'Next', status: 'init', prev: '00' },
    ])
    const scene = sceneWith({ open, state: { screen: 'stream' } })
    const page = pageFor(scene, { kind: 'event', stream: 'orders/4711', key: '00' })
    expect(page?.title).toBe('00 Start of orders/4711')
    expect(page?.text.lines).toContain('Caused by: THE REAL REASON')
    expect(page?.text.lines).toContain(`tag ${'t'.repeat(300)}`)
    expect(pageFor(scene, { kind: 'event', stream: 'orders/4711', key: 'gone' })).toBeUndefined()
  })

  it('shows the whole text of the input and result of an event', () => {
    const result = `${'an offer '.repeat(40)}\nthe last line`
    const play = new Play().after({ op: 'init', root: spec('Start', { data: dataOf(Buffer.from('{"a":1}')) }) })
    play.do({ op: 'complete', event: '00', result: dataOf(Buffer.from(result)) })
    const scene = sceneWith({ open: opened(play), state: { screen: 'stream', stream: 'orders/4711' } })
    const lines = pageFor(scene, { kind: 'event', stream: 'orders/4711', key: '00' })?.text.lines ?? []
    const from = lines.indexOf('input application/json, 7 B')
    expect(lines.slice(from, from + 7)).toEqual([
      'input application/json, 7 B',
      '{"a":1}',
      '',
      `result text/plain, ${result.length} B`,
      ...result.split('\n'),
      '',
    ])
  })

  it('shows all about a row of a list, and the whole reason of a change', () => {
    const failed = streamEntry('a', { status: 'aborted', failed: 1, failedId: '00', failure: message })
    const items = [activity('a', 3, { why: message })]
    const scene = sceneWith({ streams: [failed], activity: items })
    const linesOf = (screen: 'streams' | 'activity', key: string) =>
      pageFor(scene, { kind: 'row', screen, key })?.text.lines ?? []
    expect(linesOf('streams', 'a')).toContain('Caused by: THE REAL REASON')
    expect(linesOf('activity', items[0]?.key ?? '')).toContain('Caused by: THE REAL REASON')
  })

  it('shows the whole failure once it has been read, until the stream changes', () => {
    const cut = streamEntry('a', { status: 'aborted', failed: 1, failedId: '00', failure: message.slice(0, 200) })
    const { etag } = cut.item.listed
    const linesWith = (of: string) => {
      const scene = sceneWith({
        streams: [cut],
        failure: { stream: 'a', etag: of, text: message, view: viewWith(message) },
      })
      return pageFor(scene, { kind: 'row', screen: 'streams', key: 'a' })?.text.lines
    }
    expect(linesWith(etag)).toContain('Caused by: THE REAL REASON')
    expect(linesWith('"other"')).not.toContain('Caused by: THE REAL REASON')
  })

  it.each(['watchdog', 'workers', 'activity'] as const)(
    'shows the event of a row of %s as in the tree, once its stream has been read',
    screen => {
      const item = activity('orders/4712', 9)
      const on = { ...item, tx: { ...item.tx, on: '01.00' } }
      const failure = { stream: 'orders/4712', etag: '"1"', text: '', view: viewWith(message) }
      const demo = { activity: [on], streams: ['orders/4712'] }
      const keys = { watchdog: 'orders/4712', workers: 'orders/4712\n01.00', activity: on.key }
      const subject = { kind: 'row', screen, key: keys[screen] } as const
      const scene = sceneWith({ ...demo, failure, state: { screen } })
      const lines = pageFor(scene, subject)?.text.lines ?? []
      expect(lines).toContain('01.00 Pay')
      expect(lines).toContain('Caused by: THE REAL REASON')
      expect(lines).toContain('tag deep')
      const page = { subject, title: '', text: textOfLines([]), reading: START_READING }
      const { state, data } = sceneWith({ ...demo, state: { screen, page } })
      expect(visibleDataOf(state, scene.listing, data).failure).toBe('orders/4712')
      expect(pageFor(sceneWith({ ...demo, state: { screen } }), subject)?.text.lines).not.toContain('tag deep')
    },
  )

  it.each([
    [80, 24],
    [40, 12],
    [20, 5],
    [1, 1],
  ])('fits a terminal of %i × %i', (columns, rows) => {
    const text = textOfLines([[[message, 'bad']]])
    const page = { subject: { kind: 'outcomes' }, title: 'a title', text, reading: START_READING } as const
    const frame = frameOf(demoScene('streams', { columns, rows }, { page }))
    expect(frame.rows).toHaveLength(rows)
    expect(tooWide(frame)).toEqual([])
    if (rows > 4) expect(frameText(frame)).toContain('a long reason')
  })
})
