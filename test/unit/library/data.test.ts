import { describe, expect, test } from 'vitest'
import {
  advance,
  changeStream,
  complete,
  createStream,
  fail,
  type Job,
  mustReadStream,
  newData,
  openStore,
  readData,
  transact,
  worker,
  workOn,
} from '../../../src/index.ts'
import { DATA_PREFIX, dataName } from '../../../src/ops/event-data.ts'
import type { EventData } from '../../../src/stream/data.ts'
import { InvalidValue } from '../../../src/stream/errors.ts'

const LONG = 'long '.repeat(2_000)
const BY = { by: 'tester' }

describe('data in the library', () => {
  test('goes from event to event: inputs, results, and a join that works with those of its branches', async () => {
    await using store = await openStore('memory:')
    const forks = ['a', LONG].map(data => ({ name: 'Ask', data }))
    await createStream(store, 's', BY, { forks, join: 'Merge' })
    const report = await worker(store, { name: ['Ask', 'Merge'], until: 'until-empty' }, async job => {
      if (job.event.name === 'Ask') {
        const input = await job.input()
        job.result('replaced')
        job.result(`${input?.text().length}`, { type: 'text/x-count' })
        return undefined
      }
      expect(await job.input()).toBeUndefined()
      const texts = await Promise.all((await job.inputs()).map(async input => (await input.read()).text()))
      return complete('merged', { result: newData(JSON.stringify(texts)) })
    })
    expect(report).toMatchObject({ completed: 3, failed: 0 })
    const stream = await mustReadStream(store, 's')
    const join = stream.mustFind('01')
    expect(join.result).toMatchObject({ type: 'application/json', text: '["1","10000"]' })
    expect(join.inputs.map(({ event, data: { type } }) => [event, type])).toEqual([
      ['01.00', 'text/x-count'],
      ['02.00', 'text/x-count'],
    ])
    const { input } = stream.mustFind('02.00')
    if (input === undefined) throw new Error('no input')
    expect((await readData(store, stream, input)).text()).toBe(LONG)
  })

  test('is taken by advance, fail and changeStream too; an end with its own result keeps it', async () => {
    await using store = await openStore('memory:')
    await createStream(store, 's', BY, { root: { name: 'R', data: new Uint8Array([1]) }, forks: ['A', 'B', 'C'] })
    await worker(store, { name: ['A', 'B'], until: 'until-empty' }, job => {
      job.result('of the job')
      if (job.event.name === 'A') return advance({ next: { name: 'A2', data: LONG }, result: 'own' })
      return fail('no', { result: LONG })
    })
    await changeStream(store, 's', BY, stream => void stream.mustFind('03.00').complete('ok', { result: LONG }))
    const stream = await mustReadStream(store, 's')
    expect(stream.root.input).toMatchObject({ base64: 'AQ==' })
    expect(stream.mustFind('01.00').result?.text).toBe('own')
    expect(stream.mustFind('01.01').input?.size).toBe(LONG.length)
    expect(stream.mustFind('02.00')).toMatchObject({ status: 'aborted', result: { size: LONG.length } })
    expect(stream.mustFind('03.00').result?.size).toBe(LONG.length)
  })

  test('that is missing fails the event of a worker that reads it', async () => {
    await using store = await openStore('memory:')
    await createStream(store, 's', BY, { forks: [{ name: 'A', data: LONG }] })
    const { born } = await mustReadStream(store, 's')
    for await (const page of store.list({ reserved: true, prefix: DATA_PREFIX })) {
      for (const { name } of page) await store.remove(name, {})
    }
    await worker(store, { name: 'A', until: 'until-empty' }, async job => complete((await job.input())?.text()))
    const stream = await mustReadStream(store, 's')
    expect(stream.mustFind('01.00')).toMatchObject({ status: 'aborted', msg: expect.stringMatching(/is missing/) })
    const input = stream.mustFind('01.00').input as EventData
    await expect(readData(store, stream, input)).rejects.toMatchObject({ code: 'data-missing', stream: 's' })
    expect(dataName({ stream: 's', born }, input)).toMatch(new RegExp(`^${DATA_PREFIX}[0-9a-f]{32}/${born}/`))
  })

  test.each([5, null, {}, [], true])('%j is no data', async value => {
    await using store = await openStore('memory:')
    const given = value as unknown as string
    expect(() => complete('', { result: given })).toThrow(InvalidValue)
    expect(() => newData(given)).toThrow(InvalidValue)
    await expect(createStream(store, 's', BY, { root: { name: 'R', data: given } })).rejects.toThrow(InvalidValue)
    await createStream(store, 't', BY)
    const end = { op: 'complete', event: '00', result: given as unknown as EventData } as const
    await expect(transact(store, 't', end, BY)).rejects.toThrow(InvalidValue)
  })

  test('over 16 MiB, and of an invalid type, is refused', () => {
    expect(() => newData(new Uint8Array(16 * 1024 * 1024 + 1))).toThrow(/at most 16 MiB/)
    expect(() => newData('x', { type: 'nonsense' })).toThrow(/media type/)
  })
})

test('the work on a stream that was removed gets no inputs of another that has its name now', async () => {
  await using store = await openStore('memory:')
  await createStream(store, 's', { by: 'shop' }, { forks: ['A'] })
  const work = async (job: Job) => {
    await store.remove('s', {})
    await createStream(store, 's', { by: 'shop' }, { forks: ['A'] })
    await expect(job.inputs()).rejects.toThrow('another stream has its name now')
    return undefined
  }
  expect(await workOn(store, 's', '01.00', { owner: 'w' }, work)).toMatchObject({ kind: 'unreported' })
})

test('a result that is no text and no bytes is refused, and told as that', async () => {
  await using store = await openStore('memory:')
  await createStream(store, 's', { by: 'shop' }, { forks: ['A'] })
  await workOn(store, 's', '01.00', { owner: 'w' }, job => {
    job.result({ a: 1 } as unknown as string)
    return undefined
  })
  const [, event] = (await mustReadStream(store, 's')).events
  expect(event).toMatchObject({ status: 'aborted', msg: expect.stringContaining('a text or a Uint8Array') })
})
