import { expect, test } from 'vitest'
import { trustRow } from '../../guarantees/record.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import { type Fault, startFaultProxy } from '../../support/fault-proxy.ts'
import { initStream, SPEC, startSubscription } from '../../unit/subscriptions/support.ts'

const row = trustRow('subscriptions')
const ONE_SHARD = { ...SPEC, shards: 1 }
const POSITION = '.leasectl/subscriptions/billing/shards/1/0'
const LIMITS = { leaseMs: 2_000, bodyMs: 2_000, pageMs: 2_000 }
const NAMES = ['a', 'b', 'c']

const FAULTS: readonly Fault['kind'][] = [
  'lose-request',
  'lose-answer',
  'late',
  'error-before',
  'error-after',
  'duplicate',
  'duplicate-late',
  'reset',
  'truncate',
]

test.each(FAULTS)(
  'with the fault %s in writes of positions every transaction is delivered once, and the next process knows it',
  { timeout: 120_000 },
  async kind => {
    const { port } = await sharedAzurite()
    const direct = await openAzuriteStore(port)
    const isPosition = ({ operation, target }: { operation: string; target: string }) =>
      operation === 'put' && decodeURIComponent(target).includes(POSITION)
    const proxy = await startFaultProxy({ target: { port } })
    const store = await openAzuriteStore(proxy.port, { container: direct.container, limits: LIMITS })
    const first = startSubscription(store, { spec: ONE_SHARD })
    await initStream(direct, 'a')
    await first.until(() => first.results.length === 1)
    // Not the creation of the document: its position is written from here on.
    await expect.poll(() => positionText(direct), { timeout: 60_000 }).toContain('"delivered":1')
    proxy.add({ kind, when: isPosition, times: 2 })
    for (const name of NAMES.slice(1)) await initStream(direct, name)
    await first.until(() => first.results.length === NAMES.length)
    await expect.poll(() => positionText(direct), { timeout: 60_000 }).toContain(`"delivered":${NAMES.length}`)
    await first.stop()
    expect(proxy.injected.length).toBeGreaterThan(0)
    const second = startSubscription(direct, { spec: ONE_SHARD })
    await initStream(direct, 'd')
    await second.until(() => second.results.length === 1)
    const before = second.seen.length
    await proxy.deliverLate()
    await second.stop()
    // A late write of the first process has not put back the position of the second.
    expect(await positionText(direct)).toContain(`"delivered":${NAMES.length + before}`)
    expect(first.seen.toSorted()).toEqual(NAMES.map(name => `${name}@1`))
    expect(second.seen).toEqual(['d@1'])
    row.injected(`${kind} in writes of positions`, proxy.injected.length)
    row.figure('faults of position writes', kind)
    await Promise.all([store.close(), direct.close(), proxy.stop()])

    async function positionText(from: typeof direct): Promise<string> {
      return new TextDecoder().decode((await from.read(POSITION))?.body)
    }
  },
)
