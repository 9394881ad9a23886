import type { Fault, FaultProxy } from '../../support/fault-proxy.ts'
import type { WorkerOrders } from './orders.ts'
import type { WorkerProcess } from './worker-process.ts'

/** A named moment at which a worker is paused, between the claim of its event and its end. */
export interface Point {
  readonly name: string
  /** It pauses itself. */
  readonly stopsAt?: WorkerOrders['stopsAt']
  /** It is paused when the proxy has this request of it. `acted` resolves when the other worker has done its part. */
  readonly request?: (worker: WorkerProcess, proxy: FaultProxy, acted: Promise<void>) => Fault
  /** No other worker can act before it continues. */
  readonly keepsAllAway?: boolean
  /** The other one holds an explicit lease when the paused one continues. */
  readonly otherHoldsLease?: boolean
}

/** The claim is version 2: the Put that ends the event is the one that makes the next. */
const ENDING_VERSION = '3'
const isEnding = (headers: Readonly<Record<string, unknown>>) => headers['x-ms-meta-leasectl_v'] === ENDING_VERSION

export const ON_AZURE: readonly Point[] = [
  { name: 'between two heartbeats', stopsAt: 'work' },
  { name: 'before the acquire', stopsAt: 'change' },
  {
    name: 'the acquire is answered, the answer unread',
    request: worker => ({ kind: 'delay', on: 'acquire', times: 1, before: () => worker.stop() }),
  },
  { name: 'the body is read, the Put not sent', stopsAt: 'decided' },
  {
    name: 'the Put is on its way, and arrives when another has acted',
    request: (worker, _, acted) => ({
      kind: 'delay',
      on: 'put',
      when: ({ headers }) => isEnding(headers),
      times: 1,
      before: () => worker.stop().then(() => acted),
    }),
  },
  {
    name: 'the Put is answered, the answer unread',
    request: worker => ({
      kind: 'delay',
      on: 'put',
      when: ({ headers }) => isEnding(headers),
      times: 1,
      before: () => worker.stop(),
    }),
  },
  {
    name: 'the release is on its way, and arrives when another has a lease',
    otherHoldsLease: true,
    request: (worker, proxy, acted) => ({
      kind: 'delay',
      on: 'release',
      when: () => proxy.requests.some(({ operation, headers }) => operation === 'put' && isEnding(headers)),
      times: 1,
      before: () => worker.stop().then(() => acted),
    }),
  },
]

export const ON_SQLITE: readonly Point[] = [
  { name: 'between two heartbeats', stopsAt: 'work' },
  { name: 'before the transaction', stopsAt: 'change' },
  { name: 'inside the transaction', stopsAt: 'decided', keepsAllAway: true },
  { name: 'after the commit', stopsAt: 'written' },
]
