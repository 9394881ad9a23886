import { expect, test } from 'vitest'
import { changeStream, createStream, mustReadStream, transact } from '../../../src/library/streams.ts'
import {
  advance,
  complete,
  fail,
  onDone,
  onJoined,
  release,
  transient,
  worker,
  workOn,
} from '../../../src/library/worker.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Job, WorkerEvent } from '../../../src/worker/types.ts'

const EMPTY = 'until-empty'

async function storeWith(forks: readonly string[], join?: string): Promise<StreamStore> {
  const store = openMemoryStore()
  await createStream(store, 's', { by: 'shop' }, { forks, ...(join === undefined ? {} : { join }) })
  return store
}

async function ends(store: StreamStore): Promise<string[]> {
  const { events } = await mustReadStream(store, 's')
  return events.map(({ id, status, msg }) => `${id} ${status} ${msg}`.trim())
}

test('a worker processes the events of its name, and reports each result', async () => {
  const store = await storeWith(['Search', 'Search', 'Search', 'Pay'])
  const report = await worker(store, { name: 'Search', owner: 'w1', until: EMPTY }, async ({ event, owner }) => {
    if (event.id === '01.00') return complete(`by ${owner}`)
    if (event.id === '02.00') return advance({ next: 'Rank' })
    return fail('nothing there')
  })
  expect(report).toMatchObject({ claimed: 3, completed: 2, failed: 1 })
  expect(await ends(store)).toEqual([
    '00 inprocess',
    '01.00 completed by w1',
    '02.00 inprocess',
    '03.00 aborted nothing there',
    '04.00 init',
    '02.01 init',
  ])
})

test('a result that is thrown counts as one that is returned', async () => {
  const store = await storeWith(['Search'])
  const options = { name: 'Search', until: 'once' } as const
  const report = await worker(store, options, () => {
    throw transient('busy')
  })
  expect(report).toMatchObject({ again: 1, failed: 0 })
  expect(await ends(store)).toContainEqual('01.00 inprocess busy')
  const other = await storeWith(['Search'])
  await worker(other, { name: 'Search', until: EMPTY }, () => {
    throw { op: 'nonsense' }
  })
  expect(await ends(other)).toContainEqual(expect.stringMatching(/^01\.00 aborted ending/))
})

test('an error of an asynchronous observer ends nothing, and is thrown at the end', async () => {
  const store = await storeWith(['Search', 'Search'])
  const observe = async () => Promise.reject(new Error('no log'))
  await expect(worker(store, { name: 'Search', until: EMPTY, observe }, () => complete())).rejects.toThrow('no log')
  expect((await mustReadStream(store, 's')).isDone).toBe(true)
})

test('the default owner is host and process; several names are one worker', async () => {
  const store = await storeWith(['Search', 'Pay'])
  const owners: string[] = []
  await worker(store, { name: ['Search', 'Pay'], until: EMPTY }, job => void owners.push(job.owner))
  expect(owners).toEqual(Array(2).fill(expect.stringMatching(new RegExp(`/${process.pid}$`))))
  expect((await mustReadStream(store, 's')).isDone).toBe(true)
})

test('a drain ends the worker after the current work', async () => {
  const store = await storeWith(['Search', 'Search'])
  const drain = new AbortController()
  const report = await worker(store, { name: 'Search', drain: drain.signal }, () => {
    drain.abort()
  })
  expect(report).toMatchObject({ claimed: 1, completed: 1 })
})

test('a drain ends the wait for a lease that another holds, and nothing is claimed after it', async () => {
  const store = await storeWith(['Search'])
  const leaseId = crypto.randomUUID()
  const holder = { by: 'ops', host: 'h', pid: 1, purpose: 'test', sinceMs: 0 }
  await store.acquireLease('s', { leaseId, durationS: 60, holder })
  const drain = new AbortController()
  const onLeaseAttempt = () => drain.abort()
  const options = { name: 'Search', leaseWaitMs: 3_600_000, drain: drain.signal, onLeaseAttempt }
  expect(await worker(store, options, () => complete())).toMatchObject({ claimed: 0, completed: 0 })
  await store.releaseLease('s', leaseId)
  expect(await ends(store)).toEqual(['00 inprocess', '01.00 init'])
})

test('of all workers that end the branches at the same time exactly one is informed of the join, and one of the end', async () => {
  const branches = Array.from({ length: 12 }, () => 'Search')
  const store = await storeWith(branches, 'Ship')
  const seen: string[] = []
  const joined = onJoined((join, result, { stream, owner }: { stream: string; owner: string }) => {
    seen.push(`${join} of ${stream} ${result.done} ${owner === '' ? '' : 'by one'}`)
  })
  const ended = onDone(() => void seen.push('end'))
  const workers = Array.from({ length: 4 }, (_, at) =>
    worker(
      store,
      {
        name: ['Search', 'Ship'],
        owner: `w${at}`,
        concurrency: 4,
        until: EMPTY,
        afterWrite: async (result, job) => {
          await joined(result, job)
          await ended(result)
        },
      },
      () => complete(),
    ),
  )
  await Promise.all(workers)
  expect(seen).toEqual(['01 of s false by one', 'end'])
})

test('of parallel finishers with transact and changeStream exactly one is informed of the join', async () => {
  const branches = Array.from({ length: 20 }, () => 'Search')
  const store = await storeWith(branches, 'Ship')
  const seen: string[] = []
  const afterWrite = onJoined(join => void seen.push(join))
  const { root } = await mustReadStream(store, 's')
  const changes = root.successors.slice(0, 20).map(({ id }, at) => {
    if (at % 2 === 0) return transact(store, 's', { op: 'complete', event: id }, { by: 'w', afterWrite })
    return changeStream(
      store,
      's',
      { by: 'w', afterWrite },
      stream => void stream.mustFind(id).set({ tag: 't' }).complete(),
    )
  })
  await Promise.all(changes)
  expect(seen).toEqual(['01'])
})

test('afterWrite is awaited, and its error does not end other work', async () => {
  const store = await storeWith(['Search', 'Search'])
  const seen: WorkerEvent[] = []
  let called = 0
  const afterWrite = async () => {
    await new Promise(resolve => setImmediate(resolve))
    called += 1
    if (called === 1) throw new Error('no queue')
  }
  const observe = (happening: WorkerEvent) => void seen.push(happening)
  const report = await worker(store, { name: 'Search', until: EMPTY, afterWrite, observe }, () => complete())
  expect([report.completed, called]).toEqual([2, 2])
  expect(seen.filter(({ kind }) => kind === 'fault')).toMatchObject([{ stream: 's', error: { message: 'no queue' } }])
})

test('an error of afterWrite is thrown at the end if there is no observer', async () => {
  const store = await storeWith(['Search', 'Search'])
  const afterWrite = () => Promise.reject(new Error('no queue'))
  await expect(worker(store, { name: 'Search', until: EMPTY, afterWrite }, () => complete())).rejects.toThrow(
    'no queue',
  )
  expect((await mustReadStream(store, 's')).isDone).toBe(true)
  await createStream(store, 't', { by: 'shop' }, { forks: ['Search'] })
  await expect(workOn(store, 't', '01.00', { afterWrite }, () => complete())).rejects.toThrow('no queue')
})

test('a worker processes one event by its id', async () => {
  const store = await storeWith(['Search'])
  const results: number[] = []
  const options = { owner: 'w', afterWrite: ({ version }: { version: number }) => void results.push(version) }
  expect(await workOn(store, 's', '01.00', options, () => release())).toMatchObject({ kind: 'reported' })
  expect(await workOn(store, 's', '01.00', options, () => complete('x'))).toMatchObject({ kind: 'reported' })
  expect(await workOn(store, 's', '01.00', options, () => complete())).toMatchObject({
    kind: 'not-claimed',
    undone: { kind: 'refused', refusal: { code: 'already-final' } },
  })
  expect(results).toEqual([3, 5])
  expect((await mustReadStream(store, 's')).mustFind('01.00').msg).toBe('x')
})

test('an error of observe does not stop the work, and is thrown at the end', async () => {
  const observe = () => {
    throw new Error('no log')
  }
  for (const afterWrite of [undefined, () => Promise.reject(new Error('no queue'))]) {
    const store = await storeWith(['Search', 'Search'])
    const options = { name: 'Search', until: EMPTY, observe, ...(afterWrite && { afterWrite }) } as const
    await expect(worker(store, options, () => complete())).rejects.toThrow('no log')
    expect((await mustReadStream(store, 's')).isDone).toBe(true)
  }
})

test('work that returns an invalid result fails its event, with the reason', async () => {
  const store = await storeWith(['Search', 'Search', 'Search', 'Search'])
  const given: Record<string, unknown> = { '01.00': '12 results', '02.00': null, '03.00': { op: 'close' } }
  const untyped = (job: Job) => given[job.event.id] as undefined
  await worker(store, { name: 'Search', until: EMPTY }, untyped)
  const right = 'complete(), advance(), fail(), transient(), release() or nothing'
  expect(await ends(store)).toEqual([
    '00 completed WithError',
    `01.00 aborted ending is ${right}, not "12 results"`,
    `02.00 aborted ending is ${right}, not null`,
    '03.00 aborted ending.op is one of complete, advance, fail, release, not "close"',
    '04.00 completed',
  ])
})

test('set accepts at run time only what its type says, and msg among it', async () => {
  const store = await storeWith(['Search'])
  const set = (attributes: object) =>
    changeStream(store, 's', { by: 'w' }, stream => void stream.mustFind('01.00').set(attributes))
  for (const wrong of [{ id: '07.00' }, { status: 'completed' }, { prev: '' }, { lc: {} }, { tag: 7 }, { tag: null }])
    await expect(set(wrong)).rejects.toThrow(Object.keys(wrong)[0])
  for (const attributes of [{ id: '07.00' }, { status: 'completed' }])
    await expect(
      transact(store, 's', { op: 'set', event: '01.00', attributes: attributes as never }, { by: 'w' }),
    ).rejects.toThrow(Object.keys(attributes)[0])
  expect(await set({ msg: 'ask for Ada' })).toMatchObject({ kind: 'done' })
  const event = (await mustReadStream(store, 's')).mustFind('01.00')
  expect([event.id, event.status, event.msg]).toEqual(['01.00', 'init', 'ask for Ada'])
})
