import { expect, it } from 'vitest'
import { DataStore } from '../../../../../src/tui/data/store.ts'
import { NOTHING_VISIBLE } from '../../../../../src/tui/data/types.ts'
import { Lists } from '../../../../../src/tui/state/lists/lists.ts'
import { SCREENS, type State } from '../../../../../src/tui/state/state.ts'
import { visibleDataOf } from '../../../../../src/tui/state/visible-data.ts'
import { FREE, NOW, row, stateOn } from './support.ts'

const NAMES = Array.from({ length: 100 }, (_, at) => `s${String(at).padStart(2, '0')}`)

function demanded(state: State) {
  const data = new DataStore()
  data.putListed(
    NAMES.map(name => ({ name, etag: '1', size: 1, modifiedMs: NOW, lease: FREE })),
    NOW,
  )
  data.putStreams([row('s01')], NOW)
  return visibleDataOf(state, new Lists().listing(state, data, NOW), data)
}

it('the data store requests only unknown documents of visible rows', () => {
  const { unread, ...rest } = demanded(stateOn('streams'))
  expect(rest).toEqual({
    streams: true,
    open: undefined,
    activity: false,
    watchdog: false,
    workers: false,
    subscriptions: false,
    inboxes: false,
    health: true,
  })
  expect(unread.slice(0, 2)).toEqual(['s00', 's02'])
  expect(unread).toHaveLength(15)
  expect(demanded(stateOn('streams', { cursor: 's50', offset: 3 })).unread.slice(0, 1)).toEqual(['s47'])
  expect(demanded(stateOn('streams', { cursor: 's99' })).unread.at(-1)).toBe('s99')
})

it('for the open stream only that is requested', () => {
  expect(demanded(stateOn('stream', {}, { stream: 'orders/1' }))).toEqual({
    ...NOTHING_VISIBLE,
    health: true,
    open: 'orders/1',
  })
  expect(demanded(stateOn('stream'))).toEqual({ ...NOTHING_VISIBLE, health: true })
})

it('journals and watchdogs are requested only if visible', () => {
  expect(demanded(stateOn('watchdog'))).toMatchObject({ streams: true, watchdog: true, activity: false })
  expect(demanded(stateOn('activity'))).toMatchObject({ streams: true, watchdog: false, activity: true })
  expect(demanded(stateOn('workers'))).toMatchObject({ streams: true, watchdog: false, workers: true })
})

it('the line of health needs its numbers on each screen that has it', () => {
  for (const screen of SCREENS) expect(demanded(stateOn(screen)).health).toBe(true)
  expect(demanded(stateOn('streams', {}, { size: { columns: 39, rows: 9 } })).health).toBe(false)
})

it('the whole failure of a stream is requested where it is shown to its end, and the list has only its beginning', () => {
  const failed = (failure: string) => {
    const data = new DataStore()
    data.putStreams([row('s01', { failedId: '00', failure })], NOW)
    const state = stateOn('streams', { cursor: 's01' }, { isDetailOpen: true })
    const listing = new Lists().listing(state, data, NOW)
    return [state, { ...state, isDetailOpen: false }].map(shown => visibleDataOf(shown, listing, data).failure)
  }
  expect(failed('x'.repeat(200))).toEqual(['s01', undefined])
  expect(failed('shortened for the metadata…')).toEqual(['s01', undefined])
  expect(failed('all of it')).toEqual([undefined, undefined])
})
