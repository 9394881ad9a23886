import { describe, expect, test } from 'vitest'
import type { LabChange } from '../../../src/lab/samples.ts'
import {
  claimable,
  type LabWorkOptions,
  referenceChange,
  workAtOnce,
  workInLoop,
} from '../../../src/lab/stream-test.ts'
import { waitStrategyOf } from '../../../src/lab/wait-strategy.ts'
import { readStream } from '../../../src/ops/read-stream.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { storeWith } from '../commands/store-with.ts'
import { init, run } from '../ops/support.ts'

const NEVER = new AbortController().signal

function options(name: string, told: LabChange[], rest: Partial<LabWorkOptions> = {}): LabWorkOptions {
  return {
    name,
    paceName: 'usual',
    pace: { retryMs: () => 0, restMs: () => 0 },
    write: 'lease',
    claimMs: 60_000,
    holdMs: 0,
    random: Math.random,
    clock: () => 0,
    signal: NEVER,
    report: change => told.push(change),
    ...rest,
  }
}

async function lab(events: number): Promise<StreamStore> {
  const store = openMemoryStore()
  await run(store, 's', init(Array.from({ length: events }, () => 'Step')))
  return store
}

async function ownersIn(store: StreamStore): Promise<Record<string, string>> {
  const entries = (await readStream(store, 's'))?.transactions() ?? []
  return Object.fromEntries(entries.filter(({ op }) => op === 'complete').map(({ on, by }) => [on, by]))
}

test('loops of several processes claim and complete until the stream is done', async () => {
  const store = await lab(7)
  const told: LabChange[] = []
  await Promise.all(['a', 'b'].map(name => workInLoop(store, 's', options(name, told))))
  expect((await readStream(store, 's'))?.stream.done).toBe(true)
  expect(told.filter(({ op, outcome }) => op === 'complete' && outcome === 'done')).toHaveLength(7)
})

test('in a loop the completion of one event and the claim of the next share a write', async () => {
  const store = await lab(5)
  let writes = 0
  const counting = storeWith(store, {
    update: (name, decide, how) => {
      writes++
      return store.update(name, decide, how)
    },
  })
  await workInLoop(counting, 's', options('a', []))
  expect((await readStream(store, 's'))?.stream.done).toBe(true)
  expect(writes).toBe(6)
})

test('a loop continues if another was faster with the next event', async () => {
  const store = await lab(4)
  const told: LabChange[] = []
  let calls = 0
  const raced = storeWith(store, {
    update: async (name, decide, how) => {
      calls++
      if (calls === 2) await run(store, 's', { op: 'start', event: '02.00', owner: 'other', claimMs: 60_000 })
      if (calls === 3) await run(store, 's', { op: 'complete', event: '02.00', owner: 'other' })
      return store.update(name, decide, how)
    },
  })
  await workInLoop(raced, 's', options('a', told, { random: () => 0 }))
  expect(told.map(({ event, op, outcome }) => [event, op, outcome])).toContainEqual(['02.00', 'start', 'claimed'])
  expect((await readStream(store, 's'))?.stream.done).toBe(true)
})

test('a loop that was too late claims an event of the document it has just written, without a read', async () => {
  const store = await lab(4)
  let calls = 0
  const seen: string[] = []
  const raced = storeWith(store, {
    read: name => {
      seen.push('read')
      return store.read(name)
    },
    update: async (name, decide, how) => {
      calls++
      seen.push('write')
      if (calls === 2) await run(store, 's', { op: 'start', event: '02.00', owner: 'other', claimMs: 60_000 })
      return store.update(name, decide, how)
    },
  })
  const stop = new AbortController()
  const told: LabChange[] = []
  const report = (change: LabChange) => {
    told.push(change)
    if (change.event === '04.00' && change.op === 'complete') stop.abort()
  }
  await workInLoop(raced, 's', options('a', told, { random: () => 0, signal: stop.signal, report }))
  expect(told.map(({ event, op, outcome }) => [event, op, outcome])).toContainEqual(['02.00', 'start', 'claimed'])
  expect(seen).toEqual(['read', 'write', 'write', 'write', 'write', 'write', 'read'])
})

test('at once: the changes of a share go into one write for starting and one for completing', async () => {
  const store = await lab(6)
  let writes = 0
  const counting = storeWith(store, {
    update: (name, decide, how) => {
      writes++
      return store.update(name, decide, how)
    },
  })
  await workAtOnce(counting, 's', ['01.00', '02.00', '03.00'], options('a', []))
  expect(writes).toBe(2)
  expect(await ownersIn(store)).toEqual({ '01.00': 'a', '02.00': 'a', '03.00': 'a' })
})

test('a process that is too late for an event gets the refusal, and continues', async () => {
  const store = await lab(2)
  const told: LabChange[] = []
  await run(store, 's', { op: 'start', event: '01.00', owner: 'other', claimMs: 60_000 })
  await workAtOnce(store, 's', ['01.00', '02.00'], options('a', told))
  expect(told.map(({ event, outcome }) => [event, outcome])).toContainEqual(['01.00', 'claimed'])
  expect(await ownersIn(store)).toEqual({ '02.00': 'a' })
})

test('an event with an expired claim may be claimed again, one with a running claim may not', async () => {
  const store = await lab(2)
  await run(store, 's', { op: 'start', event: '01.00', owner: 'dead', claimMs: 1_000 })
  const view = await readStream(store, 's')
  const { events } = view?.stream ?? { events: [] }
  const nowMs = view?.nowMs ?? 0
  expect(claimable(events, nowMs)).toEqual(['02.00'])
  expect(claimable(events, nowMs + 1_001)).toEqual(['01.00', '02.00'])
})

describe('the reference', () => {
  test('makes a change in four calls, one after the other', async () => {
    const store = await lab(1)
    const calls: string[] = []
    const seen = storeWith(store, {
      acquireLease: (name, how) => {
        calls.push('acquire')
        return store.acquireLease(name, how)
      },
      update: (name, decide, how) => {
        calls.push(how.leaseId === undefined ? 'change' : 'read and write under the lease')
        return store.update(name, decide, how)
      },
      releaseLease: (name, leaseId) => {
        calls.push('release')
        return store.releaseLease(name, leaseId)
      },
    })
    const start = { op: 'start', event: '01.00', owner: 'a', claimMs: 60_000 } as const
    const how = { by: 'a', commandId: 'c', signal: NEVER, pace: waitStrategyOf('reference', Math.random) }
    expect(await referenceChange(seen, 's', start, how)).toMatchObject({ kind: 'done' })
    expect(calls).toEqual(['acquire', 'read and write under the lease', 'release'])
  })

  test('retries until the lease is free', async () => {
    const store = await lab(1)
    const leaseId = crypto.randomUUID()
    const holder = { by: 'x', host: 'h', pid: 1, purpose: 'p', sinceMs: 0 }
    await store.acquireLease('s', { leaseId, durationS: -1, holder })
    let tries = 0
    const pace = {
      retryMs: () => {
        tries++
        if (tries === 3) void store.releaseLease('s', leaseId)
        return 0
      },
      restMs: () => 0,
    }
    const told: LabChange[] = []
    await workAtOnce(store, 's', ['01.00'], options('a', told, { paceName: 'reference', pace }))
    expect(tries).toBe(3)
    expect(told.map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  })
})
