import { describe, expect, it } from 'vitest'
import { layoutOf } from '../../../../../src/tui/state/layout.ts'
import type { TextSubject } from '../../../../../src/tui/state/state.ts'
import { textOfLines } from '../../../../../src/tui/state/text/text.ts'
import { searchOrderPlay } from '../../support/demo-data.ts'
import { openStream } from '../../support/open-stream.ts'
import { outcomeOf, Stage } from '../../support/stage.ts'
import { activity, worldWith } from '../../support/world.ts'

const LINES = textOfLines(Array.from({ length: 80 }, (_, at) => [[`line ${at} says ${'x'.repeat(at)}`, 'plain']]))

describe('the XML', () => {
  const count = 100
  const events = Array.from({ length: count }, (_, at) => ({ id: `${at}.00`, name: `E${at}`, status: 'init' }))
  const long = openStream('a', events)
  const xml = () => new Stage(worldWith({ open: long }), { stream: 'a' }).press('y')
  /** 40 rows without header and footer. */
  const height = 35
  const lineOf = ({ state }: Stage) => state.xml.at?.line

  it('has a cursor, which stays in sight', () => {
    expect(lineOf(xml().press('j', 'j', 'k'))).toBe(lineOf(xml()) === undefined ? undefined : (lineOf(xml()) ?? 0) + 1)
    const last = long.text.length - 1
    const there = xml().press('G')
    expect([lineOf(there), there.state.xml.top]).toEqual([last, last - height + 1])
    expect(there.press('j', 'pagedown').state.xml.top).toBe(last - height + 1)
    expect(there.press('g').state.xml).toMatchObject({ top: 0, at: { line: 0 } })
  })

  it('is opened at the line of the event under the cursor', () => {
    const there = new Stage(worldWith({ open: long }), { stream: 'a' })
    const { keys } = there.seen.listing
    const there60 = there.press(...Array<string>(60).fill('j'), 'y')
    const id = keys[60]
    expect(long.text[lineOf(there60) ?? -1]).toContain(`id="${id}"`)
    expect(there60.state.xml.top).toBeGreaterThan(0)
  })

  it('keeps its cursor on the same event when events come before it', () => {
    const there = xml().press('/').type('"E42"').press('enter')
    const more = openStream('a', [
      ...events.slice(0, 20),
      { id: 'x.00', name: 'New', status: 'init' },
      ...events.slice(20),
    ])
    there.world = worldWith({ open: more })
    there.act({ kind: 'tick' })
    expect(more.text[lineOf(there) ?? -1]).toContain('"E42"')
  })

  it('stays within its bounds when the document shrinks', () => {
    const there = xml().press('G')
    there.world = worldWith({ open: openStream('a', events.slice(0, 2)) })
    expect(there.act({ kind: 'tick' }).state.xml.top).toBe(0)
  })

  it('leaves room for the reason why the document is unreadable', () => {
    const there = new Stage(worldWith({ open: { ...long, presence: 'unreadable' } }), { stream: 'a' })
    expect(there.press('y', 'G').state.xml.top).toBe(long.text.length - height + 1)
  })

  it('is searched while the text is typed, and goes to the next and the previous match', () => {
    const there = xml().press('/').type('e4')
    expect(long.text[lineOf(there) ?? -1]).toContain('"E4"')
    there.type('2').press('enter')
    expect(long.text[lineOf(there) ?? -1]).toContain('"E42"')
    expect(there.state.lists.stream.filter).toBe('')
    const nines = xml().press('g', '/').type('"e9').press('enter')
    expect(long.text[lineOf(nines.press('n')) ?? -1]).toContain('"E90"')
    expect(long.text[lineOf(nines.press('N', 'N')) ?? -1]).toContain('"E99"')
    expect(xml().press('n').notice).toBe('nothing to find: / sets it')
    expect(xml().press('/').type('nowhere').press('enter', 'n').notice).toBe('no line matches')
  })

  it('returns to where it was when the search is canceled, and esc clears the search before it leaves', () => {
    const there = xml().press('/').type('E77').press('escape')
    expect(there.state.xml).toEqual(xml().state.xml)
    const found = xml().press('/').type('E77').press('enter', 'escape')
    expect(found.state).toMatchObject({ pane: 'xml', xml: { search: '' } })
    expect(found.press('escape').state.pane).toBe('tree')
  })

  it('folds an element, wraps a single line, and unfolds what hides a match', () => {
    const xml = () => new Stage(worldWith({ open: openStream('a', searchOrderPlay()) }), { stream: 'a' }).press('y')
    const there = xml().press('/').type('<lc:journal').press('enter', 'enter')
    expect([...there.state.xml.toggled]).toEqual(['lc:journal '])
    const journal = lineOf(there) ?? 0
    expect(lineOf(there.press('j'))).toBeGreaterThan(journal + 1)
    there.press('/', 'ctrl-u').type('op="').press('enter')
    expect(there.state.xml.toggled.size).toBe(0)
    const all = xml().press('-')
    expect([...all.state.xml.toggled]).toEqual(['lc:journal '])
    expect(all.press('=').state.xml.toggled.size).toBe(0)
  })

  it('has changes for the event on the line of the cursor, and outside of all for the stream', () => {
    const open = openStream('a', searchOrderPlay())
    const targetsAt = (text: string) =>
      new Stage(worldWith({ open }), { stream: 'a', writes: 'unlocked' })
        .press('y', '/')
        .type(text)
        .press('enter', 'c')
        .effectsOf('preview')[0]?.targets
    const event = open.nodes.at(-1)?.id ?? ''
    expect(targetsAt(` id="${event}"`)).toEqual([{ stream: 'a', event }])
    expect(targetsAt(' id="00"')).toEqual([{ stream: 'a' }])
    expect(targetsAt('<lc:journal')).toEqual([{ stream: 'a' }])
  })

  it('moves to the side and back, and not where lines are wrapped', () => {
    const xml = () => new Stage(worldWith({ open: openStream('a', searchOrderPlay()) }), { stream: 'a' }).press('y')
    expect(xml().press('l', 'right', 'h').state.xml.left).toBe(16)
    expect(xml().press('h').state.xml.left).toBe(0)
    expect(xml().press('l', 'w', 'l').state.xml).toMatchObject({ wraps: true, left: 0 })
  })

  it('marks, folds and moves nothing in the tree', () => {
    const { state } = xml().press('space', '*', 'h', 'l', 'enter', 'j')
    expect(state.lists.stream).toMatchObject({ cursor: undefined, marks: new Set(), moves: 0 })
    expect(state.folded.size).toBe(0)
  })

  it('toggles with the tree', () => {
    expect(xml().press('y').state.pane).toBe('tree')
    expect(xml().press('t', 't').state.pane).toBe('tree')
  })
})

describe('the open details', () => {
  const world = { ...worldWith({ streams: ['a', 'b'], activity: [activity('a', 1)] }), detailOf: () => LINES }
  const open = () => new Stage(world).press('d')

  it('scroll by a line, not beyond their ends', () => {
    const rows = layoutOf(open().state).detail - 1
    expect(open().press('J', 'J', 'K').state.detail.top).toBe(1)
    expect(open().press('K', 'K').state.detail.top).toBe(0)
    expect(open().press(...Array<string>(99).fill('J')).state.detail.top).toBe(80 - rows)
  })

  it('begin at their top for another row, and when they are opened again', () => {
    expect(open().press('J', 'j').state.detail.top).toBe(0)
    expect(open().press('J', 'd', 'd').state.detail.top).toBe(0)
  })

  it('do not scroll while they are closed', () => {
    const there = open().press('d', 'J')
    expect([there.state.detail.top, there.notice]).toEqual([0, 'no details are open: d opens them'])
    expect(new Stage(world).press('tab').notice).toBe('no details are open: d opens them')
  })

  it('have the keys after tab, and give them back', () => {
    const there = open().press('tab', 'j', 'j')
    expect([there.state.detail.top, there.cursor]).toEqual([2, 'a'])
    there.press('/').type('LINE 7 ').press('enter')
    expect(there.state).toMatchObject({ detail: { search: 'LINE 7 ', at: { line: 7 } }, isDetailFocused: true })
    expect(there.press('escape').state).toMatchObject({ detail: { search: '' }, isDetailFocused: true })
    expect(there.press('tab', 'j').cursor).toBe('b')
    expect(open().press('tab', 'd').state).toMatchObject({ isDetailOpen: false, isDetailFocused: false })
    expect(open().press('tab', '3').state.isDetailFocused).toBe(false)
    expect(open().press('tab', 'escape').state).toMatchObject({ isDetailFocused: false, isDetailOpen: true })
  })

  it('are shown on the whole screen with enter', () => {
    const page = { title: 'a', text: LINES }
    const there = new Stage({ ...world, pageOf: () => page }).press('d', 'tab', 'enter')
    expect(there.state.page).toMatchObject({ title: 'a', subject: { kind: 'row', screen: 'streams', key: 'a' } })
  })
})

describe('a text on the whole screen', () => {
  const asked: TextSubject[] = []
  const world = {
    ...worldWith({ streams: ['a'] }),
    pageOf: (_state: unknown, subject: TextSubject) => {
      asked.push(subject)
      return { title: 'a text', text: LINES }
    },
  }
  const open = (options = {}) => new Stage(world, options).press('o')

  it('has all keys, and o, q, enter and esc close it', () => {
    const there = open({ writes: 'unlocked' }).press('c', 'X', '3', '!', ':', 'd')
    expect(there.state).toMatchObject({ screen: 'streams', dialog: undefined, prompt: undefined, isDetailOpen: false })
    expect(there.state.page).toBeDefined()
    for (const key of ['o', 'q', 'enter', 'escape', 'ctrl-c']) {
      const closed = open().press(key)
      expect([closed.state.page, closed.effects]).toEqual([undefined, []])
    }
  })

  it('scrolls by lines, half and whole screens, and not beyond its ends', () => {
    const height = 37
    const top = (...keys: string[]) => open().press(...keys).state.page?.reading.top
    expect(top('j', 'j', 'k')).toBe(1)
    expect(top('space')).toBe(height - 1)
    expect(top('ctrl-d')).toBe((height - 1) / 2)
    expect(top('ctrl-d', 'ctrl-u')).toBe(0)
    expect(top('G', 'j', 'j')).toBe(80 - height)
  })

  it('is searched, and esc clears the search first', () => {
    const there = open().press('/').type('line 60').press('enter')
    expect(there.state.page?.reading).toMatchObject({ search: 'line 60', at: { line: 60 } })
    expect(there.press('escape').state.page?.reading.search).toBe('')
    expect(there.press('escape').state.page).toBeUndefined()
  })

  it('takes a pasted search, and ignores a paste otherwise', () => {
    const there = open().press('/').act({ kind: 'paste', text: 'line\n7' })
    expect(there.state.page?.reading.search).toBe('line 7')
    expect(open().act({ kind: 'paste', text: 'q' }).state.page).toBeDefined()
  })

  it('is copied', () => {
    expect(open().press('C').effectsOf('copy')).toEqual([{ kind: 'copy', text: LINES.lines.join('\n') }])
  })

  it('keeps the last text of a row that is gone, and is refreshed otherwise', () => {
    const there = open()
    there.world = { ...world, pageOf: () => ({ title: 'newer', text: LINES }) }
    expect(there.act({ kind: 'tick' }).state.page?.title).toBe('newer')
    there.world = { ...world, pageOf: () => undefined }
    expect(there.act({ kind: 'tick' }).state.page?.title).toBe('newer')
  })

  it('says that there is no row', () => {
    expect(new Stage(worldWith()).press('o').notice).toBe('there is no row to read')
  })

  it('has the outcomes of a change, and the answer to a line', () => {
    asked.length = 0
    const change = new Stage(world, { writes: 'unlocked' })
    change.press('c').previewed({ count: 2 }).press('enter', 'tab', 'enter')
    change.act({ kind: 'outcome', outcome: outcomeOf('a') })
    expect(change.press('o').state.page).toBeDefined()
    expect(change.press('escape').state.dialog?.kind).toBe('outcomes')
    const line = new Stage(world).press(':').type('ls').press('enter')
    line.act({ kind: 'line-answered', output: { exit: 0, lines: ['x'] } })
    expect(line.press('/').state).toMatchObject({ page: { title: 'a text' }, prompt: { kind: 'search' } })
    expect(asked.map(({ kind }) => kind)).toEqual(['outcomes', 'output'])
  })
})
