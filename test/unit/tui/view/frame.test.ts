import { beforeAll, describe, expect, it, vi } from 'vitest'
import { shownTitles } from '../../../../src/tui/state/columns.ts'
import { SCREENS } from '../../../../src/tui/state/state.ts'
import { START_READING } from '../../../../src/tui/state/text/text.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { pageFor } from '../../../../src/tui/view/page.ts'
import { ABORT_DIALOG, CANCEL_DIALOG, demoScene, dialogScene, frameText, SIZES, tooWide } from '../support/scenes.ts'
import { dayLaterScene, deepScene, wideScene } from '../support/tree-scenes.ts'

// Times of day in the snapshots are local ones.
beforeAll(() => void vi.stubEnv('TZ', 'UTC'))

const sizeName = ({ columns, rows }: { readonly columns: number; readonly rows: number }) => `${columns}x${rows}`

describe.each(SIZES.map(size => ({ size, name: sizeName(size) })))('a terminal of $name', ({ size, name }) => {
  it.each(SCREENS)('shows the screen %s', async screen => {
    const frame = frameOf(demoScene(screen, size))
    expect(frame.rows).toHaveLength(size.rows)
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/${screen}-${name}.txt`)
  })

  it.each(['streams', 'leases', 'activity'] as const)('shows the detail of a row of %s', async screen => {
    const frame = frameOf(demoScene(screen, size, { isDetailOpen: true, isWide: true }))
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/${screen}-detail-${name}.txt`)
  })

  it.each(['timeline', 'xml'] as const)('shows the %s of a stream', async pane => {
    const frame = frameOf(demoScene('stream', size, { pane }))
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/stream-${pane}-${name}.txt`)
  })

  it.each([
    ['in the standing pane', 'stream-failed', false],
    ['in the open details', 'stream-failed-detail', true],
  ])('shows the message of a failed event %s', async (_where, file, isDetailOpen) => {
    const { lists } = demoScene('stream', size).state
    const stream = { ...lists.stream, cursor: '03.00' }
    const frame = frameOf(demoScene('stream', size, { isDetailOpen, lists: { ...lists, stream } }))
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/${file}-${name}.txt`)
  })

  it('shows all about a failed event on the whole screen', async () => {
    const scene = demoScene('stream', size)
    const subject = { kind: 'event', stream: 'orders/4711', key: '03.00' } as const
    const page = pageFor(scene, subject)
    if (page === undefined) throw new Error('the event is not there')
    const reading = { ...START_READING, search: 'supplier' }
    const frame = frameOf({ ...scene, state: { ...scene.state, page: { ...page, subject, reading } } })
    expect(frame.rows).toHaveLength(size.rows)
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/page-${name}.txt`)
  })

  it('shows the columns to choose from', async () => {
    const titles = shownTitles({ ...demoScene('streams', size).state, isWide: true }, 'streams')
    const dialog = { kind: 'columns', list: 'streams', titles, shown: titles.slice(0, 8), at: 3 } as const
    const frame = frameOf(dialogScene(dialog, size))
    expect(frame.rows).toHaveLength(size.rows)
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/columns-${name}.txt`)
  })

  it.each([
    ['very many children of one event', 'tree-wide', wideScene],
    ['a tree of 45 levels', 'tree-deep', deepScene],
    ['the timeline of an hour, and a retry a day later', 'timeline-day-later', dayLaterScene],
  ])('shows %s', async (_what, file, sceneOf) => {
    const frame = frameOf(sceneOf(size))
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/${file}-${name}.txt`)
  })

  it('shows the help in the middle', async () => {
    const frame = frameOf(dialogScene({ kind: 'help', top: 0 }, size))
    expect(frame.rows).toHaveLength(size.rows)
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/help-${name}.txt`)
  })

  it('shows the confirmation dialog in the middle', async () => {
    const frame = frameOf(dialogScene(CANCEL_DIALOG, size))
    expect(frame.rows).toHaveLength(size.rows)
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/cancel-${name}.txt`)
  })

  it('shows all that matters about a change of many streams of a protected store', async () => {
    const scene = dialogScene(ABORT_DIALOG, size)
    const frame = frameOf({ ...scene, facts: { ...scene.facts, isProtected: true } })
    expect(tooWide(frame)).toEqual([])
    await expect(frameText(frame)).toMatchFileSnapshot(`frames/abort-64-${name}.txt`)
  })
})
