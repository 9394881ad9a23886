import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { workLoop } from '../../../src/worker/loop.ts'
import { trustRow } from '../../guarantees/record.ts'
import { repeatWith, SIZE, sized } from '../../guarantees/size.ts'
import { openAzuriteStore, sharedAzurite } from '../../support/azurite.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { openAzurite } from '../load/crew-orders.ts'
import { callsNow, hire, type Parts, type Worker } from './staff.ts'

const { figure, control, injected } = trustRow('outage')
const REPEAT = repeatWith('test/faults/outage/outage.test.ts', 1)
const OUTAGE_MS = sized(8_000, 60_000)
const WINDOW_MS = sized(1_000, 20_000)
const RECOVERY_MS = 10_000
const DEADLINE_MS = sized(2_000, 30_000)
/** Delay with which a busy machine may notice that, ms. */
const SLACK_MS = sized(10_000, 2_000)
const WORKERS = sized(2, 5)
/** Of a short outage only the time after this counts, ms: by then each of the first attempts has ended. */
const NOTICED_MS = sized(3_000, 0)
const TIMEOUT = { timeout: sized(120_000, 600_000) }

const OUTAGES: readonly [string, Fault][] = [
  ['503', { kind: 'error-before' }],
  ['a black hole', { kind: 'lose-request', silent: true }],
]

describe.concurrent('an outage', () => {
  test.each(OUTAGES)(
    'of %s is survived: few requests, calls end in time, and then work continues',
    TIMEOUT,
    async (name, fault) => {
      const workers = await staffOf({ openAzurite, workLoop }, WORKERS)
      const before = await throughput(workers)
      const { perSecond, late, faults } = await outage(workers, fault)
      // Nightly it is measured from then on, whether or not all work again.
      if (SIZE === 'nightly') await sleep(RECOVERY_MS)
      else await allWork(workers)
      const after = await throughput(workers)
      await Promise.all(workers.map(worker => worker.leave()))
      figure('requests a second and worker', `${perSecond.toFixed(2)} (${name})`, 'at most 1')
      figure('calls past their deadline', late, '0')
      figure(
        'throughput after it',
        `${Math.round((100 * after) / before)} % (${name})`,
        sized('only told', 'at least 90 %'),
      )
      injected(name, faults)
      expect(faults, REPEAT).toBeGreaterThan(0)
      expect(perSecond, REPEAT).toBeLessThanOrEqual(1)
      expect(late, REPEAT).toBe(0)
      if (SIZE === 'nightly') expect(after / before, REPEAT).toBeGreaterThanOrEqual(0.9)
    },
  )
})

test('without back-off the service is overloaded with requests', TIMEOUT, async () => {
  const workers = await staffOf(await withoutPauses(), 1)
  const { perSecond } = await outage(workers, { kind: 'error-before' })
  await Promise.all(workers.map(worker => worker.leave()))
  expect(perSecond, REPEAT).toBeGreaterThan(1)
  control('without a pause between the tries', perSecond > 1)
})

async function staffOf(parts: Parts, count: number): Promise<Worker[]> {
  const { port } = await sharedAzurite()
  const direct = await openAzuriteStore(port)
  const workers = await Promise.all(Array.from({ length: count }, (_, at) => hire(parts, port, direct, `w${at}`)))
  await allWork(workers)
  return workers
}

/** Until each has worked on an event from now on. */
async function allWork(workers: readonly Worker[]): Promise<void> {
  const before = workers.map(({ done }) => done())
  const work = () => workers.every(({ done }, at) => done() > (before[at] ?? 0))
  await vi.waitFor(() => expect(work(), REPEAT).toBe(true), { timeout: 60_000, interval: 50 })
}

/** Events a second, of all workers. */
async function throughput(workers: readonly Worker[]): Promise<number> {
  const count = () => workers.reduce((sum, { done }) => sum + done(), 0)
  const [began, before] = [performance.now(), count()]
  await sleep(WINDOW_MS)
  return (count() - before) / ((performance.now() - began) / 1_000)
}

/** The requests of the busiest worker, the calls that ended late, and the faults of all. Ends with everything healed. */
async function outage(workers: readonly Worker[], fault: Fault) {
  for (const { proxy } of workers) {
    proxy.reset()
    proxy.add(fault)
  }
  const began = performance.now()
  const asked = () => workers.map(({ proxy }) => proxy.requests.length)
  const noticed = sleep(NOTICED_MS).then(asked)
  const calls = workers.map(({ store }, at) => callsNow(store, `w${at}/0`, DEADLINE_MS))
  // Nothing is healed before each call has ended by itself.
  const [took] = await Promise.all([Promise.all(calls), sleep(OUTAGE_MS)])
  // A timer may fire a moment early: five requests in slightly less than five seconds count as one a second.
  const seconds = (Math.max(OUTAGE_MS, performance.now() - began) - NOTICED_MS) / 1_000
  const before = await noticed
  const most = Math.max(...asked().map((count, at) => count - (before[at] ?? 0)))
  const faults = workers.reduce((sum, { proxy }) => sum + proxy.injected.length, 0)
  for (const { proxy } of workers) proxy.heal()
  const late = took.flat().filter(ms => ms > DEADLINE_MS + SLACK_MS).length
  return { perSecond: most / seconds, late, faults }
}

/** Workers that retry at once if there is no answer. */
async function withoutPauses(): Promise<Parts> {
  vi.resetModules()
  vi.doMock('../../../src/store/backoff.ts', async original => ({
    ...(await original<typeof import('../../../src/store/backoff.ts')>()),
    unansweredDelay: () => 0,
  }))
  vi.doMock('../../../src/store/azure/circuit-breaker.ts', () => ({
    CircuitBreaker: class {
      readonly isOpen = false
      answered() {}
      unanswered() {}
    },
  }))
  const orders = await import('../load/crew-orders.ts')
  const loop = await import('../../../src/worker/loop.ts')
  vi.doUnmock('../../../src/store/backoff.ts')
  vi.doUnmock('../../../src/store/azure/circuit-breaker.ts')
  return { openAzurite: orders.openAzurite, workLoop: loop.workLoop }
}
