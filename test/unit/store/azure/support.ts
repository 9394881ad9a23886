import { onTestFinished, vi } from 'vitest'
import type { AzureBlobOptions } from '../../../../src/store/azure/store.ts'
import type { Clock } from '../../../../src/util/clock.ts'
import { bytes, summary } from '../../../contract/harness.ts'
import { openAzuriteStore, sharedAzurite } from '../../../support/azurite.ts'
import { startFaultProxy } from '../../../support/fault-proxy.ts'

/** More than the time of an answer on a busy machine; and less than the whole time limit of a change. */
export const LIMIT_MS = 20_000

/** For a store in which only a missing answer is too late. */
export const PATIENT = {
  limits: { leaseMs: LIMIT_MS, bodyMs: LIMIT_MS, pageMs: LIMIT_MS },
  waits: { releaseMs: 2 * LIMIT_MS, closeMs: 2 * LIMIT_MS },
} as const

/** The time for a condition that depends only on the speed of the machine. */
export const SOON = { timeout: 60_000, interval: 5 } as const

/** From now on: expires the limit of the last attempt in flight with one of `LIMIT_MS`, so that the test need not wait. */
export function limitToEnd(): () => void {
  const [set, cleared] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')]
  onTestFinished(() => {
    set.mockRestore()
    cleared.mockRestore()
  })
  const isUnderWay = (timer: unknown) => !cleared.mock.calls.some(([ended]) => ended === timer)
  return () => {
    const { calls, results } = set.mock
    const at = calls.findLastIndex(([, ms], nth) => ms === LIMIT_MS && isUnderWay(results[nth]?.value))
    const expire = calls[at]?.[0]
    if (expire === undefined) throw new Error(`no try under way has a limit of ${LIMIT_MS} ms`)
    expire()
  }
}

/** The clocks of a machine that only a test advances: a lease stays young however long its requests take. */
export class StoppedClock implements Clock {
  #wallMs = Date.now()
  #monotonicMs = 0

  readonly wallMs = (): number => this.#wallMs
  readonly monotonicMs = (): number => this.#monotonicMs

  /** @param wallMs the advance of the wall clock, which can be set */
  pass(ms: number, wallMs = ms): void {
    this.#monotonicMs += ms
    this.#wallMs += wallMs
  }
}

/**
 * A store behind a proxy, on a machine with fixed clocks, with an empty stream `s`. `direct` reads and writes the actual
 * state, without the proxy.
 */
export async function behindProxy(options: Pick<AzureBlobOptions, 'random'> = {}) {
  const { port } = await sharedAzurite()
  const clock = new StoppedClock()
  const direct = await openAzuriteStore(port, PATIENT)
  const proxy = await startFaultProxy({ target: { port } })
  const { container } = direct
  const store = await openAzuriteStore(proxy.port, { container, machine: clock, ...PATIENT, ...options })
  await direct.create('s', bytes(''), summary())
  const end = async () => {
    proxy.heal()
    await Promise.all([direct.close(), store.close()])
    await proxy.stop()
  }
  return { direct, proxy, store, clock, end }
}
