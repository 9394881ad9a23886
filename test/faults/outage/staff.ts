import { readStream } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import { REQUEST_TIMEOUTS } from '../../../src/store/azure/requests.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { workLoop } from '../../../src/worker/loop.ts'
import { sized } from '../../guarantees/size.ts'
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts'
import type { openAzurite } from '../load/crew-orders.ts'

/** The parts of a worker; a replacement lacks the tested one. */
export interface Parts {
  readonly openAzurite: typeof openAzurite
  readonly workLoop: typeof workLoop
}

/** A worker with its own connection to the service. */
export interface Worker {
  readonly proxy: FaultProxy
  readonly store: StreamStore
  /** The number of events it has worked on. */
  readonly done: () => number
  leave(): Promise<void>
}

const STREAMS = 3
/** A change costs more in a longer stream: at this length, a fresh one replaces it. */
const MAX_EVENTS = 30

/** A worker that always has work: each event is followed by another one, each stream by another stream. */
export async function hire(
  parts: Parts,
  port: number,
  direct: StreamStore & { readonly container: string },
  name: string,
): Promise<Worker> {
  const begin = async (stream: string) => {
    const init = { op: 'init', root: { name: 'Start' }, forks: [{ name }], hold: false, born: stream } as const
    await transact(direct, stream, init, { commandId: 'init', by: 'test' })
  }
  for (let at = 0; at < STREAMS; at += 1) await begin(`${name}/${at}`)
  const proxy = await startFaultProxy({ target: { port } })
  // Nightly the usual ones.
  const limits = sized({ leaseMs: 1_000, bodyMs: 2_000, pageMs: 2_000 }, REQUEST_TIMEOUTS)
  const store = await parts.openAzurite({ port: proxy.port, container: direct.container, limits })
  const end = new AbortController()
  const options = {
    names: [name],
    owner: name,
    match: `${name}/**`,
    drain: end.signal,
    signal: end.signal,
    maxIdleMs: 1_000,
  }
  let done = 0
  const working = parts.workLoop(store, options, async ({ stream, event }) => {
    done += 1
    if (Number(event.id.split('.').at(-1)) < MAX_EVENTS) return { op: 'advance', next: { name } }
    await begin(`${stream}+`)
    return { op: 'complete' }
  })
  return {
    proxy,
    store,
    done: () => done,
    async leave() {
      end.abort()
      await working
      await store.close()
      await proxy.stop()
    },
  }
}

/** The duration of each of the calls made now with this deadline, ms. */
export function callsNow(store: StreamStore, stream: string, deadlineMs: number): Promise<number[]> {
  const holder = { by: 'caller', host: 'here', pid: 1, purpose: 'test', sinceMs: 0 }
  const limits = { holder, deadlineMs, waitMs: 0 }
  const set = { op: 'set', event: '00', attributes: { tag: 'x' } } as const
  const signal = AbortSignal.timeout(deadlineMs)
  return Promise.all(
    [
      () => store.update(stream, () => ({ kind: 'leave' }), limits),
      () => store.update(stream, () => ({ kind: 'leave' }), { ...limits, write: 'optimistic' }),
      () => readStream(store, stream, signal),
      () => transact(store, stream, set, { commandId: 'in-outage', by: 'caller', signal }),
    ].map(async call => {
      const began = performance.now()
      await call().catch(() => {})
      return performance.now() - began
    }),
  )
}
