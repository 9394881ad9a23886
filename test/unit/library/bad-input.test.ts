import { expect, test } from 'vitest'
import * as leasectl from '../../../src/index.ts'
import type { WorkerEvent } from '../../../src/worker/types.ts'
import { storeWith, textOf } from './support.ts'
import { type Kind, mistyped, NEVER } from './wrong-values.ts'

const UUID = '22222222-2222-4222-8222-222222222222'

/** The library as a JavaScript program uses it: with values of any type. */
const api = leasectl as unknown as Readonly<Record<string, (...given: unknown[]) => unknown>>

type Fields = Readonly<Record<string, Kind>>
type Call = (store: unknown, options: unknown) => unknown

interface Entry {
  readonly fields: Fields
  /** Valid options, each of whose fields can be replaced. */
  readonly usual: Readonly<Record<string, unknown>>
  readonly call: Call
  /** A text may replace it. */
  readonly isText?: boolean
}

const CHANGE: Fields = {
  by: 'text',
  why: 'text',
  commandId: 'text',
  leaseWaitMs: 'number',
  leaseId: 'uuid',
  write: 'word',
  afterWrite: 'function',
  onLeaseAttempt: 'function',
  purpose: 'text',
  stopWaiting: 'signal',
  signal: 'signal',
  ifVersion: 'number',
  ifBorn: 'plain',
  ifSum: 'plain',
}
const WORK: Fields = {
  onLeaseAttempt: 'function',
  by: 'text',
  why: 'text',
  claimMs: 'number',
  leaseWaitMs: 'number',
  write: 'word',
  signal: 'signal',
}
const SPEC: Fields = {
  name: 'text',
  topic: 'text',
  key: 'text',
  msg: 'text',
  ref: 'text',
  tag: 'text',
  trackingId: 'text',
  timeout: 'timeout',
  onDue: 'word',
}

const ATTRIBUTES: Fields = { ...SPEC, onDue: 'wordOrNone' }
const SUCCESSORS: Fields = { next: 'event', forks: 'events', join: 'event' }
const LEASE: Fields = { by: 'text', purpose: 'text', waitMs: 'number', durationS: 'number', signal: 'signal' }
const CLAIMANT: Fields = { owner: 'text', fence: 'number' }
const BY = { by: 'shop' }
const DOCUMENT = '<EventStream><Event name="A" status="init" id="00" /></EventStream>'

const ENTRIES: Readonly<Record<string, Entry>> = {
  changeStream: {
    fields: CHANGE,
    usual: BY,
    call: (store, options) => api.changeStream?.(store, 's', options, () => {}),
  },
  createStream: { fields: CHANGE, usual: BY, call: (store, options) => api.createStream?.(store, 't', options) },
  'createStream: the stream': {
    fields: { root: 'event', forks: 'events', join: 'event', hold: 'flag' },
    usual: { forks: ['A'] },
    call: (store, stream) => api.createStream?.(store, 't', BY, stream),
  },
  'createStream: an event': {
    fields: SPEC,
    usual: { name: 'A' },
    isText: true,
    call: (store, event) => api.createStream?.(store, 't', BY, { forks: ['B', event] }),
  },
  transact: {
    fields: CHANGE,
    usual: BY,
    call: (store, options) => api.transact?.(store, 's', { op: 'settle' }, options),
  },
  rewriteStream: {
    fields: CHANGE,
    usual: { ...BY, leaseId: UUID },
    call: (store, options) => api.rewriteStream?.(store, 's', DOCUMENT, options),
  },
  'transact init': operation(
    { root: 'event', forks: 'events', join: 'event', hold: 'flag', born: 'uuid' },
    { op: 'init', root: { name: 'A' }, forks: [], hold: false, born: UUID },
  ),
  'transact start': operation(
    { event: 'id', owner: 'text', claimMs: 'number', fence: 'number', takeOver: 'flag' },
    { op: 'start', event: '01.00', owner: 'w', claimMs: 60_000 },
  ),
  'transact touch': operation(
    { event: 'id', owner: 'text', claimMs: 'number', fence: 'number', msg: 'text' },
    { op: 'touch', event: '01.00', claimMs: 60_000 },
  ),
  'transact release': operation({ event: 'id', ...CLAIMANT }, { op: 'release', event: '01.00' }),
  'transact advance': operation(
    { event: 'id', ...SUCCESSORS, more: 'flag', ...CLAIMANT },
    { op: 'advance', event: '01.00', next: { name: 'B' }, forks: [] },
  ),
  'transact complete': operation({ event: 'id', msg: 'text', ...CLAIMANT }, { op: 'complete', event: '01.00' }),
  'transact fail': operation({ event: 'id', msg: 'text', ...CLAIMANT }, { op: 'fail', event: '01.00' }),
  'transact cancel': operation({ event: 'id', msg: 'text' }, { op: 'cancel' }),
  'transact abort': operation({ event: 'id', msg: 'text', expired: 'object' }, { op: 'abort' }),
  'transact retry': operation({ event: 'id' }, { op: 'retry' }),
  'transact set': operation(
    { event: 'id', attributes: 'object', ...CLAIMANT },
    { op: 'set', event: '01.00', attributes: { tag: 't' } },
  ),
  'transact settle': operation({}, { op: 'settle' }),
  'transact set: the attributes': {
    fields: ATTRIBUTES,
    usual: {},
    call: (store, attributes) => api.transact?.(store, 's', { op: 'set', event: '01.00', attributes }, BY),
  },
  start: step({ owner: 'text', claimMs: 'number', takeOver: 'flag' }, { owner: 'w' }, 'start'),
  touch: step({ claimMs: 'number', msg: 'text', ...CLAIMANT }, {}, 'touch'),
  release: step(CLAIMANT, {}, 'release'),
  advance: step({ ...SUCCESSORS, more: 'flag', ...CLAIMANT }, { forks: ['B'] }, 'advance'),
  complete: step(CLAIMANT, {}, 'complete', 'done'),
  fail: step(CLAIMANT, {}, 'fail', 'broken'),
  set: step(ATTRIBUTES, {}, 'set'),
  'set: the claimant': step(CLAIMANT, {}, 'set', { tag: 't' }),
  readStream: {
    fields: { signal: 'signal' },
    usual: {},
    call: (store, options) => api.readStream?.(store, 's', options),
  },
  mustReadStream: {
    fields: { signal: 'signal' },
    usual: {},
    call: (store, options) => api.mustReadStream?.(store, 's', options),
  },
  follow: {
    fields: { fromVersion: 'number', born: 'plain', intervalMs: 'number', signal: 'signal' },
    usual: {},
    call: (store, options) => followed(store, 's', options),
  },
  acquireLease: {
    fields: { ...LEASE, leaseId: 'uuid' },
    usual: BY,
    call: (store, options) => api.acquireLease?.(store, 's', options),
  },
  leaseScope: {
    fields: LEASE,
    usual: BY,
    call: (store, options) => api.leaseScope?.(store, 's', options, async () => {}),
  },
  renewLease: lease((store, options) => api.renewLease?.(store, 's', UUID, options)),
  changeLease: lease((store, options) => api.changeLease?.(store, 's', UUID, UUID, options)),
  releaseLease: lease((store, options) => api.releaseLease?.(store, 's', UUID, options)),
  breakLease: {
    fields: {
      by: 'text',
      why: 'text',
      commandId: 'text',
      periodS: 'number',
      leaseWaitMs: 'number',
      signal: 'signal',
    },
    usual: BY,
    call: (store, options) => api.breakLease?.(store, 's', options),
  },
  worker: {
    fields: {
      ...WORK,
      name: 'texts',
      owner: 'text',
      topic: 'text',
      match: 'id',
      concurrency: 'number',
      maxAttempts: 'number',
      until: 'word',
      drain: 'signal',
      maxIdleMs: 'number',
      deferMs: 'number',
      observe: 'function',
      afterWrite: 'function',
    },
    usual: { name: 'Nobody', until: 'until-empty' },
    call: (store, options) => api.worker?.(store, options, () => api.complete?.()),
  },
  workOn: {
    fields: { ...WORK, owner: 'text', takeOver: 'flag', afterWrite: 'function' },
    usual: {},
    call: (store, options) => api.workOn?.(store, 's', '01.00', options, () => api.complete?.()),
  },
  'list of an opened store': {
    fields: { prefix: 'plain', after: 'plain', order: 'word', limit: 'number', skip: 'function', signal: 'signal' },
    usual: {},
    call: async (_, query) => {
      await using store = await leasectl.openStore('memory:')
      return Array.fromAsync(store.list(query as leasectl.ListQuery))
    },
  },
  'advance()': { fields: SUCCESSORS, usual: { next: 'B' }, call: (_, successors) => api.advance?.(successors) },
}

/** The first value that it receives. */
function followed(...given: unknown[]): unknown {
  const items = api.follow?.(...given)
  return (items as AsyncGenerator).next()
}

function operation(fields: Fields, usual: Readonly<Record<string, unknown>>): Entry {
  return { fields, usual, call: (store, given) => api.transact?.(store, 's', given, BY) }
}

function step(fields: Fields, usual: Readonly<Record<string, unknown>>, method: string, ...before: unknown[]): Entry {
  const call: Call = (store, given) =>
    api.changeStream?.(store, 's', BY, (stream: Readonly<Record<string, (id: string) => object>>) => {
      const event = stream.mustFind?.('01.00') as Readonly<Record<string, (...given: unknown[]) => unknown>>
      event[method]?.(...before, given)
    })
  return { fields, usual, call }
}

function lease(call: Call): Entry {
  return { fields: { signal: 'signal' }, usual: {}, call }
}

/** The error of a call, thrown or rejected. */
async function faultOf(call: () => unknown): Promise<unknown> {
  try {
    const given = await call()
    return { kind: 'nothing thrown', given }
  } catch (error) {
    return error
  }
}

async function refused(call: Call, options: unknown, field: string): Promise<void> {
  const { store } = await storeWith()
  const before = await textOf(store)
  const fault = await faultOf(() => call(store, options))
  expect(fault, `${String(field)} of ${inspect(options)}`).toMatchObject({
    code: 'invalid-value',
    name: 'InvalidValue',
  })
  expect(String((fault as Error).message)).toContain(field)
  expect(String((fault as Error).message).length).toBeLessThan(400)
  expect(await textOf(store)).toBe(before)
  expect((await store.read('s'))?.lease.state).toBe('available')
  expect(await store.read('t')).toBeUndefined()
}

function inspect(given: unknown): string {
  if (typeof given !== 'object' || given === null) return String(given)
  return Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value} ${typeof value === 'object' ? '' : String(value)}`)
    .join(', ')
}

test.each(Object.entries(ENTRIES))('%s accepts usual values', async (_, { usual, call }) => {
  const { store } = await storeWith()
  expect(await faultOf(() => call(store, usual))).toMatchObject({ kind: 'nothing thrown' })
})

test.each(Object.entries(ENTRIES))('%s refuses a wrong value of each field and names the field', async (_, entry) => {
  for (const [field, kind] of Object.entries(entry.fields))
    for (const value of NEVER[kind]) await refused(entry.call, { ...entry.usual, [field]: value }, field)
  expect(Object.keys(entry.usual).filter(field => field !== 'op' && !(field in entry.fields))).toEqual([])
})

test.each(Object.entries(ENTRIES))('%s refuses an unknown field', async (_, { fields, usual, call }) => {
  for (const name of Object.keys(fields)) await refused(call, { ...usual, [mistyped(name)]: 'x' }, mistyped(name))
  await refused(call, { ...usual, ['__proto__']: 'x' }, '__proto__')
  await refused(call, { ...usual, constructor: 'x' }, 'constructor')
  await refused(call, { ...usual, status: 'completed' }, 'status')
  for (const field of ['id', 'prev', 'next_', 'fence_']) await refused(call, { ...usual, [field]: 'x' }, field)
})

test.each(Object.entries(ENTRIES))('%s refuses a value without named fields', async (_, { call, isText }) => {
  for (const value of NEVER.object) {
    if (isText && typeof value === 'string') continue
    const { store } = await storeWith()
    expect(await faultOf(() => call(store, value)), inspect(value)).toMatchObject({ code: 'invalid-value' })
  }
})

test.each(Object.entries(ENTRIES))(
  '%s uses its defaults if a field is undefined',
  async (_, { fields, usual, call }) => {
    const { store } = await storeWith()
    const absent = Object.fromEntries(Object.keys(fields).map(name => [name, undefined]))
    expect(await faultOf(() => call(store, { ...absent, ...usual }))).toMatchObject({ kind: 'nothing thrown' })
  },
)

const WORKER = { name: 'Search', until: 'until-empty' }

test.each<[string, (store: unknown) => unknown]>([
  ['changeStream', store => api.changeStream?.(store, 's', BY, () => {})],
  ['createStream', store => api.createStream?.(store, 't', BY)],
  ['transact', store => api.transact?.(store, 's', { op: 'settle' }, BY)],
  ['rewriteStream', store => api.rewriteStream?.(store, 's', DOCUMENT, { ...BY, leaseId: UUID })],
  ['readStream', store => api.readStream?.(store, 's')],
  ['mustReadStream', store => api.mustReadStream?.(store, 's')],
  ['follow', store => followed(store, 's')],
  ['acquireLease', store => api.acquireLease?.(store, 's', BY)],
  ['leaseScope', store => api.leaseScope?.(store, 's', BY, async () => {})],
  ['renewLease', store => api.renewLease?.(store, 's', UUID)],
  ['changeLease', store => api.changeLease?.(store, 's', UUID, UUID)],
  ['releaseLease', store => api.releaseLease?.(store, 's', UUID)],
  ['breakLease', store => api.breakLease?.(store, 's', BY)],
  ['worker', store => api.worker?.(store, WORKER, () => undefined)],
  ['workOn', store => api.workOn?.(store, 's', '01.00', {}, () => undefined)],
])('%s refuses a value that is not a store, a promise of one too', async (_, call) => {
  const { store } = await storeWith()
  for (const wrong of [undefined, null, 'sqlite:x.db', {}, Promise.resolve(store)])
    expect(await faultOf(() => call(wrong))).toMatchObject({
      code: 'invalid-value',
      message: expect.stringMatching(/store/),
    })
  expect(await faultOf(() => call(Promise.resolve(store)))).toMatchObject({ hint: expect.stringContaining('await') })
})

test.each<[string, (name: unknown, store: unknown) => unknown]>([
  ['changeStream', (name, store) => api.changeStream?.(store, name, BY, () => {})],
  ['createStream', (name, store) => api.createStream?.(store, name, BY)],
  ['transact', (name, store) => api.transact?.(store, name, { op: 'settle' }, BY)],
  ['rewriteStream', (name, store) => api.rewriteStream?.(store, name, DOCUMENT, { ...BY, leaseId: UUID })],
  ['acquireLease', (name, store) => api.acquireLease?.(store, name, BY)],
  ['leaseScope', (name, store) => api.leaseScope?.(store, name, BY, async () => {})],
  ['renewLease', (name, store) => api.renewLease?.(store, name, UUID)],
  ['changeLease', (name, store) => api.changeLease?.(store, name, UUID, UUID)],
  ['releaseLease', (name, store) => api.releaseLease?.(store, name, UUID)],
  ['breakLease', (name, store) => api.breakLease?.(store, name, BY)],
  ['workOn', (name, store) => api.workOn?.(store, name, '01.00', {}, () => undefined)],
])('%s refuses a value that is not a stream name', async (_, call) => {
  const { store } = await storeWith()
  for (const wrong of [undefined, null, 5, {}, '', '../s', 'a\tb', 'x'.repeat(2_000)])
    expect(await faultOf(() => call(wrong, store)), inspect(wrong)).toMatchObject({ code: 'invalid-value' })
})

test.each<[string, (name: unknown, store: unknown) => unknown]>([
  ['readStream', (name, store) => api.readStream?.(store, name)],
  ['mustReadStream', (name, store) => api.mustReadStream?.(store, name)],
  ['follow', (name, store) => followed(store, name)],
])('%s treats an invalid stream name as an error of one stream', async (_, call) => {
  const { store } = await storeWith()
  for (const wrong of [undefined, null, 5, {}])
    expect(await faultOf(() => call(wrong, store)), inspect(wrong)).toMatchObject({ code: 'invalid-value' })
  for (const listed of ['', '../s', 'a\tb', 'orders/', 'x'.repeat(2_000)])
    expect(await faultOf(() => call(listed, store)), inspect(listed)).toMatchObject({ code: 'bad-name' })
})

test.each<[string, (given: unknown, store: unknown) => unknown]>([
  ['the edit of a stream', (given, store) => api.changeStream?.(store, 's', BY, given)],
  ['work under a lease', (given, store) => api.leaseScope?.(store, 's', BY, given)],
  ['the work of a worker', (given, store) => api.worker?.(store, WORKER, given)],
  ['the work on an event', (given, store) => api.workOn?.(store, 's', '01.00', {}, given)],
  ['the value of onJoined', given => api.onJoined?.(given)],
  ['the value of onDone', given => api.onDone?.(given)],
])('%s must be a function', async (_, call) => {
  for (const wrong of [undefined, ...NEVER.function]) {
    const { store } = await storeWith()
    const before = await textOf(store)
    expect(await faultOf(() => call(wrong, store)), inspect(wrong)).toMatchObject({ code: 'invalid-value' })
    expect(await textOf(store)).toBe(before)
  }
})

test.each<[string, (given: unknown, store: unknown) => unknown]>([
  ['openStore', given => api.openStore?.(given)],
  ['the document of rewriteStream', (given, store) => api.rewriteStream?.(store, 's', given, { ...BY, leaseId: UUID })],
  ['xpath', given => api.xpath?.(given)],
  ['complete', given => api.complete?.(given)],
  ['fail', given => api.fail?.(given)],
  ['the id of workOn', (given, store) => api.workOn?.(store, 's', given, {}, () => undefined)],
  ['the lease of renewLease', (given, store) => api.renewLease?.(store, 's', given)],
  ['the lease of releaseLease', (given, store) => api.releaseLease?.(store, 's', given)],
  ['the old lease of changeLease', (given, store) => api.changeLease?.(store, 's', given, UUID)],
  ['the new lease of changeLease', (given, store) => api.changeLease?.(store, 's', UUID, given)],
  ...['find', 'mustFind', 'select', 'mustSelect', 'values', 'cancel', 'abort'].map(
    method => [`${method} of a stream`, onStream((stream, given) => stream[method]?.(given))] as [string, Call],
  ),
  ...['complete', 'fail', 'cancel', 'abort', 'set', 'start', 'touch', 'release', 'advance'].map(
    method => [`${method} of an event`, onEvent((event, given) => event[method]?.(given))] as [string, Call],
  ),
])('%s refuses a value that is neither text nor object', async (_, call) => {
  for (const wrong of [null, 5, Number.NaN, true, [], () => {}, new Date(0)]) {
    const { store } = await storeWith()
    expect(await faultOf(() => call(wrong, store)), inspect(wrong)).toMatchObject({ code: 'invalid-value' })
  }
})

type Methods = Readonly<Record<string, (given: unknown) => unknown>>

function onStream(use: (stream: Methods, given: unknown) => unknown): Call {
  return (given, store) => api.changeStream?.(store, 's', BY, (stream: Methods) => void use(stream, given))
}

function onEvent(use: (event: Methods, given: unknown) => unknown): Call {
  return onStream((stream, given) => use(stream.mustFind?.('01.00') as Methods, given))
}

test('a snapshot is searched only with a text or an expression', async () => {
  const { store } = await storeWith()
  const stream = (await api.mustReadStream?.(store, 's')) as Methods
  for (const method of ['find', 'mustFind', 'select', 'mustSelect', 'values'])
    for (const wrong of [null, 5, {}, []])
      expect(await faultOf(() => stream[method]?.(wrong))).toMatchObject({ code: 'invalid-value' })
})

test('within a change an expression must be parsed before', async () => {
  const { store } = await storeWith()
  const fault = await faultOf(() => onStream((stream, text) => stream.select?.(text))('./Event', store))
  expect(fault).toMatchObject({ code: 'invalid-value', hint: expect.stringContaining('await xpath') })
})

test.each<[unknown, string]>([
  [{ op: 'complete', mgs: 'x' }, 'mgs'],
  [{ op: 'complete', msg: 5 }, 'msg'],
  [{ op: 'fail', reason: 'x' }, 'reason'],
  [{ op: 'release', msg: 'x' }, 'msg'],
  [{ op: 'advance', next: { name: 'B', tiemout: '2h' } }, 'tiemout'],
  [{ op: 'advance', next: { name: 'B', timeout: 'soon' } }, 'timeout'],
  [{ op: 'advance', forks: 'B' }, 'forks'],
  [{ op: 'done' }, 'complete'],
  ['done', 'complete'],
  [null, 'complete'],
  [Promise.resolve, 'complete'],
])('work that returns %j fails its event, and the message says why', async (ending, said) => {
  const { store } = await storeWith()
  const seen: WorkerEvent[] = []
  await api.worker?.(store, { ...WORKER, observe: (happening: WorkerEvent) => seen.push(happening) }, () => ending)
  const { status, msg } = (await leasectl.mustReadStream(store, 's')).mustFind('01.00')
  expect([status, msg]).toEqual(['aborted', expect.stringContaining(said)])
})

test('progress that is not text is refused, and the work continues', async () => {
  const { store } = await storeWith()
  const faults: unknown[] = []
  await api.worker?.(store, WORKER, async (job: Methods) => {
    for (const wrong of [undefined, null, 5, {}]) faults.push(await faultOf(() => job.progress?.(wrong)))
  })
  expect(faults).toEqual(Array(4).fill(expect.objectContaining({ code: 'invalid-value' })))
  expect((await leasectl.mustReadStream(store, 's')).mustFind('01.00').status).toBe('completed')
})

test('a similar known value is suggested, and the others are listed', async () => {
  const { store } = await storeWith()
  const fault = await faultOf(() => api.worker?.(store, { ...WORKER, concurency: 4 }, () => undefined))
  expect(fault).toMatchObject({ message: 'concurency is not known: did you mean concurrency?' })
  expect(fault).toMatchObject({ hint: expect.stringMatching(/^Known are .*maxAttempts/) })
})

test('a time that should be a number is refused with the number for the given text', async () => {
  const { store } = await storeWith()
  const fault = await faultOf(() => api.worker?.(store, { ...WORKER, claimMs: '2m' }, () => undefined))
  expect(fault).toMatchObject({
    message: expect.stringMatching(/^claimMs is a time in ms, .*, not "2m"$/),
    hint: '2m is 120000.',
  })
})

test('no given field is read twice', async () => {
  const { store } = await storeWith()
  let reads = 0
  const options = {
    get by() {
      return reads++ === 0 ? 'shop' : '\u0000'
    },
  }
  expect(await faultOf(() => api.changeStream?.(store, 's', options, () => {}))).toMatchObject({
    kind: 'nothing thrown',
  })
  expect(reads).toBe(1)
})
