import { describe, expect, type onTestFinished, test, vi } from 'vitest'
import { drain } from '../../../src/inbox/drain/drain.ts'
import type { DrainEvent } from '../../../src/inbox/drain/types.ts'
import { drainWork } from '../../../src/inbox/drain/work.ts'
import { createInbox, type Inbox } from '../../../src/inbox/inbox.ts'
import { openRegions } from '../../../src/inbox/regions/open.ts'
import type { RegionEvent } from '../../../src/inbox/regions/writer.ts'
import { InboxWriter, type RecordWriter } from '../../../src/inbox/writer.ts'
import { StoreUnreachable } from '../../../src/store/errors.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import { idsIn } from '../../support/serving.ts'

/** An inbox on a service that answers again after a restart, but for a while only with errors: an outage, not an end. */

const COUNT = 40
const BY = 'ada@host'
const SOON = { timeout: 60_000, interval: 10 }
const FAULTS: readonly Fault[] = [
  { kind: 'error-before', status: 500 },
  { kind: 'error-after', status: 500 },
]

/** A store behind a proxy, and an inbox in it. */
async function open(finished: typeof onTestFinished) {
  const { port } = await sharedAzurite()
  const proxy = await startFaultProxy({ target: { port } })
  const direct = await openAzuriteStore(port)
  const store = await openAzuriteStore(proxy.port, { container: direct.container })
  finished(async () => {
    for (const one of [store, direct]) await one.close()
    await proxy.stop()
  })
  return { proxy, store, inbox: await inboxIn(store) }
}

async function inboxIn(there: StreamStore): Promise<Inbox> {
  const outcome = await createInbox(there, 'orders', 2, { by: BY })
  if (outcome.kind !== 'created') throw new Error(outcome.kind)
  return outcome.inbox
}

const ids = (from: number) => Array.from({ length: COUNT }, (_, at) => `o${from + at}`)
const putAll = (writer: RecordWriter, from: number) =>
  Promise.all(ids(from).map(id => writer.put({ id, key: id, json: '{}' })))

async function made(streams: StreamStore): Promise<string[]> {
  const found: string[] = []
  for await (const page of streams.list({ prefix: 'd/' })) found.push(...page.map(({ name }) => name.slice(2)))
  return found.sort()
}

/** The service has the fault until that is noticed. */
async function outage(proxy: FaultProxy, fault: Fault, isNoticed: () => boolean): Promise<void> {
  proxy.add(fault)
  await vi.waitFor(() => expect(isNoticed()).toBe(true), SOON)
  proxy.heal()
}

describe.concurrent.each(FAULTS)('while a service answers with $status ($kind)', fault => {
  test('puts and a drain wait, then go on, and lose and double nothing', async ({ onTestFinished: finished }) => {
    const { proxy, store, inbox } = await open(finished)
    const streams = openMemoryStore()
    const init = { op: 'init', root: { name: 'D' }, forks: [], hold: false } as const
    const work = drainWork(streams, { kind: 'create', name: 'd/{/id}', init }, { by: BY })
    const events: DrainEvent[] = []
    const stop = new AbortController()
    const options = { inbox, work, by: BY, concurrency: 8, observe: (event: DrainEvent) => events.push(event) }
    const draining = drain(store, options, stop.signal)
    const writer = new InboxWriter(store, inbox, { again: async () => true })
    await putAll(writer, 0)
    await vi.waitFor(async () => expect(await made(streams)).toEqual(ids(0).sort()), SOON)
    const isNoticed = () => events.some(({ kind }) => kind === 'interrupted')
    await Promise.all([outage(proxy, fault, isNoticed), putAll(writer, COUNT)])
    expect(proxy.injected.some(({ request }) => request.operation === 'append')).toBe(true)
    await vi.waitFor(async () => expect(await made(streams)).toEqual([...ids(0), ...ids(COUNT)].sort()), SOON)
    stop.abort()
    const { done, dead } = await draining
    expect({ done, dead }).toEqual({ done: 2 * COUNT, dead: 0 })
    const told = events.map(({ kind }) => kind).filter(kind => kind === 'interrupted' || kind === 'resumed')
    expect(told.at(-1)).toBe('resumed')
  })

  test('it is away as one of two regions, and then used again', async ({ onTestFinished: finished }) => {
    const { proxy, store, inbox } = await open(finished)
    const other = openMemoryStore()
    await inboxIn(other)
    const told: RegionEvent[] = []
    const observe = (event: RegionEvent) => told.push(event)
    const opened = await openRegions([store, other], 'orders', { preferMs: 1_000, observe })
    if (opened.kind !== 'opened') throw new Error(opened.kind)
    const { writer } = opened
    await putAll(writer, 0)
    const puts = async () => {
      for (let at = COUNT; told.at(-1)?.kind !== 'back'; at++) await writer.put({ id: `o${at}`, json: '{}' })
    }
    await Promise.all([outage(proxy, fault, () => writer.counts.second > 0), puts()])
    expect(told.map(({ kind, place }) => `${kind} ${place}`)).toEqual(['away first', 'back first'])
    expect(told[0]).toMatchObject({ error: expect.any(StoreUnreachable) })
    const { both, second } = writer.counts
    await putAll(writer, 0)
    expect(writer.counts.both).toBe(both + COUNT)
    writer.close()
    expect(await idsIn(other, inbox)).toHaveLength(both + second + COUNT)
  })
})
