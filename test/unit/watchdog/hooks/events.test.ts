import { describe, expect, test, vi } from 'vitest'
import { readStream } from '../../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { type EventRules, type HookEvent, noticeOf } from '../../../../src/watchdog/hooks/events.ts'
import type { HookKind } from '../../../../src/watchdog/hooks/target.ts'
import { HOLDER, init, memoryStore, NOW, run } from '../../ops/support.ts'
import { eventsIn } from './support.ts'

const EVERYTHING: EventRules = { store: 'memory:', foreignSinceMs: Number.NEGATIVE_INFINITY }

async function told(
  store: StreamStore,
  rules: Partial<Parameters<typeof eventsIn>[1]> = {},
  name = 's',
): Promise<HookEvent[]> {
  const view = await readStream(store, name)
  return view === undefined ? [] : eventsIn(view, { ...EVERYTHING, ...rules })
}

async function kindsAfter(...operations: Operation[]): Promise<HookKind[][]> {
  const { store } = memoryStore()
  await run(store, 's', init(['A', 'B']))
  const all: HookKind[][] = []
  for (const operation of operations) {
    const before = (await told(store)).length
    await run(store, 's', operation, operation.op === 'abort' && operation.msg === 'late' ? EXPIRY : {})
    all.push((await told(store)).slice(before).map(({ kind }) => kind))
  }
  return all
}

const EXPIRY = { commandId: 'watchdog:01.00:1:2026-11-20T12:00:00.000Z', by: 'watchdog' }

describe('the events for a transaction', () => {
  test.each<[string, Operation[], HookKind[][]]>([
    ['work in progress: none', [{ op: 'complete', event: '01.00' }], [[]]],
    ['a failure reported by a worker: failed', [{ op: 'fail', event: '01.00' }], [['failed']]],
    ['an abort by an operator: failed', [{ op: 'abort', event: '01.00' }], [['failed']]],
    ['a cancel: no failure', [{ op: 'cancel', event: '01.00' }], [[]]],
    [
      'an end by a watchdog: expired and failed',
      [{ op: 'abort', event: '01.00', msg: 'late' }],
      [['expired', 'failed']],
    ],
    ['a canceled stream: done', [{ op: 'cancel' }], [['done']]],
    ['an aborted stream: done and failed', [{ op: 'abort' }], [['done', 'failed']]],
    [
      'a root that closes with its last event: done',
      [
        { op: 'complete', event: '01.00' },
        { op: 'complete', event: '02.00' },
      ],
      [[], ['done']],
    ],
    [
      'a reopened stream that ends again: done again',
      [{ op: 'cancel' }, { op: 'retry', canceled: true }, { op: 'cancel' }],
      [['done'], [], ['done']],
    ],
  ])('are right for %s', async (_, operations, kinds) => {
    expect(await kindsAfter(...operations)).toEqual(kinds)
  })

  test('are of the outcome with which the stream ended, even if it was retried and ended again since', async () => {
    const { store } = memoryStore()
    const steps = [
      { name: 'A', undo: 'UndoA', thread: 0, needs: [] },
      { name: 'B', thread: 0, needs: [0] },
    ]
    await run(store, 's', { ...init(), steps, onFailure: 'compensate' } as Operation)
    for (const operation of [
      { op: 'complete', event: '01.00' },
      { op: 'fail', event: '01.01', msg: 'boom' },
      { op: 'fail', event: '02.01.00', msg: 'cannot' },
      { op: 'retry' },
      { op: 'complete', event: '02.01.00' },
    ] as const)
      await run(store, 's', operation)
    const kinds = new Set<HookKind>(['compensated', 'compensation-failed'])
    const ends = await told(store, { kinds })
    expect(ends.map(({ kind, version, outcome }) => [kind, version, outcome])).toEqual([
      ['compensation-failed', 4, 'compensated'],
      ['compensated', 6, 'compensated'],
    ])
    expect((await told(store, { kinds: new Set(['compensated']) })).map(({ version }) => version)).toEqual([6])
  })

  test('are only of requested kinds', async () => {
    const { store } = memoryStore()
    await run(store, 's', init())
    await run(store, 's', { op: 'abort' })
    expect((await told(store, { kinds: new Set(['done']) })).map(({ kind }) => kind)).toEqual(['done'])
  })
})

describe('a hook event', () => {
  test('has the target, the version after it, and the state of the stream', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B']))
    await run(store, 's', { op: 'fail', event: '01.00' }, { commandId: 'mine' })
    const [failed] = await told(store)
    expect(failed).toMatchObject({
      kind: 'failed',
      stream: 's',
      event: '01.00',
      commandId: 'mine',
      version: 2,
      status: 'inprocess',
      outcome: 'errors',
    })
  })

  test('needs one scan of the stream for all hook events', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B', 'C', 'D']))
    for (const event of ['01.00', '02.00', '03.00', '04.00']) await run(store, 's', { op: 'fail', event })
    const view = await readStream(store, 's')
    if (view === undefined) throw new Error('it was made')
    const walks = vi.spyOn(view.stream, 'counts')
    const happenings = eventsIn(view, EVERYTHING)
    expect(happenings.map(({ outcome, status }) => `${status} ${outcome}`)).toEqual(Array(5).fill('completed errors'))
    expect(walks).toHaveBeenCalledTimes(1)
  })

  test('has a stable id, which differs by kind, stream and store', async () => {
    const { store } = memoryStore()
    for (const name of ['s', 't']) {
      await run(store, name, init())
      await run(store, name, { op: 'abort' }, { commandId: 'same' })
    }
    const ids = async (rules: Partial<EventRules>, name: string) => (await told(store, rules, name)).map(({ id }) => id)
    const first = await ids({}, 's')
    await run(store, 's', { op: 'retry' })
    expect(await ids({}, 's')).toEqual(first)
    const all = [...first, ...(await ids({}, 't')), ...(await ids({ store: 'sqlite:other' }, 's'))]
    expect(new Set(all).size).toBe(6)
    expect(first[0]).toMatch(/^done-[0-9a-f]{32}$/)
  })

  test('of a stream created again under the name has an id of its own, whatever the command id', async () => {
    const { store, advance } = memoryStore()
    const ids: string[] = []
    for (let life = 0; life < 2; life += 1) {
      await run(store, 's', init())
      await run(store, 's', { op: 'abort' }, { commandId: 'nightly' })
      ids.push(...(await told(store)).map(({ id }) => id))
      await store.remove('s', {})
      advance(1)
    }
    expect(new Set(ids).size).toBe(4)
  })
})

describe('a foreign write without journal', () => {
  const failing = (id: string, at: string) =>
    `<Event name="W" status="aborted" id="${id}" timestamp="${at}" prev="00"/>`
  const text = (...events: string[]) =>
    `<EventStream><Event name="R" status="inprocess" id="00" timestamp="2026-11-20T11:00:00Z" next="01.00|02.00"/>${events.join('')}</EventStream>`

  async function written(body: string) {
    const { store, advance } = memoryStore()
    await run(store, 's', init())
    await put(store, body)
    return { store, advance }
  }

  async function put(store: StreamStore, body: string): Promise<void> {
    const decide = ({ summary }: { summary?: unknown }) => {
      if (summary === undefined) throw new Error('made by us')
      return { kind: 'put', body: Buffer.from(body), summary } as never
    }
    await store.update('s', decide, { waitMs: 0, holder: HOLDER })
  }

  test('is delivered before it is recorded, and not again afterwards', async () => {
    const { store } = await written(
      text(failing('01.00', '2026-11-20T12:00:00Z'), failing('02.00', '2026-11-20T12:00:00Z')),
    )
    const [before] = await told(store, { kinds: new Set(['failed']) })
    expect(before).toMatchObject({ event: '01.00', version: undefined })
    await run(store, 's', { op: 'settle' })
    const [after] = await told(store, { kinds: new Set(['failed']) })
    expect(after).toMatchObject({ id: before?.id, version: expect.any(Number) })
  })

  test('is delivered again if another event failed', async () => {
    const { store } = await written(text(failing('01.00', '2026-11-20T12:00:00Z')))
    const [first] = await told(store, { kinds: new Set(['failed']) })
    await put(store, text(failing('01.00', '2026-11-20T12:00:00Z'), failing('02.00', '2026-11-20T12:05:00Z')))
    const [second] = await told(store, { kinds: new Set(['failed']) })
    expect(second?.id).not.toBe(first?.id)
  })

  test('is not delivered if the event itself says that it ended long ago', async () => {
    const { store } = await written(text(failing('01.00', '2026-11-20T11:00:00Z'), failing('02.00', '')))
    const since = { kinds: new Set(['failed'] as const), foreignSinceMs: NOW - 60_000 }
    expect((await told(store, since)).map(({ event }) => event)).toEqual(['02.00'])
    await put(store, text(failing('01.00', '2026-11-20T11:00:00Z')))
    expect(await told(store, since)).toEqual([])
  })
})

test('an event with notification only is delivered with its own command id', async () => {
  const { store } = memoryStore()
  await run(store, 's', init())
  const view = await readStream(store, 's')
  if (view === undefined) throw new Error('it was made')
  const due = { kind: 'notify', stream: 's', event: '00', name: 'Start', limit: 'stream', dueMs: NOW } as const
  const notice = noticeOf(view, { ...due, message: 'late', commandId: 'watchdog:00:1:x', ends: 0 }, 'memory:')
  expect(notice).toMatchObject({ kind: 'expired', event: '00', commandId: 'watchdog:00:1:x', version: undefined })
})
