import { randomUUID } from 'node:crypto'
import type { PlainContainerClient } from '../../../src/store/azure/plain-requests.ts'
import type { RequestTimeouts } from '../../../src/store/azure/requests.ts'
import type { StreamStore, WriteMode } from '../../../src/store/store.ts'
import { LeasectlError } from '../../../src/stream/errors.ts'
import { type Fault, type FaultProxy, type Seen, startFaultProxy } from '../../support/fault-proxy.ts'
import type { Target } from '../../support/messages.ts'
import { type Scene, SUBJECTS, type Subject, type Truth } from './subject.ts'
import { WRITES } from './writes.ts'

/** The environment of a cell. */
export interface Place {
  readonly target: Target
  /** Not through the proxy. */
  readonly direct: StreamStore
  /** Through the proxy at a port. */
  open(port: number, limits: RequestTimeouts): Promise<StreamStore>
  /** The same without a driver. */
  client(port: number): Promise<PlainContainerClient>
}

/** One operation and its fault. */
export interface Play {
  readonly operation: string
  readonly fault: Fault
  /** Only the first request, or each of them. */
  readonly lasts: boolean
  readonly write: WriteMode
  /** Which of the changes of its subject. */
  readonly change?: string
}

/** The observed result. */
export interface Course {
  /** The outcome's kind, or the code of the thrown error. */
  readonly told: string
  readonly truth: readonly Truth[]
  /** The number of requests of the operation with the fault. */
  readonly injected: number
  /** The number of restarts because the machine was slow. */
  readonly slow: number
  /** If it was unknown or not done: the outcome of the same command once the network has healed, and the state then. */
  readonly repeated?: { readonly told: string; readonly truth: readonly Truth[] }
}

/** Limit of one attempt. It is waited for if only the limit ends the attempt; otherwise it must not end a slow one. */
const limitsFor = (fault: Fault, factor: number): RequestTimeouts => {
  const ms = (endsByLimit(fault) ? 2_000 : 10_000) * factor
  return { leaseMs: ms, bodyMs: ms, pageMs: ms }
}
/** At this request with the fault, the caller of a change cancels. All other cells have ended by themselves before. */
const PATIENCE = 4
/** Idle connections; more than there are attempts, as in a process that was busy before. */
const IDLE = 4

/** Factor for the limits each time that a slow machine, not the fault, decided the course. */
const SLOWER = [1, 4, 16]

/** Runs a cell until only its fault has affected the course. */
export async function play(place: Place, one: Play): Promise<Course> {
  let problem: unknown
  for (const [slow, factor] of SLOWER.entries()) {
    try {
      const course = await playOnce(place, one, factor)
      // Idle connections may have ended before the fault could strike them.
      const isStruck = course !== undefined && (course.injected > 0 || slow === SLOWER.length - 1)
      if (isStruck) return { ...course, slow }
    } catch (error) {
      problem = error
    }
  }
  throw new Error('the machine is too slow for any limit', { cause: problem })
}

/** @returns undefined if a request without a fault had no answer in time */
async function playOnce(
  place: Place,
  { operation, fault, lasts, write, change = 'set' }: Play,
  factor: number,
): Promise<Omit<Course, 'slow'> | undefined> {
  const subject = SUBJECTS[operation]
  const make = (subject?.changes ?? WRITES)[change]
  if (subject === undefined || make === undefined) throw new Error(`no operation ${operation}, or no change ${change}`)
  const proxy = await startFaultProxy({ target: place.target })
  const store = await place.open(proxy.port, limitsFor(fault, factor))
  const ids = { commandId: randomUUID(), leaseId: randomUUID(), nextLeaseId: randomUUID() }
  const calm: Scene = {
    store,
    direct: place.direct,
    stream: `${operation}/${randomUUID()}`,
    write,
    change: make(),
    ...ids,
  }
  try {
    await subject.prepare(calm)
    if (fault.kind === 'dead-socket') await warmUp(proxy, store)
    const struck = { ...fault, on: subject.request, ...(lasts ? {} : { times: 1 }) }
    const told = await suffer(subject, calm, proxy, struck)
    const injected = proxy.injected.filter(({ request }) => isAffected(subject, request)).length
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

/** The operation during the fault; if the fault is permanent, the operation is canceled. */
async function suffer(subject: Subject, scene: Scene, proxy: FaultProxy, fault: Fault): Promise<string> {
  const giveUp = new AbortController()
  const before = async () => {
    if (proxy.injected.length === (subject.patience ?? PATIENCE)) giveUp.abort()
  }
  // Idle connections are dead; connections from now on are alive.
  const when = (request: Seen) =>
    isAffected(subject, request) && (fault.kind !== 'dead-socket' || request.connection <= IDLE)
  proxy.add({ ...fault, before, when })
  return say(subject, { ...scene, signal: giveUp.signal })
}

function isAffected({ request, when }: Subject, { operation, target }: Seen): boolean {
  return operation === request && (when === undefined || when(target))
}

/** Only the limit of the caller ends it. */
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

/** Leaves idle connections behind: their requests were in flight at the same time. */
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
