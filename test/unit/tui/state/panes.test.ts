import { describe, expect, it } from 'vitest'
import type { State } from '../../../../src/tui/state/state.ts'
import { openStream } from '../support/open-stream.ts'
import { Stage } from '../support/stage.ts'
import { activity, worldWith } from '../support/world.ts'

const OPEN = openStream('a', [
  { id: '00', name: 'Start', status: 'inprocess' },
  { id: '01.00', name: 'Left', status: 'inprocess', prev: '00' },
  { id: '02.00', name: 'Right', status: 'inprocess', prev: '00' },
])
const limit = {
  event: '02.00',
  name: 'Right',
  kind: 'never-started',
  timeout: '1',
  dueMs: 0,
  action: 'notify',
} as const
const claim = { id: '01.00', name: 'Left', owner: 'w1', attempt: 1, sinceMs: 0, lastSeenMs: 0, claimEndMs: 0 }
const WORLD = worldWith({
  streams: ['a', 'b'],
  open: OPEN,
  activity: [activity('b', 7), activity('a', 3)],
  watchdog: { next: [{ stream: 'a', dueMs: 0, limit }] },
  workers: {
    rows: [{ key: 'a\n01.00', owner: 'w1', stream: 'a', event: '01.00', claim, atMs: undefined, done: 0, failed: 0 }],
  },
})

const stage = (options: ConstructorParameters<typeof Stage>[1] = {}) => new Stage(WORLD, options)
const screenOf = ({ screen, pane, stream }: State) => `${screen} ${stream} ${pane}`

describe('screens', () => {
  it('have digits', () => {
    const seen = ['3', '4', '5', '6', '7', '8', '1'].map(key => stage().press(key).state.screen)
    expect(seen).toEqual(['leases', 'watchdog', 'activity', 'workers', 'subscriptions', 'inboxes', 'streams'])
  })

  it('require a stream for the second', () => {
    const there = stage().press('2')
    expect([there.state.screen, there.notice]).toEqual(['streams', expect.stringContaining('no stream')])
    expect(stage().press('enter', '3', '2').state).toMatchObject({ screen: 'stream', stream: 'a', cameFrom: 'leases' })
  })

  it('report a lack of details, and keep the pane', () => {
    const small = (columns: number, rows: number) => stage().act({ kind: 'resize', size: { columns, rows } }).press('d')
    for (const there of [small(71, 40), small(120, 15)]) {
      expect(there.notice).toBe('no room for details: 72 columns and 16 rows are needed; o shows all of them')
      expect(there.state.isDetailOpen).toBe(false)
    }
    expect(small(72, 16)).toMatchObject({ notice: undefined, state: { isDetailOpen: true } })
    const timeline = stage().press('enter', 't', 'd')
    expect(timeline.notice).toBe('details are shown below the tree: esc')
    expect(timeline.press('esc').state.isDetailOpen).toBe(false)
  })

  it('begin with the given stream', () => {
    expect(screenOf(stage({ stream: 'new' }).state)).toBe('stream new tree')
  })

  it.each([
    ['1', 'a'],
    ['3', 'a'],
    ['4', 'a'],
    ['5', 'b'],
    ['6', 'a'],
  ])('%s opens the stream under the cursor', (digit, name) => {
    const there = stage().press(digit, 'enter')
    expect(screenOf(there.state)).toBe(`stream ${name} tree`)
    expect(there.press('escape').state.screen).toBe(stage().press(digit).state.screen)
  })

  it.each([
    ['4', '02.00'],
    ['6', '01.00'],
  ])('%s opens the stream on the event of the row, though it was filtered or folded away', (digit, event) => {
    expect(stage().press(digit, 'enter').cursor).toBe(event)
    const before = stage().press('enter', 'h', '/').type('nothing').press('enter', digit)
    const there = before.press('enter')
    expect([there.cursor, there.list.filter, there.state.folded.size]).toEqual([event, '', 0])
  })

  it('open a stream with its timeline or XML at once', () => {
    expect(screenOf(stage().press('t').state)).toBe('stream a timeline')
    expect(screenOf(stage().press('j', 'y').state)).toBe('stream b xml')
  })

  it('ignore enter without a row', () => {
    const there = new Stage(worldWith())
    expect(there.press('enter', 't', 'y', 'd', 'G', 'pagedown', 'space').state.screen).toBe('streams')
  })

  it('accept only their own keys', () => {
    const there = stage()
    for (const key of ['D', 'h', 'l', 'f5', 'ä']) {
      there.press(key)
      expect([there.effects, { ...there.state, notice: undefined }]).toEqual([[], stage().state])
    }
    expect(there.press('4', 'D').effects).toEqual([{ kind: 'dry-run' }])
  })
})

describe('an opened stream', () => {
  it('keeps folds and cursor if it was the last one', () => {
    const there = stage().press('enter', 'j', 'j', 'escape', 'enter')
    expect(there.cursor).toBe('02.00')
    expect(there.press('g', 'h', 'escape', 'enter').state.folded).toEqual(new Set(['00']))
  })

  it('starts afresh if another was', () => {
    const there = stage().press('enter', 'h', 'j', '/').type('x').press('enter')
    const { state } = there.press('1', 'j', 'enter')
    expect(state).toMatchObject({ stream: 'b', lists: { stream: { filter: '', cursor: undefined } } })
    expect(state.folded.size).toBe(0)
  })
})

describe('back', () => {
  it('clears the filter, closes the pane, then the stream', () => {
    const there = stage().press('3', 'y', '/').type('e').press('enter')
    const seen = Array.from({ length: 4 }, () => {
      const { state, list } = there.press('escape')
      return `${state.screen} ${state.pane} ${list.filter}`
    })
    expect(seen).toEqual(['stream xml ', 'stream tree ', 'leases tree ', 'leases tree '])
  })

  it('leads to the list if the program was started with a stream', () => {
    expect(stage({ stream: 'a' }).press('escape').state.screen).toBe('streams')
  })

  it('is mapped to backspace too', () => {
    expect(stage({ stream: 'a' }).press('backspace').state.screen).toBe('streams')
  })
})

describe('the thread tree', () => {
  const tree = () => stage({ stream: 'a' })

  it('folds and unfolds on enter', () => {
    expect(tree().press('enter').seen.listing.keys).toEqual(['00'])
    expect(tree().press('enter', 'enter').seen.listing.keys).toHaveLength(3)
    expect(tree().press('j', 'enter').state.folded.size).toBe(0)
  })

  it('folds with h, and moves up if there is nothing to fold', () => {
    expect(tree().press('j', 'j', 'h').cursor).toBe('00')
    expect(tree().press('j', 'j', 'h', 'left').seen.listing.keys).toEqual(['00'])
    expect(tree().press('h', 'h').cursor).toBe('00')
  })

  it('unfolds with l, and moves down if everything is unfolded', () => {
    expect(tree().press('h', 'l').seen.listing.keys).toHaveLength(3)
    expect(tree().press('l').cursor).toBe('01.00')
    expect(tree().press('l', 'right').cursor).toBe('01.00')
  })

  it('moves with l to what the filter has left below', () => {
    const there = tree().press('/').type('0').press('enter')
    expect(there.press('l').cursor).toBe('01.00')
  })

  it('has its keys in the timeline too', () => {
    expect(tree().press('t', 'j', 'h').cursor).toBe('00')
    expect(tree().press('t', 'h').state.folded.size).toBe(1)
  })

  it('ignores keys while another stream is still shown', () => {
    const there = stage({ stream: 'other' }).press('enter', 'h', 'l', 'j', 'space', 'y', 'G', 'n')
    expect(there.state).toMatchObject({ folded: new Set() })
  })
})

describe('the view', () => {
  it('shows more of a row, and more columns', () => {
    expect(stage().press('d', 'w').state).toMatchObject({ isDetailOpen: true, isWide: true })
    expect(stage().press('d', 'w', 'd', 'w').state).toMatchObject({ isDetailOpen: false, isWide: false })
  })

  it('has three formats of times', () => {
    const there = stage()
    expect(['T', 'T', 'T'].map(key => there.press(key).state.time)).toEqual(['local', 'utc', 'relative'])
  })

  it('can be frozen, with the changes seen so far', () => {
    const there = new Stage(worldWith({ streams: ['a'], liveRevision: 12 })).press('p')
    expect(there.state.frozen).toEqual({ revision: 12 })
    expect(there.press('j', 'space', 'd').state.frozen).toEqual({ revision: 12 })
    expect(there.press('p').state.frozen).toBeUndefined()
  })

  it('continues with another screen', () => {
    for (const key of ['enter', 't', '3']) expect(stage().press('p', key).state.frozen).toBeUndefined()
    expect(stage({ stream: 'a' }).press('p', 't').state.frozen).toBeDefined()
    expect(stage({ stream: 'a' }).press('p', 'escape').state.frozen).toBeUndefined()
  })
})

describe('terminal and program', () => {
  it('receive requests other than drawing', () => {
    const kinds = stage()
      .press('r', 'ctrl-l', 'ctrl-z', 'q')
      .effects.map(({ kind }) => kind)
    expect(kinds).toEqual(['read-now', 'repaint', 'suspend', 'quit'])
    expect(stage().press('ctrl-c').effects).toEqual([{ kind: 'quit' }])
  })

  it('are repainted and left from dialogs and prompts too', () => {
    for (const key of ['?', '/', ':', '!']) {
      const kinds = stage()
        .press(key, 'ctrl-l', 'ctrl-z')
        .effects.map(({ kind }) => kind)
      expect(kinds).toEqual(['repaint', 'suspend'])
    }
  })

  it.each([
    [[], 'streams '],
    [['/', 'b', 'enter'], 'streams b'],
    [['enter'], 'stream a tree'],
    [['enter', 'j'], 'event a 01.00'],
    [['enter', 'j', 'y'], 'stream a xml'],
    [['enter', 'j', 't'], 'stream a timeline'],
    [['3'], 'leases'],
    [['4'], 'watchdog'],
    [['5'], 'activity'],
  ])('copy the command line after %j', (keys, words) => {
    const there = stage().press(...keys, 'C')
    expect(there.effectsOf('copy')).toEqual([{ kind: 'copy', text: `leasectl ${words}` }])
    expect(there.notice).toBe(`copied: leasectl ${words}`)
  })

  it('show copied text safely', () => {
    const there = new Stage({ ...WORLD, commandFor: () => 'x \u001b[2J' }).press('C')
    expect(there.notice).not.toContain('\u001b')
    expect(there.effects).toEqual([{ kind: 'copy', text: 'x \u001b[2J' }])
  })

  it('ignore a paste outside fields', () => {
    const there = stage({ writes: 'unlocked' }).act({ kind: 'paste', text: 'q\n:q\n!cX' })
    expect([there.state, there.effects]).toEqual([stage({ writes: 'unlocked' }).state, []])
  })
})
