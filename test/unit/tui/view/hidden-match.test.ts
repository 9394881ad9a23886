import { expect, it } from 'vitest'
import { FRESH_LIST } from '../../../../src/tui/state/transition.ts'
import { frameOf } from '../../../../src/tui/view/frame.ts'
import { frameText, sceneWith } from '../support/scenes.ts'
import { streamEntry } from '../support/world.ts'

function pictureWith(filter: string): string {
  const rows = ['orders/1', 'orders/2503']
  const streams = [
    streamEntry('orders/1', { key: '101503', tag: 'night', waitingOn: ['01.02'], open: 1, total: 4 }),
    streamEntry('orders/2503', { key: '7', failed: 1, failedId: '01.00', failedAtMs: 1, failure: 'gateway: 503' }),
  ]
  const scene = sceneWith({ streams, rows, size: { columns: 120, rows: 24 } })
  const lists = { ...scene.state.lists, streams: { ...FRESH_LIST, filter } }
  return frameText(frameOf({ ...scene, state: { ...scene.state, lists } }))
}

it('a stream that is found by what its row does not show says what that is', () => {
  expect(pictureWith('503')).toContain('key 101503, 01.02')
  expect(pictureWith('night')).toContain('tag night, 01.02')
})

it('a stream that is found by what its row shows is as without the filter', () => {
  expect(pictureWith('503')).toContain(' 01.00 gateway: 503 ')
  expect(pictureWith('')).not.toContain('101503')
  expect(pictureWith('orders')).not.toContain('101503')
})
