import { randomUUID } from 'node:crypto'
import type { ContainerClient } from '@azure/storage-blob'
import type { RequestTimeouts } from '../../../src/store/azure/requests.ts'
import type { StreamStore, WriteMode } from '../../../src/store/store.ts'
import { LeasectlError } from '../../../src/stream/errors.ts'
import { type Fault, type FaultProxy, type Seen, startFaultProxy } from '../../support/fault-proxy.ts'
import type { Target } from '../../support/messages.ts'
import { type Scene, SUBJECTS, type Subject, type Truth } from './subject.ts'

/** Where a cell is played. */
export interface Place {
  readonly target: Target
  /** Past the proxy. */
  readonly direct: StreamStore
  /** Over the proxy at a port. */
  open(port: number, limits: RequestTimeouts): Promise<StreamStore>
  /** The same without a driver. */
  client(port: number): Promise<ContainerClient>
}

/** One operation and what it suffers. */
export interface Play {
  readonly operation: string
  readonly fault: Fault
  /** Only the first request, or each of them. */
  readonly lasts: boolean
  readonly write: WriteMode
}

/** What came of it. */
export interface Course {
  /** The outcome's kind, or the code of the fault that was thrown. */
  readonly told: string
  readonly truth: readonly Truth[]
  /** How many requests of the operation suffered. */
  readonly injected: number
  /** How often it was begun anew because the machine was slow. */
  readonly slow: number
  /** Where it was not known or not done: what the same command says once the network is well again, and what is true then. */
  readonly repeated?: { readonly told: string; readonly truth: readonly Truth[] }
}

/** One try. Where nothing but the limit ends it, it is waited for; elsewhere it must not end what is only slow. */
const limitsFor = (fault: Fault, factor: number): RequestTimeouts => {
  const ms = (endsByLimit(fault) ? 2_000 : 10_000) * factor
  return { leaseMs: ms, bodyMs: ms, pageMs: ms }
}
/** With the request of this number that suffers, the caller of a change gives up. All else has ended by itself before. */
const PATIENCE = 4
/** Connections that lie idle; more than there are tries, as in a process that was busy before. */
const IDLE = 4

/** Limits are so many times longer each time that a slow machine, not the fault, made a request miss its own. */
const SLOWER = [1, 4, 16]

/** Plays a cell to a course that was the work of its fault alone. */
export async function play(place: Place, one: Play): Promise<Course> {
  let problem: unknown
  for (const [slow, factor] of SLOWER.entries()) {
    try {
      const course = await playOnce(place, one, factor)
      if (course !== undefined) return { ...course, slow }
    } catch (error) {
      problem = error
    }
  }
  throw new Error('the machine is too slow for any limit', { cause: problem })
}

/** @returns undefined if a request that nothing was done to had no answer in time */
async function playOnce(
  place: Place,
  { operation, fault, lasts, write }: Play,
  factor: number,
): Promise<Omit<Course, 'slow'> | undefined> {
  const subject = SUBJECTS[operation]
  if (subject === undefined) throw new Error(`no operation ${operation}`)
  const proxy = await startFaultProxy({ target: place.target })
  const store = await place.open(proxy.port, limitsFor(fault, factor))
  const ids = { commandId: randomUUID(), leaseId: randomUUID(), nextLeaseId: randomUUID() }
  const calm: Scene = { store, direct: place.direct, stream: `${operation}/${randomUUID()}`, write, ...ids }
  try {
    await subject.prepare(calm)
    if (fault.kind === 'dead-socket') await warmUp(proxy, store)
    const struck = { ...fault, on: subject.request, ...(lasts ? {} : { times: 1 }) }
    const told = await suffer(subject, calm, proxy, struck)
    const injected = proxy.injected.filter(({ request }) => request.operation === subject.request).length
    proxy.heal()
    const isNext = fault.kind === 'duplicate-late'
    if (isNext) await subject.next(calm)
    await proxy.deliverLate()
    const truth = await subject.truth(calm, isNext)
    const isSettled = !['unknown', 'store-unreachable'].includes(told)
    const repeated = isSettled
      ? {}
      : { repeated: { told: await say(subject, calm), truth: await subject.truth(calm, isNext) } }
    return proxy.abandoned > 0 ? undefined : { told, truth, injected, ...repeated }
  } finally {
    await store.close()
    await proxy.stop()
  }
}

/** The operation while the fault strikes; what is struck again and again is given up. */
async function suffer(subject: Subject, scene: Scene, proxy: FaultProxy, fault: Fault): Promise<string> {
  const giveUp = new AbortController()
  const before = async () => {
    if (proxy.injected.length === PATIENCE) giveUp.abort()
  }
  // Those that were idle are dead; what is connected from now on is alive.
  const when = ({ connection }: Seen) => fault.kind !== 'dead-socket' || connection <= IDLE
  proxy.add({ ...fault, before, when })
  return say(subject, { ...scene, signal: giveUp.signal })
}

/** Nothing but the limit of the caller ends it. */
export function endsByLimit({ kind, silent, claims }: Fault): boolean {
  return silent === true || kind === 'answer-late' || claims === 'more'
}

async function say(subject: Subject, scene: Scene): Promise<string> {
  try {
    return await subject.act(scene)
  } catch (error) {
    if (error instanceof LeasectlError) return error.code
    if (scene.signal?.aborted) return 'gave up'
    throw error
  }
}

/** Leaves connections open behind it: the requests that made them were under way at the same time. */
async function warmUp(proxy: FaultProxy, store: StreamStore): Promise<void> {
  let arrived = 0
  let go = () => {}
  const together = new Promise<void>(resolve => {
    go = resolve
  })
  const before = () => {
    arrived += 1
    if (arrived === IDLE) go()
    return together
  }
  proxy.add({ kind: 'delay', on: 'get', times: IDLE, before })
  await Promise.all(Array.from({ length: IDLE }, () => store.read('warm')))
  proxy.heal()
  proxy.reset()
}
