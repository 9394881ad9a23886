import { expect, test } from 'vitest'
import { threadTree } from '../../../../src/formats/stream/tree.ts'
import { newEvent, type StreamEvent } from '../../../../src/stream/event.ts'
import { EventStream } from '../../../../src/stream/event-stream.ts'

const event = (id: string, next = '', prev = ''): StreamEvent =>
  newEvent({ id, name: `n${id}`, status: 'init', next, prev })
const draw = (...events: StreamEvent[]) =>
  threadTree(new EventStream(events)).map(
    row => `${row.lines}${row.id}${row.event ? '' : ' missing'}${row.again ? ' again' : ''}`,
  )

test('successors are below their event, those in next first and in that order', () => {
  expect(
    draw(
      event('00', '02.00|01.00|01'),
      event('01.00', '01.01', '00'),
      event('02.00', '', '00'),
      event('01', '', '00'),
      event('01.01', '', '01.00'),
      event('03.00', '', '00'),
    ),
  ).toEqual(['▾ 00', '├─  02.00', '├─▾ 01.00', '│ └─  01.01', '├─  01', '└─  03.00'])
})

test('an id without an event is shown as missing', () => {
  expect(draw(event('00', '01|02'), event('02', '', '00'))).toEqual(['▾ 00', '├─  01 missing', '└─  02'])
})

test('cycles and self links terminate: each event appears once', () => {
  expect(draw(event('00', '00|01'), event('01', '00'))).toEqual(['▾ 00', '├─  00 again', '└─▾ 01', '  └─  00 again'])
})

test('events unreachable from the root follow as roots of their own, cycles too', () => {
  expect(draw(event('00'), event('05', '06'), event('06', '', '05'), event('08', '09'), event('09', '08'))).toEqual([
    '  00',
    '▾ 05',
    '└─  06',
    '▾ 08',
    '└─▾ 09',
    '  └─  08 again',
  ])
})

test('a superseded event stays in the tree', () => {
  expect(draw(event('00', '01'), { ...event('01', '', '00'), lc: { superseded: 'x' } })).toEqual(['▾ 00', '└─  01'])
})

test('a thread of 20 000 steps and 20 000 siblings need no stack, and the indentation is limited', () => {
  const ids = Array.from({ length: 20_000 }, (_, at) => String(at).padStart(5, '0'))
  const thread = threadTree(new EventStream(ids.map((id, at) => event(id, ids[at + 1] ?? ''))))
  expect(thread).toHaveLength(20_000)
  expect(Math.max(...thread.map(row => row.lines.length))).toBeLessThan(60)
  expect(thread.at(-1)?.depth).toBe(19_999)
  const [root = '', ...others] = ids
  const siblings = threadTree(
    new EventStream([event(root, others.join('|')), ...others.map(id => event(id, '', root))]),
  )
  expect(siblings).toHaveLength(20_000)
})

test('a document without events is an empty tree', () => {
  expect(draw()).toEqual([])
})
