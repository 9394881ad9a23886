import { expect, test } from 'vitest'
import { namesOfWaits, type WaitingOn } from '../../../src/ops/groups.ts'

const waits = (waitingOn: string, ready = '', root = 'Order'): WaitingOn => ({
  root,
  waitingOn: waitingOn.split(' '),
  ready: ready === '' ? [] : ready.split(' '),
})

const ALL_READY = waits('01.00 02.00', 'Search|find Pay|')

test('if all events can be started, their names are listed', () => {
  expect(namesOfWaits([ALL_READY])(ALL_READY)).toEqual([
    { group: 'Order: Search not started', root: 'Order', name: 'Search', topic: 'find', state: 'not started' },
    { group: 'Order: Pay not started', root: 'Order', name: 'Pay', state: 'not started' },
  ])
})

test('events of the same name count once', () => {
  const three = waits('01.00 02.00 03.00', 'Search| Search| Search|')
  expect(namesOfWaits([three])(three)).toHaveLength(1)
})

const groups = (all: readonly WaitingOn[], one: WaitingOn) => namesOfWaits(all)(one).map(({ group }) => group)

test('a stream whose events can all be started gives similar streams the names of their ids', () => {
  const oneStarted = waits('01.00 02.00', 'Pay|')
  expect(groups([oneStarted, ALL_READY], oneStarted)).toEqual(['Order: Search started', 'Order: Pay not started'])
  expect(groups([ALL_READY], waits('02.00'))).toEqual(['Order: Pay started'])
  expect(groups([ALL_READY], waits('02.00', '', 'Import'))).toEqual(['Import 02.00 started'])
})

test('otherwise ids are listed after the names of startable events, unless the number of names suffices', () => {
  expect(groups([], waits('01.00 02.00', 'Pay|'))).toEqual(['Order: Pay not started', 'Order 01.00', 'Order 02.00'])
  expect(groups([], waits('01.00 02.00'))).toEqual(['Order 01.00 started', 'Order 02.00 started'])
  const known = waits('01.00', 'Search|')
  expect(groups([known], waits('01.00 02.00', 'Pay|'))).toEqual(['Order: Search started', 'Order: Pay not started'])
})

test('truncated lists keep their original length', () => {
  expect(groups([], waits('01.00 02.00 +3', 'A| B| C| +2'))).toEqual([
    'Order: A not started',
    'Order: B not started',
    'Order: C not started',
  ])
  expect(groups([], waits('01.00 +3', 'A|'))).toEqual(['Order: A not started'])
})

test('parts of a name are decoded; a part that cannot be decoded is kept', () => {
  expect(groups([], waits('00', 'a%20b%7C|'))).toEqual(['Order: a b| not started'])
  expect(groups([], waits('00', '%zz|'))).toEqual(['Order: %zz not started'])
})
