import { describe, expect, test } from 'vitest'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { commandIdOf, readCommand } from '../../../../src/subscriptions/commands/command.ts'
import { type ExecutedCommand, executeCommands } from '../../../../src/subscriptions/commands/execute.ts'
import { HOLDER, init, intercept, memoryStore, run } from '../../ops/support.ts'

const DELIVERY = { subscription: 'billing', id: 'b7e0@12' }
const INIT = { do: 'init', stream: 'invoices/1', root: 'Invoice' }
const SIGNAL = { do: 'signal', stream: 'orders/1', name: 'invoiced', data: '1' }
const APPEND = { do: 'append', stream: 'audit', step: 'Note', create: true }
const ALL = [INIT, SIGNAL, APPEND]

const timing = { pause: async () => {} }

function execute(
  store: StreamStore,
  commands: readonly object[],
  options: Partial<Parameters<typeof executeCommands>[3]> = {},
) {
  const read = commands.map(command => readCommand(command, 'command'))
  const { signal } = new AbortController()
  return executeCommands(store, DELIVERY, read, { by: 'saga', signal, timing, leaseWaitMs: 0, ...options })
}

async function orders() {
  const { store } = memoryStore()
  await run(store, 'orders/1', init())
  return store
}

async function timesOf(store: StreamStore, command: { readonly stream: string }): Promise<number> {
  const id = commandIdOf(DELIVERY, readCommand(command, 'command'))
  const entries = (await readStream(store, command.stream))?.transactions() ?? []
  return entries.filter(({ commandId }) => commandId === id).length
}

/** Ends the process at its n-th write: before it or after it. */
function killedAt(store: StreamStore, nth: number, when: 'before' | 'after') {
  let writes = 0
  const killed = { is: false }
  const at = async <Result>(write: () => Promise<Result>): Promise<Result> => {
    writes += 1
    if (writes !== nth) return write()
    killed.is = true
    if (when === 'after') await write()
    throw new Error('killed')
  }
  const faulty = new Proxy(store, {
    get(target, property) {
      if (property === 'create')
        return (...given: Parameters<StreamStore['create']>) => at(() => target.create(...given))
      if (property === 'update')
        return (...given: Parameters<StreamStore['update']>) => at(() => target.update(...given))
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { faulty, killed }
}

describe('the commands of a delivery', () => {
  test('are executed in order, each with its id', async () => {
    const store = await orders()
    const executed: ExecutedCommand[] = []
    const onCommand = (one: ExecutedCommand) => executed.push(one)
    expect(await execute(store, ALL, { onCommand })).toEqual({ kind: 'handled' })
    expect(executed.map(({ commandId, outcome }) => [commandId, outcome])).toEqual([
      ['saga:billing:b7e0@12:init:invoices/1', 'done'],
      ['saga:billing:b7e0@12:signal:orders/1', 'done'],
      ['saga:billing:b7e0@12:append:audit', 'done'],
    ])
    const last = (await readStream(store, 'invoices/1'))?.transactions().at(-1)
    expect(last).toMatchObject({ by: 'saga', op: 'init' })
  })

  test('have no second effect when the delivery comes again', async () => {
    const store = await orders()
    await execute(store, ALL)
    const outcomes: string[] = []
    expect(await execute(store, ALL, { onCommand: ({ outcome }) => outcomes.push(outcome) })).toEqual({
      kind: 'handled',
    })
    expect(outcomes).toEqual(['already', 'already', 'already'])
    for (const command of ALL) expect(await timesOf(store, command)).toBe(1)
  })

  test.each(['before', 'after'] as const)('have one effect, wherever the process dies: %s each write', async when => {
    let deaths = 0
    for (let nth = 1; ; nth += 1) {
      const store = await orders()
      const { faulty, killed } = killedAt(store, nth, when)
      await execute(faulty, ALL)
      if (!killed.is) break
      deaths += 1
      expect(await execute(store, ALL)).toEqual({ kind: 'handled' })
      for (const command of ALL) expect(await timesOf(store, command)).toBe(1)
      expect((await readStream(store, 'audit'))?.document.events.map(({ name }) => name)).toContain('Note')
    }
    // init, signal, and for the append: the absent stream, its session, the step.
    expect(deaths).toBeGreaterThanOrEqual(4)
  })

  test('would have two effects if each delivery had ids of its own', async () => {
    const store = await orders()
    const again = { ...DELIVERY, id: 'b7e0@12-again' }
    const command = [readCommand(SIGNAL, 'command')]
    const { signal } = new AbortController()
    for (const delivery of [DELIVERY, again]) await executeCommands(store, delivery, command, { by: 'saga', signal })
    const signals = (await readStream(store, 'orders/1'))?.transactions().filter(({ op }) => op === 'signal')
    expect(signals).toHaveLength(2)
  })

  test('are ambiguous if two have one id: none is executed', async () => {
    const store = await orders()
    const outcome = await execute(store, [INIT, SIGNAL, SIGNAL])
    expect(outcome).toMatchObject({ kind: 'failed', why: expect.stringContaining('[ambiguous-command]') })
    expect(outcome).toMatchObject({ why: expect.stringContaining('Give each a key') })
    expect(await store.read('invoices/1')).toBeUndefined()
  })

  test('of one stream are told apart by their keys', async () => {
    const store = await orders()
    const outcome = await execute(store, [
      { ...SIGNAL, key: 'a' },
      { ...SIGNAL, key: 'b' },
    ])
    expect(outcome).toEqual({ kind: 'handled' })
  })

  test('are all checked before the first is executed', async () => {
    const store = await orders()
    const outcome = await execute(store, [INIT, { do: 'init', stream: 'x', join: 'J' }])
    expect(outcome).toMatchObject({ kind: 'failed', why: expect.stringContaining('a join needs a fork') })
    expect(await store.read('invoices/1')).toBeUndefined()
  })
})

describe('a refused command', () => {
  test('fails the delivery, with stream, reason and code', async () => {
    const store = await orders()
    await run(store, 'invoices/1', init())
    const outcome = await execute(store, [INIT])
    expect(outcome).toMatchObject({ kind: 'failed', why: expect.stringMatching(/^init invoices\/1: .*\[exists\]/) })
  })

  test('is ignored with ifRefused: ignore, and the next one follows', async () => {
    const store = await orders()
    await run(store, 'invoices/1', init())
    const outcomes: string[] = []
    const onCommand = ({ outcome }: ExecutedCommand) => outcomes.push(outcome)
    expect(await execute(store, [{ ...INIT, ifRefused: 'ignore' }, SIGNAL], { onCommand })).toEqual({ kind: 'handled' })
    expect(outcomes).toEqual(['ignored', 'done'])
  })

  test('names a stream that is missing', async () => {
    const store = await orders()
    const command = { do: 'cancel', stream: 'nobody' }
    expect(await execute(store, [command])).toMatchObject({
      kind: 'failed',
      why: expect.stringContaining('[stream-not-found]'),
    })
    expect(await execute(store, [{ ...command, ifRefused: 'ignore' }])).toEqual({ kind: 'handled' })
  })

  test('is no state of the stream if its id belongs to another command', async () => {
    const store = await orders()
    const commandId = 'saga:billing:b7e0@12:signal:orders/1'
    await run(store, 'orders/1', { op: 'set', event: '00', attributes: { tag: 'x' } }, { commandId })
    const outcome = await execute(store, [{ ...SIGNAL, ifRefused: 'ignore' }])
    expect(outcome).toMatchObject({ kind: 'failed', why: expect.stringContaining('[command-id-reused]') })
  })
})

describe('a command without an answer', () => {
  test('is sent again with its id until it has one', async () => {
    const store = await orders()
    let lost = 2
    const lossy = intercept(store, async (_, decide, go) => {
      const outcome = await go(decide)
      return lost-- > 0 ? { kind: 'unknown', cause: new Error('no answer') } : outcome
    })
    expect(await execute(lossy, [SIGNAL])).toEqual({ kind: 'handled' })
    expect(await timesOf(store, SIGNAL)).toBe(1)
  })

  test('lets its stream wait if it stays unknown', async () => {
    const store = intercept(await orders(), async () => ({ kind: 'unknown', cause: new Error('no answer') }))
    expect(await execute(store, [SIGNAL])).toEqual({
      kind: 'transient',
      why: 'signal orders/1: its outcome is unknown',
    })
  })

  test('lets its stream wait while the store is away', async () => {
    const store = intercept(await orders(), async () => {
      throw new StoreUnreachable('no answer')
    })
    expect(await execute(store, [SIGNAL])).toMatchObject({
      kind: 'transient',
      why: expect.stringContaining('[store-unreachable]'),
    })
  })

  test('lets its stream wait while another holds the lease', async () => {
    const store = await orders()
    await store.acquireLease('orders/1', { leaseId: crypto.randomUUID(), durationS: 60, holder: HOLDER })
    expect(await execute(store, [SIGNAL])).toMatchObject({
      kind: 'transient',
      why: expect.stringContaining('leased by another'),
    })
  })

  test('ends with the process: the next one gets the delivery again', async () => {
    const stop = new AbortController()
    const store = intercept(await orders(), async () => {
      stop.abort()
      throw new StoreUnreachable('stopped')
    })
    expect(await execute(store, [SIGNAL], { signal: stop.signal })).toEqual({ kind: 'stopped' })
    expect(await execute(store, [SIGNAL], { signal: stop.signal })).toEqual({ kind: 'stopped' })
  })
})
