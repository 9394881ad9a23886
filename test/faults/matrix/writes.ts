import { randomUUID } from 'node:crypto'
import { dataOf, type EventData } from '../../../src/stream/data.ts'
import type { StreamDocument } from '../../../src/stream/document.ts'
import { isFinal, isUndo } from '../../../src/stream/event.ts'
import { EventStream } from '../../../src/stream/event-stream.ts'
import type { EventSpec, Operation } from '../../../src/stream/operations/operation.ts'

/** A change of a stream, with what it leaves in the document: what a doubled change would leave twice. */
export interface Write {
  readonly name: string
  /** What makes the stream ready; the first is an `init`. Empty if the change itself creates the stream. */
  readonly before: readonly Operation[]
  readonly operation: Operation
  /** How often the change was applied, as the document shows it. A change that leaves the same twice counts once. */
  readonly effects: (document: StreamDocument) => number
  /** The data that the change keeps beside the document. */
  readonly data?: EventData
  /** A whole document, which is written under the caller's lease in place of the operation. */
  readonly document?: string
  /** The change drops entries of the history. */
  readonly trims?: boolean
}

const init = (more: Partial<Extract<Operation, { op: 'init' }>> = {}): Operation => ({
  op: 'init',
  root: { name: 'Start' },
  forks: [],
  hold: false,
  born: randomUUID(),
  ...more,
})

const fork = (...forks: readonly EventSpec[]): Operation => init({ forks })

const step = (name: string, needs: readonly number[], more: Partial<EventSpec> = {}) => ({
  ...more,
  name,
  thread: 0,
  needs,
})

const large = (text: string): EventData => dataOf(Buffer.from(text.repeat(5_000)))

/** Number of events with a property. */
const eventsWith =
  (has: (event: StreamDocument['events'][number]) => boolean) =>
  ({ events }: StreamDocument): number =>
    events.filter(has).length

const start = (event: string): Operation => ({ op: 'start', event, owner: 'w', claimMs: 60_000 })

/** The changes of a process, each made ready by others. New for each stream: incarnations differ. */
export const WRITES: Readonly<Record<string, () => Write>> = {
  set: () => ({
    name: 'set',
    before: [init()],
    operation: { op: 'set', event: '00', attributes: { key: 'asked' } },
    effects: eventsWith(({ key }) => key === 'asked'),
  }),
  suspend: () => ({
    name: 'suspend',
    before: [fork({ name: 'A' }), start('01.00')],
    operation: { op: 'suspend', stop: true, msg: 'why' },
    effects: ({ events }) => (new EventStream(events).suspended && events[1]?.lc.owner === undefined ? 1 : 0),
  }),
  resume: () => ({
    name: 'resume',
    before: [fork({ name: 'A' }), { op: 'suspend' }],
    operation: { op: 'resume' },
    effects: eventsWith(({ lc }) => lc.resumed !== undefined && lc.suspended === undefined),
  }),
  'signal that is kept': () => ({
    name: 'signal that is kept',
    before: [fork({ name: 'A' })],
    operation: { op: 'signal', name: 'go', data: dataOf(Buffer.from('small')) },
    effects: ({ signals }) => signals.length,
  }),
  'signal that opens a gate': () => ({
    name: 'signal that opens a gate',
    before: [fork({ name: 'A', signal: 'go' }, { name: 'B', signal: 'go' })],
    operation: { op: 'signal', name: 'go' },
    effects: eventsWith(({ status, prev }) => prev === '00' && status === 'init'),
  }),
  skip: () => ({
    name: 'skip',
    before: [
      init({ onFailure: 'block', steps: [step('A', []), step('B', [0])] }),
      { op: 'fail', event: '01.00', msg: 'boom' },
    ],
    operation: { op: 'skip', event: '01.00', msg: 'why' },
    effects: eventsWith(({ lc }) => lc.skipped !== undefined),
  }),
  append: () => ({
    name: 'append',
    before: [init({ session: true })],
    operation: { op: 'append', step: { name: 'A' } },
    effects: eventsWith(({ name }) => name === 'A'),
  }),
  'append that drops steps': () => ({
    name: 'append that drops steps',
    before: [
      init({ session: true }),
      ...['02.00', '02.01'].flatMap((event): Operation[] => [
        { op: 'append', step: { name: 'Old' } },
        { op: 'complete', event },
      ]),
    ],
    operation: { op: 'append', step: { name: 'A' }, keep: 1 },
    effects: document =>
      eventsWith(({ name }) => name === 'Old')(document) === 1 ? eventsWith(({ name }) => name === 'A')(document) : 0,
    trims: true,
  }),
  'whole document': () => ({
    name: 'whole document',
    before: [init()],
    operation: { op: 'settle' },
    document: '<EventStream><Event name="Start" status="inprocess" id="00" key="edited"/></EventStream>',
    effects: eventsWith(({ key }) => key === 'edited'),
  }),
  'fail with attempts left': () => ({
    name: 'fail with attempts left',
    before: [fork({ name: 'A' }), start('01.00')],
    operation: { op: 'fail', event: '01.00', owner: 'w', transient: true, retry: '9 1h..2h', msg: 'boom' },
    effects: ({ events }) => Number(events[1]?.lc.attempt) - 1,
  }),
  'fail that begins to undo': () => ({
    name: 'fail that begins to undo',
    before: [
      init({ onFailure: 'compensate', steps: [step('A', [], { undo: 'UndoA' }), step('B', [0])] }),
      { op: 'complete', event: '01.00' },
    ],
    operation: { op: 'fail', event: '01.01', msg: 'boom' },
    effects: eventsWith(event => event.name === 'UndoA' && isUndo(event) && !isFinal(event)),
  }),
  'result beside the document': () => ({
    name: 'result beside the document',
    before: [fork({ name: 'A' }, { name: 'B' })],
    operation: { op: 'complete', event: '01.00', result: large('r') },
    effects: eventsWith(({ result }) => result?.sha256 === large('r').sha256),
    data: large('r'),
  }),
}

/** Those that write data beside the document first. */
export const DATA_WRITES: Readonly<Record<string, () => Write>> = {
  'result of an event': () => WRITES['result beside the document']?.() ?? impossible(),
  'input of an appended step': () => ({
    name: 'input of an appended step',
    before: [init({ session: true })],
    operation: { op: 'append', step: { name: 'A', data: large('s') } },
    effects: eventsWith(({ input }) => input?.sha256 === large('s').sha256),
    data: large('s'),
  }),
  'data of a kept signal': () => ({
    name: 'data of a kept signal',
    before: [fork({ name: 'A' })],
    operation: { op: 'signal', name: 'go', data: large('k') },
    effects: ({ signals }) => signals.length,
    data: large('k'),
  }),
  'input of a new stream': () => ({
    name: 'input of a new stream',
    before: [],
    operation: init({ root: { name: 'Start', data: large('i') } }),
    effects: eventsWith(({ input }) => input?.sha256 === large('i').sha256),
    data: large('i'),
  }),
}

function impossible(): never {
  throw new Error('no such write')
}
