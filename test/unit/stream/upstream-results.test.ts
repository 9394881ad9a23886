import { expect, it } from 'vitest'
import { dataOf } from '../../../src/stream/data.ts'
import { type EventAttributes, newEvent, type StreamEvent } from '../../../src/stream/event.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'
import { upstreamResults } from '../../../src/stream/upstream-results.ts'

type More = Partial<EventAttributes> & { readonly lc?: StreamEvent['lc']; readonly gives?: string }

/** An event with a result. */
function event(id: string, { lc = {}, gives, ...attributes }: More = {}): StreamEvent {
  const data = gives === undefined ? undefined : { result: dataOf(Buffer.from(gives)) }
  return newEvent({ id, name: `N${id}`, status: 'completed', ...attributes }, lc, data)
}

/** What the event with this id works with: `id=result`. */
function results(events: readonly StreamEvent[], id: string, gates = new Map<string, StreamEvent['lc']>()): string[] {
  const stream = new EventStream(events)
  return upstreamResults(stream, stream.find(id) ?? event(id), gates).map(
    ({ event: from, data }) => `${from}=${data.text}`,
  )
}

const ROOT = event('00', { next: '01.00|02.00|03.00|01' })
const FORK = [
  ROOT,
  event('02.00', { prev: '00', gives: 'b' }),
  event('01.00', { prev: '00', gives: 'a' }),
  event('03.00', { prev: '00' }),
  event('01', { prev: '00', gives: 'own', lc: { join: 'wait', wait: 'yes' } }),
]

it('a join works with the results of its branches in the order of their ids, not with its own', () => {
  expect(results(FORK, '01')).toEqual(['01.00=a', '02.00=b'])
})

it('a join that has opened is known by the gate that it was added with', () => {
  const opened = FORK.map(one => (one.id === '01' ? event('01', { prev: '00' }) : one))
  expect(results(opened, '01')).toEqual([])
  expect(results(opened, '01', new Map([['01', { join: 'wait' }]]))).toEqual(['01.00=a', '02.00=b'])
})

it('a step works with the results of those that it was gated after, and not with that of the event above', () => {
  const events = [
    event('00', { next: '01.00|02.00|03.00', gives: 'root' }),
    event('01.00', { prev: '00', gives: 'a' }),
    event('02.00', { prev: '00', gives: 'b' }),
    event('03.00', { prev: '00', lc: { wait: 'yes', after: '02.00|01.00|09.00|02.00' } }),
    event('04.00', { prev: '00' }),
  ]
  expect(results(events, '03.00')).toEqual(['01.00=a', '02.00=b'])
  expect(results(events, '04.00')).toEqual(['00=root'])
  const nothing = events.map(one => (one.id === '03.00' ? event('03.00', { prev: '00', lc: { after: '09.00' } }) : one))
  expect(results(nothing, '03.00')).toEqual(['00=root'])
})

it('an undo step works with the result of the step that it takes back', () => {
  const events = [...FORK, event('04.00', { prev: '00', lc: { undoes: '02.00' } })]
  expect(results(events, '04.00')).toEqual(['02.00=b'])
  expect(results([...FORK, event('04.00', { prev: '00', lc: { undoes: '03.00' } })], '04.00')).toEqual([])
  expect(results([...FORK, event('04.00', { prev: '00', lc: { undoes: '*' } })], '04.00')).toEqual([])
})

it('a branch hands on what its last events gave, else what it gave itself', () => {
  const events = [
    event('00', { next: '01.00|02.00|01' }),
    event('01.00', { prev: '00', next: '01.01.00', gives: 'early' }),
    event('01.01.00', { prev: '01.00', next: '01.01.01', gives: 'late' }),
    event('01.01.01', { prev: '01.01.00' }),
    event('02.00', { prev: '00', next: '02.01.00', gives: 'own' }),
    event('02.01.00', { prev: '02.00' }),
    event('01', { prev: '00', lc: { join: 'wait', wait: 'yes' } }),
  ]
  expect(results(events, '01')).toEqual(['01.01.00=late', '02.00=own'])
})

it('a join inside a branch hands on its own result in place of those that it joins', () => {
  const inner = (joined: string | undefined) => [
    event('00', { next: '01.00|01' }),
    event('01.00', { prev: '00', next: '01.01.00|01.02.00|01.01' }),
    event('01.01.00', { prev: '01.00', gives: 'x' }),
    event('01.02.00', { prev: '01.00', gives: 'y' }),
    event('01.01', { prev: '01.00', ...(joined === undefined ? {} : { gives: joined }) }),
    event('01', { prev: '00', lc: { join: 'wait', wait: 'yes' } }),
  ]
  const gates = new Map([['01.01', { join: 'wait' }]])
  expect(results(inner('joined'), '01', gates)).toEqual(['01.01=joined'])
  expect(results(inner(undefined), '01', gates)).toEqual(['01.01.00=x', '01.02.00=y'])
})

it('an event that follows a superseded one does not see its result through a join', () => {
  const events = [
    event('00', { next: '01.00|01' }),
    event('01.00', { prev: '00', next: '01.01.00', gives: 'own' }),
    event('01.01.00', { prev: '01.00', gives: 'old', lc: { superseded: '4' } }),
    event('01', { prev: '00', lc: { join: 'wait', wait: 'yes' } }),
  ]
  expect(results(events, '01')).toEqual(['01.00=own'])
})
