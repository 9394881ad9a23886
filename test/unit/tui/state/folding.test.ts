import { describe, expect, it } from 'vitest'
import { Lists } from '../../../../src/tui/state/lists/lists.ts'
import type { State } from '../../../../src/tui/state/state.ts'
import { initialState, update } from '../../../../src/tui/state/update.ts'
import { treeRows } from '../../../../src/tui/view/stream/tree.ts'
import type { EventText } from '../../../support/stream-builder.ts'
import { openStream } from '../support/open-stream.ts'
import { pressOf } from '../support/stage.ts'
import { activity, NOW_MS, streamEntry, worldWith } from '../support/world.ts'
import { textOf } from '../view/stream-scene.ts'

/** The screen of a stream, with the rows that the dashboard itself would list. */
function screenOf(events: readonly EventText[], given: Partial<State> = {}) {
  const lists = new Lists()
  let open = openStream('s', events)
  let state: State = {
    ...initialState({
      size: { columns: 80, rows: 24 },
      writes: 'unlocked',
      nowMs: NOW_MS,
      time: 'relative',
      stream: 's',
    }),
    ...given,
  }
  const context = () => {
    const world = worldWith({
      open,
      streams: [streamEntry('s', { failed: 1, failedId: '02.00' })],
      activity: [activity('s', 3, { on: '01.07' })],
      watchdog: { next: [{ stream: 's', dueMs: NOW_MS, limit: undefined }] },
    })
    return { ...world, listing: lists.listing(state, world.data, NOW_MS) }
  }
  const screen = {
    press(...keys: readonly string[]) {
      for (const key of keys) state = update(state, { kind: 'key', press: pressOf(key) }, context())[0]
      return screen
    },
    become(changed: readonly EventText[]) {
      open = openStream('s', changed, { revision: open.revision + 1 })
      state = update(state, { kind: 'opened' }, context())[0]
      return screen
    },
    get state() {
      return state
    },
    get keys() {
      return context().listing.keys
    },
    get cursor() {
      return state.lists[state.screen].cursor
    },
    rows: (columns = 80, rows = 20) => textOf(treeRows({ ...context(), state }, { columns, rows })),
  }
  return screen
}

const FOLDS: readonly EventText[] = [
  { id: '00', name: 'Start', status: 'inprocess', next: '01|02' },
  { id: '01', name: 'A', status: 'inprocess', next: '01.00' },
  { id: '01.00', name: 'B', status: 'inprocess', next: '01.00.00' },
  { id: '01.00.00', name: 'C', status: 'init' },
  { id: '02', name: 'D', status: 'inprocess', next: '02.00' },
  { id: '02.00', name: 'E', status: 'init' },
]

describe('folds of the whole tree', () => {
  it('are made with -, and the cursor goes to the row above its own', () => {
    const there = screenOf(FOLDS).press('j', 'j', 'j', '-')
    expect([there.keys, there.cursor]).toEqual([['00', '01', '02'], '01'])
  })

  it('leave out this event and what is above and below it with _', () => {
    const there = screenOf(FOLDS).press('j', 'j', '_')
    expect([there.keys, there.cursor]).toEqual([['00', '01', '01.00', '01.00.00', '02'], '01.00'])
  })

  it('end with =, which says so if there are none', () => {
    const there = screenOf(FOLDS).press('-', '=')
    expect(there.keys).toHaveLength(6)
    expect(there.press('=').state.notice?.text).toBe('everything is unfolded')
  })

  it('are kept by the name of the stream', () => {
    const there = screenOf(FOLDS).press('-')
    const { folded } = there.state
    const elsewhere: State = { ...there.state, screen: 'streams', stream: 'other', folded: new Set() }
    const kept = { ...elsewhere, keptFolds: new Map([['s', { folded, openGroups: new Set<string>() }]]) }
    expect(screenOf(FOLDS, kept).press('enter').state).toMatchObject({ stream: 's', folded })
    const left = screenOf(FOLDS, { ...there.state, screen: 'activity', stream: 'z' }).press('enter').state
    expect(left.keptFolds.get('z')).toMatchObject({ folded })
  })
})

/** One event with very many children: one failed, one runs, one has a failed event below it. */
function wideEvents(more: Readonly<Record<number, Partial<EventText>>> = {}): EventText[] {
  const children = Array.from({ length: 2_000 }, (_, at): EventText => {
    const id = `${at + 1}.00`
    const status = at === 700 ? 'aborted' : at === 900 ? 'inprocess' : at % 40 === 39 ? 'completed' : 'init'
    return { id, name: 'Row', prev: '00', status, ...more[at] }
  })
  return [
    { id: '00', name: 'Import', status: 'inprocess' },
    ...children,
    { id: '1200.01', name: 'Sub', prev: '1200.00', status: 'aborted' },
  ]
}

describe('very many children of one event', () => {
  const groups = ['00\u0000init', '00\u0000completed']

  it('are the first ones, what failed or runs, and a row for the others of each status', () => {
    const { keys } = screenOf(wideEvents())
    expect(keys.slice(0, 3)).toEqual(['00', '1.00', '2.00'])
    expect(keys.slice(50)).toEqual(['50.00', '701.00', '901.00', '1200.00', '1200.01', ...groups])
  })

  it('say how many there are, and end the tree', () => {
    const rows = screenOf(wideEvents()).press('G').rows()
    expect(rows.slice(-3).map(row => row.trim())).toEqual([
      '│ └─  1200.01 Sub       ✗ aborted',
      '├─▸ +1 899 more init    ○ init',
      '›└─▸ +48 more completed  ✓ completed',
    ])
  })

  it('are opened with enter and l, and closed with h', () => {
    const there = screenOf(wideEvents()).press('G', 'k', 'enter')
    expect(there.keys).toHaveLength(57 + 1_899)
    expect(there.keys.slice(55, 58)).toEqual(['00\u0000init', '51.00', '52.00'])
    expect(there.rows().find(row => row.startsWith('›'))).toContain('▾ 1 899 init')
    expect(there.press('h').keys).toHaveLength(57)
    expect(there.press('l').keys).toHaveLength(57 + 1_899)
    expect(there.press('l').cursor).toBe('51.00')
    expect(there.press('h').cursor).toBe('00')
    expect(there.press('=').keys).toHaveLength(2_002 + 2)
  })

  it('get rows of their own when they start or fail, and keep the one under the cursor', () => {
    const there = screenOf(wideEvents()).press('G', 'k', 'k', 'k', 'k')
    expect(there.cursor).toBe('901.00')
    there.become(wideEvents({ 900: { status: 'completed' }, 1500: { status: 'inprocess' } }))
    expect([there.cursor, there.keys.includes('901.00'), there.keys.includes('1501.00')]).toEqual([
      '901.00',
      true,
      true,
    ])
    there.press('g')
    expect(there.keys).not.toContain('901.00')
  })

  it('are all found by a filter', () => {
    const there = screenOf(wideEvents()).press('/', ...'1777.00', 'enter')
    expect([there.keys, there.cursor]).toEqual([['00', '1777.00'], '1777.00'])
  })

  it('are neither marked nor changed as a group', () => {
    const there = screenOf(wideEvents()).press('G', 'space')
    expect([there.state.lists.stream.marks.size, there.state.notice?.text]).toEqual([
      0,
      expect.stringContaining('group'),
    ])
    expect(there.press('c').state).toMatchObject({
      dialog: undefined,
      notice: { text: expect.stringContaining('group') },
    })
    expect(there.press('*').state.lists.stream.marks.size).toBe(55)
  })
})

describe('a deep tree', () => {
  const DEPTH = 45
  const deep: EventText[] = Array.from({ length: DEPTH }, (_, at) => {
    const id = at === 0 ? '00' : `${'01.'.repeat(at)}00`
    const below = at + 1 < DEPTH ? `${'01.'.repeat(at + 1)}00|` : ''
    return { id, name: `N${at}`, status: 'inprocess', next: `${below}${'01.'.repeat(at)}02` }
  })
  const leaves: EventText[] = deep.map((_, at) => ({ id: `${'01.'.repeat(at)}02`, name: `L${at}`, status: 'init' }))

  it('tells each row from the others at 80 columns, wherever the cursor is', () => {
    const there = screenOf([...deep, ...leaves])
    for (let at = 0; at < DEPTH; at++) {
      const rows = there.rows()
      const labels = rows.slice(1).map(row => row.replace('›', ' ').slice(0, 31))
      expect(new Set(labels).size).toBe(labels.length)
      expect(rows.find(row => row.startsWith('›'))).toMatch(/[│├└…─ ]*▾ \S+ N\d+/)
      there.press('j')
    }
    expect(there.rows().join('\n')).toContain('.01.00 N4')
  })

  it('shows the number of a level that is outside', () => {
    const there = screenOf([...deep, ...leaves])
    expect(there.rows()[18]).toMatch(/^ (?:│ ){3}.*…17▾ \.01\.00 N17/)
    there.press('G', ...Array.from({ length: 44 }, () => 'k'))
    expect(there.rows(80, 60).join('\n')).toMatch(/^ 5… {2}\.02 L4/m)
  })
})

describe('a stream', () => {
  const AT = new Date(NOW_MS - 60_000).toISOString()
  const EVENTS: readonly EventText[] = [
    { id: '00', name: 'Start', status: 'inprocess', next: '01.00|02.00|03.00' },
    { id: '01.00', name: 'A', status: 'init', timeout: '01:00:00', created: AT },
    { id: '02.00', name: 'B', status: 'aborted', next: '02.01', msg: 'ETIMEDOUT' },
    { id: '02.01', name: 'C', status: 'aborted' },
    { id: '03.00', name: 'D', status: 'init' },
    { id: '01.07', name: 'E', prev: '03.00', status: 'init', timeout: '00:01:00', created: AT },
  ]
  const from = (screen: State['screen'], list: Partial<State['lists']['streams']> = {}) => {
    const { lists } = initialState({ size: { columns: 80, rows: 24 }, writes: 'locked', nowMs: 0, time: 'relative' })
    const there = screenOf(EVENTS, { screen, stream: '', lists: { ...lists, [screen]: { ...lists[screen], ...list } } })
    // The document arrives after the key.
    return there.press('enter').become(EVENTS)
  }

  it('opens on the first failure from the list of what is broken', () => {
    expect(from('streams', { onlyBroken: true }).cursor).toBe('02.00')
  })

  it('opens on its first failure if it is broken, also where the filter is about none of its events', () => {
    expect(from('streams').cursor).toBe('02.00')
    expect(from('streams', { filter: 'total>0' }).cursor).toBe('02.00')
    expect(from('leases').cursor).toBeUndefined()
  })

  it('opens on the event whose worker is silent if nothing has failed', () => {
    const silent = [
      { id: '00', name: 'Start', status: 'inprocess', next: '01.00|02.00' },
      { id: '01.00', name: 'A', status: 'init', timeout: '01:00:00', created: AT },
      { id: '02.00', name: 'B', status: 'inprocess', 'lc:owner': 'w', 'lc:until': AT },
    ]
    expect(screenOf(silent, { screen: 'streams', stream: '' }).press('enter').become(silent).cursor).toBe('02.00')
  })

  it('opens on the first match of a filter', () => {
    const { lists } = initialState({ size: { columns: 80, rows: 24 }, writes: 'locked', nowMs: 0, time: 'relative' })
    const streams = { ...lists.streams, filter: 's' }
    const there = screenOf(EVENTS, { screen: 'streams', stream: '', lists: { ...lists, streams } })
    expect(there.press('enter').become(EVENTS).cursor).toBe('00')
  })

  it('opens on the event that is due next from the watchdog', () => {
    expect(from('watchdog').cursor).toBe('01.07')
  })

  it('opens on the event of a change, with the rows above it unfolded', () => {
    expect(from('activity').cursor).toBe('01.07')
    const folded = screenOf(EVENTS, { screen: 'activity', folded: new Set(['00', '03.00', '02.00']) })
    expect(folded.press('enter').state).toMatchObject({ folded: new Set(['02.00']), opening: undefined })
  })
})
