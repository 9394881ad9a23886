import { describe, expect, it } from 'vitest'
import { healthOf } from '../../../../src/formats/listing/health.ts'
import { DataStore } from '../../../../src/tui/data/store.ts'
import { HEALTH_PARTS } from '../../../../src/tui/state/health-parts.ts'
import { Lists } from '../../../../src/tui/state/lists/lists.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { DEMO_STREAMS } from '../support/demo-data.ts'
import { openStream } from '../support/open-stream.ts'
import { frameText } from '../support/scenes.ts'
import { Stage } from '../support/stage.ts'
import { NOW_MS, worldWith } from '../support/world.ts'
import { stateOn } from './lists/support.ts'

const names = Array.from({ length: 200 }, (_, at) => `s${String(at).padStart(3, '0')}`)
const stage = () => new Stage(worldWith({ streams: names }))
const footOf = (there: Stage) =>
  frameText(frameOf({ ...there.seen, state: there.state }))
    .split('\n')
    .at(-2)

describe('a number of the line of health', () => {
  it('lists exactly the streams that it counts', () => {
    const data = new DataStore()
    const items = DEMO_STREAMS.map(({ item }) => item)
    data.putStreams(items, NOW_MS)
    const health = healthOf(items, NOW_MS)
    for (const { word, filter } of HEALTH_PARTS) {
      expect(health[word]).toBeGreaterThan(0)
      const { matching } = new Lists().listing(stateOn('streams', { filter }), data, NOW_MS)
      expect([word, matching]).toEqual([word, health[word]])
    }
    expect(HEALTH_PARTS.map(({ word }) => word).sort()).toEqual(Object.keys(health).sort())
  })

  it('is a filter from each screen, after f and its letter', () => {
    for (const screen of ['1', '3', '4', '5']) {
      const there = stage().press(screen, 'f', 'o')
      expect([there.state.screen, there.list.filter]).toEqual(['streams', 'status:overdue'])
    }
    expect(stage().press('enter', 'f', 'f').state.screen).toBe('streams')
  })

  it('lists all again the second time', () => {
    expect(stage().press('f', 'f', 'f', 'f').list.filter).toBe('')
    expect(stage().press('f', 'f', 'f', 'a').list.filter).toBe('status:abandoned')
  })

  it('shows the letters while it waits for one, and does nothing for others', () => {
    expect(footOf(stage().press('f'))).toContain(' f failed  a abandoned  o overdue')
    expect(stage().press('f', 'j').notice).toBe('f j does nothing')
    expect(stage().press('f', 'escape', 'j').cursor).toBe('s001')
  })
})

describe('the cursor', () => {
  const events = [
    { id: '00', name: 'Start', status: 'inprocess', next: '01|02' },
    { id: '01', name: 'Search', status: 'completed' },
    { id: '02', name: 'Pay', status: 'aborted', msg: 'card refused' },
  ]
  const data = new DataStore()
  const open = openStream('a', events)

  /** With the real rows of the tree. */
  function tree() {
    const lists = new Lists()
    const world = worldWith({ streams: ['a'], open })
    const there = new Stage(world, { stream: 'a' })
    Object.defineProperty(there, 'seen', {
      get: () => {
        const listingFor = (state: Stage['state']) =>
          lists.listing(state, { ...world.data, streams: data.streams }, NOW_MS)
        return { ...world, listing: listingFor(there.state), listingFor }
      },
    })
    return there
  }

  it('is on the first match of a filter after enter, and stays on a row that matches', () => {
    expect(tree().press('/').type('refused').press('enter').cursor).toBe('02')
    expect(tree().press('g', 'j', '/').type('0').press('enter').cursor).toBe('01')
  })

  it('is on the first failure of the stream that the program was started with', () => {
    expect(tree().press('d').cursor).toBe('02')
  })

  it('is on the first failure after F in the tree, and n goes to the next', () => {
    const there = tree().press('F')
    expect([there.cursor, there.list.onlyBroken, there.seen.listing.matching]).toEqual(['02', true, 1])
    expect(there.press('n').notice).toBeUndefined()
    expect(there.press('escape').seen.listing.keys).toHaveLength(3)
  })

  it('moves by half a screen, and to the middle', () => {
    const there = stage()
    const height = 31
    expect(there.press('ctrl-d').cursor).toBe(names[Math.floor(height / 2)])
    expect(there.press('ctrl-d', 'ctrl-u', 'ctrl-u').cursor).toBe('s000')
    there.press('pagedown', 'pagedown', 'z', 'z')
    expect(there.list.offset).toBe(Math.floor(height / 2))
    expect(there.press('z', 'j').notice).toBe('z j does nothing')
  })
})

describe('a wrong filter', () => {
  it('is not accepted, and says what is wrong beside it', () => {
    const there = stage().press('/').type('due<10').press('enter')
    expect(there.state.prompt?.kind).toBe('filter')
    expect(footOf(there)).toMatch(/^\/due<10│ +✗ due<10: a time needs a unit: 30s, 10m, 2h, 1d$/)
    expect(there.type('m').press('enter').state.prompt).toBeUndefined()
  })

  it('can be left', () => {
    expect(stage().press('/').type('ownr:x').press('escape').list.filter).toBe('')
  })
})

describe('a key without a meaning', () => {
  it('says so, or where it has one', () => {
    expect(stage().press('Q').notice).toBe('Q has no meaning: ? shows the keys')
    expect(stage().press('f5').notice).toBe('f5 has no meaning: ? shows the keys')
    expect(stage().press('D').notice).toBe('D (dry run) is a key of watchdog')
    expect(stage().press('P').notice).toBe('P (skip) is a key of an open stream, subscriptions')
    expect(stage().press('\u202e').notice).not.toContain('\u202e')
  })

  it('is told on its screen only: the next one shows its keys', () => {
    expect(stage().press('Q', '3').notice).toBeUndefined()
    expect(stage().press('Q', 'j').notice).toBeDefined()
    expect(stage().press('2').notice).toContain('no stream is open yet')
  })
})
