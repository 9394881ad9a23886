import { describe, expect, it } from 'vitest'
import { changeStream } from '../../../../src/library/streams.ts'
import { DATA_PREFIX, dataBeside, dataName, listData, readDataBytes } from '../../../../src/ops/event-data.ts'
import { readStream } from '../../../../src/ops/read-stream.ts'
import { removeStream } from '../../../../src/ops/remove.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { dataOf } from '../../../../src/stream/data.ts'
import type { Operation } from '../../../../src/stream/operations/operation.ts'
import { init, intercept, memoryStore, resultOf, run, writeForeign } from '../support.ts'

const BORN = '11111111-2222-4333-8444-555555555555'
const long = (seed: string) => dataOf(Buffer.from(seed.repeat(5_000)))

const complete = (event: string, seed: string): Operation => ({ op: 'complete', event, result: long(seed) })

async function dataNames(store: StreamStore): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of listData(store, DATA_PREFIX)) names.push(name)
  return names
}

/** The data of a stream as `EVENT KIND: first character`, read from the store. */
async function contents(store: StreamStore, stream: string): Promise<string[]> {
  const view = await readStream(store, stream)
  if (view === undefined) throw new Error('no stream')
  const life = { stream, born: view.document.born }
  const read = dataBeside(view.document).map(async ({ event, kind, data }) => {
    const bytes = await readDataBytes(store, life, data)
    return `${event} ${kind}: ${Buffer.from(bytes).toString()[0]}`
  })
  return Promise.all(read)
}

/** Records the names that are read, created and changed. */
function recorded(store: StreamStore): { store: StreamStore; calls: string[] } {
  const calls: string[] = []
  const proxy = new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        if (property === 'list') calls.push('list')
        else if (typeof given[0] === 'string') calls.push(`${String(property)} ${given[0]}`)
        return value.apply(target, given)
      }
    },
  })
  return { store: proxy, calls }
}

describe('a change with data beside the document', () => {
  it('writes the data first, and a reader finds it', async () => {
    const { store, calls } = recorded(memoryStore().store)
    await run(store, 's', {
      op: 'init',
      root: { name: 'Start', data: long('r') },
      forks: [{ name: 'A', data: long('a') }],
      hold: false,
      born: BORN,
    })
    expect(calls).toEqual([
      `create ${dataName({ stream: 's', born: BORN }, long('r'))}`,
      `create ${dataName({ stream: 's', born: BORN }, long('a'))}`,
      'create s',
    ])
    resultOf(
      await run(store, 's', {
        op: 'advance',
        event: '01.00',
        forks: [],
        next: { name: 'B', data: long('b') },
        result: long('x'),
      }),
    )
    expect(await contents(store, 's')).toEqual(['00 input: r', '01.00 input: a', '01.00 result: x', '01.01 input: b'])
  })

  it('costs later claims and heartbeats nothing: none of them reads or lists data', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B'], BORN))
    await run(store, 's', { op: 'complete', event: '02.00', result: dataOf(Buffer.alloc(1024 * 1024, 97)) })
    const watched = recorded(store)
    const { claim } = resultOf(
      await run(watched.store, 's', { op: 'start', event: '01.00', owner: 'w', claimMs: 1_000 }),
    )
    await run(watched.store, 's', { op: 'touch', event: '01.00', claimMs: 1_000, fence: claim?.fence ?? 0 })
    expect(watched.calls).toEqual(['update s', 'update s'])
  })

  it('that is refused writes nothing', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A'], BORN))
    await run(store, 's', { op: 'complete', event: '01.00' })
    expect(await run(store, 's', complete('01.00', 'x'))).toMatchObject({ refusal: { code: 'already-final' } })
    expect(await run(store, 'none', complete('01.00', 'x'))).toEqual({ kind: 'missing' })
    expect(
      await run(store, 's', { ...init([], 'b2'), root: { name: 'R', data: long('x') } } as Operation),
    ).toMatchObject({
      refusal: { code: 'exists' },
    })
    expect(await dataNames(store)).toEqual([])
  })

  it('repeated with the same command id changes nothing', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B'], BORN))
    const first = resultOf(await run(store, 's', complete('01.00', 'x'), { commandId: 'c' }))
    const again = resultOf(await run(store, 's', complete('01.00', 'x'), { commandId: 'c' }))
    expect(again).toMatchObject({ version: first.version, duplicate: true })
    expect(await run(store, 's', complete('01.00', 'y'), { commandId: 'c' })).toMatchObject({
      refusal: { code: 'command-id-reused' },
    })
    expect(await dataNames(store)).toHaveLength(1)
  })

  it('that creates a stream keeps its data when it is repeated, for the same incarnation or for another', async () => {
    const { store } = memoryStore()
    const creation = (born: string): Operation => ({
      op: 'init',
      root: { name: 'Start', data: long('r') },
      forks: [],
      hold: false,
      born,
    })
    await run(store, 's', creation(BORN), { commandId: 'c' })
    for (const born of [BORN, '99999999-2222-4333-8444-555555555555']) {
      expect(resultOf(await run(store, 's', creation(born), { commandId: 'c' })).duplicate).toBe(true)
      expect(await contents(store, 's')).toEqual(['00 input: r'])
      expect(await dataNames(store)).toHaveLength(1)
    }
  })

  it('whose data cannot be written is not made', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A'], BORN))
    const failing = new Proxy(store, {
      get: (target, property) =>
        property === 'create'
          ? async () => {
              throw new StoreUnreachable('no answer')
            }
          : (Reflect.get(target, property, target).bind?.(target) ?? Reflect.get(target, property, target)),
    })
    await expect(run(failing, 's', complete('01.00', 'x'))).rejects.toThrow('no answer')
    expect((await readStream(store, 's'))?.stream.find('01.00')?.status).toBe('init')
  })

  it('goes to the incarnation that it is written for, even if the stream is replaced meanwhile', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A'], BORN))
    let replaced = false
    const racing = intercept(store, async (_, decide, go) => {
      if (!replaced) {
        replaced = true
        await store.remove('s', {})
        await run(store, 's', init(['A'], '99999999-2222-4333-8444-555555555555'))
      }
      return go(decide)
    })
    resultOf(await run(racing, 's', complete('01.00', 'x')))
    expect(await contents(store, 's')).toEqual(['01.00 result: x'])
  })

  it('finds the data of a stream whose incarnation a foreign writer has dropped', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B'], BORN))
    await run(store, 's', complete('01.00', 'x'))
    await writeForeign(store, 's', ` lc:born="${BORN}"`, '')
    expect(await contents(store, 's')).toEqual(['01.00 result: x'])
    resultOf(await run(store, 's', complete('02.00', 'y')))
    expect(await contents(store, 's')).toEqual(['01.00 result: x', '02.00 result: y'])
  })

  it('is removed with its stream, also if the first removal was killed before', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A'], BORN))
    await run(store, 't', init(['A'], BORN))
    for (const name of ['s', 't']) await run(store, name, complete('01.00', 'x'))
    await store.remove('s', {})
    expect(await removeStream(store, 's', { born: BORN, leaseWaitMs: 0 })).toEqual({ kind: 'missing' })
    expect(await contents(store, 't')).toEqual(['01.00 result: x'])
    expect(await removeStream(store, 't', { born: BORN, leaseWaitMs: 0 })).toEqual({ kind: 'removed' })
    expect(await dataNames(store)).toEqual([])
  })

  it('is refused if its size or hash is wrong', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A'], BORN))
    const wrong = { ...long('x'), sha256: 'a'.repeat(64) }
    await expect(run(store, 's', { op: 'complete', event: '01.00', result: wrong })).rejects.toThrow(/does not match/)
  })
})

describe('an edit with data beside the document', () => {
  it('writes the data of all its steps first', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B'], BORN))
    let calls = 0
    const outcome = await changeStream(store, 's', { by: 'me' }, stream => {
      calls++
      stream.mustFind('01.00').complete('ok', { result: 'x'.repeat(5_000) })
      stream.mustFind('02.00').advance({ next: { name: 'C', data: 'y'.repeat(5_000) } })
    })
    expect(outcome.kind).toBe('done')
    expect(calls).toBe(2)
    expect(await contents(store, 's')).toEqual(['01.00 result: x', '02.01 input: y'])
  })

  it('that depends on the state writes what the last state needs', async () => {
    const { store } = memoryStore()
    await run(store, 's', init(['A', 'B'], BORN))
    let writes = 0
    const racing = intercept(store, async (_, decide, go) => {
      if (++writes === 2) await run(store, 's', { op: 'set', event: '01.00', attributes: { tag: 'z' } })
      return go(decide)
    })
    await changeStream(racing, 's', { by: 'me' }, stream => {
      const event = stream.mustFind('01.00')
      event.complete('ok', { result: (event.tag || 'n').repeat(5_000) })
    })
    expect(await contents(store, 's')).toEqual(['01.00 result: z'])
  })
})
