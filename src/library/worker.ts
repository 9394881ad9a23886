import { globOf } from '../ops/glob.ts'
import { claimMs } from '../ops/operation-input.ts'
import { readPartition } from '../ops/shards/partition.ts'
import { isFollowed, thisHost } from '../ops/transact/transact.ts'
import type { StreamStore } from '../store/store.ts'
import type { EventData } from '../stream/data.ts'
import { readDataInput } from '../stream/data-input.ts'
import type { ChangeResult } from '../stream/operations/operation.ts'
import { MAX_ATTEMPTS, parseBackoff } from '../stream/retry-policy.ts'
import { retryOf, SUCCESSORS, type SuccessorSpecs, type Successors } from '../stream/specs.ts'
import {
  callback,
  flag,
  inField,
  isObject,
  listOf,
  milliseconds,
  nonEmptyText,
  objectOf,
  oneOfOps,
  type Read,
  required,
  requiredText,
  signal,
  storedText,
  text,
  whole,
  word,
  wrong,
} from '../stream/values.ts'
import { workLoop } from '../worker/loop.ts'
import type {
  Job,
  LoopOptions,
  LoopReport,
  Work,
  WorkerEvent,
  WorkOptions,
  WorkOutcome,
  WorkResult,
} from '../worker/types.ts'
import { workEvent } from '../worker/work-event.ts'
import { checkStore, checkTarget, reason, waitMs, write } from './checks.ts'
import type { ResultOption } from './data.ts'

/** Callbacks of `worker` and `workOn`. */
export interface WorkCallbacks {
  /**
   * Called when the result of an event is durable, for follow-up actions such as a message to the worker of a released
   * join (`onJoined`). It is a shortcut only: a process that dies in between never calls it, nor is it called for an event that is
   * given up without work (`given-up` in `observe`), and the stream records everything that has to happen. A result with
   * `duplicate: true` was written by an earlier attempt. `workOn` rejects with its errors. `worker` continues, and passes its
   * errors to `observe` as faults or, without `observe`, throws the first one at the end.
   */
  readonly afterWrite?: (result: ChangeResult, job: Job) => void | Promise<void>
}

/** Options of `worker`. */
export interface WorkerOptions extends Omit<LoopOptions, 'names' | 'owner' | 'observe'>, WorkCallbacks {
  /** Names of the events to work on. */
  readonly name: string | readonly string[]
  /** Name of the worker, the owner of its claims. Default: host and process id. */
  readonly owner?: string
  /** Called for everything that happens. Its errors do not stop the worker, which throws the first one at the end. */
  readonly observe?: (event: WorkerEvent) => void
}

/** Options of `workOn`. */
export interface WorkOnOptions extends Omit<WorkOptions, 'owner'>, WorkCallbacks {
  /** Name of the worker, the owner of the claim. Default: host and process id. */
  readonly owner?: string
  /** Claims the event even though a worker without claims may still be working on it. */
  readonly takeOver?: boolean
}

const backoff: Read<string> = (given, field) => {
  inField(field, () => parseBackoff(text(given, field)))
  return text(given, field)
}

/** Validates the result of work. Its message may have any length and any characters: it is cleaned and truncated later. */
const readEnding = oneOfOps<WorkResult>({
  complete: { msg: text, result: readDataInput },
  advance: { ...SUCCESSORS, result: readDataInput },
  fail: { msg: text, result: readDataInput, transient: flag, retry: retryOf },
  release: {},
})

const WORK = {
  owner: requiredText,
  by: requiredText,
  why: reason,
  claimMs,
  leaseWaitMs: waitMs,
  write,
  onLeaseAttempt: callback,
  maxAttempts: whole(1, MAX_ATTEMPTS),
  backoff,
  signal,
}

const names: Read<string | readonly string[]> = (given, field) => {
  if (typeof given === 'string') return requiredText(given, field)
  const list = listOf(requiredText)(given, field)
  if (list.length === 0) throw wrong(field, given, 'the name of the events it works on, or some names')
  return list
}

const pattern: Read<string> = (given, field) => {
  const read = nonEmptyText(given, field)
  inField(field, () => globOf(read))
  return read
}

const readWorker = objectOf<WorkerOptions>({
  ...WORK,
  name: required(names),
  topic: storedText(),
  match: pattern,
  partition: readPartition,
  deferMs: milliseconds(0, Number.MAX_SAFE_INTEGER),
  concurrency: whole(1),
  until: word(['once', 'until-empty']),
  drain: signal,
  maxIdleMs: waitMs,
  observe: callback,
  afterWrite: callback,
})

const readWorkOn = objectOf<WorkOnOptions>({ ...WORK, takeOver: flag, afterWrite: callback })

/**
 * Works on all events of a name, in all streams: claims them one by one (`concurrency` at a time), runs `work` while it sends
 * heartbeats, and writes the result. It takes over the event of a dead worker when the claim has expired.
 *
 * ```ts
 * await worker(store, { name: 'Search', concurrency: 4, drain }, async job => {
 *   const found = await search(job.event.key, { signal: job.signal })
 *   return found.length > 0 ? advance({ next: 'Rank' }) : complete('nothing found')
 * })
 * ```
 *
 * An error of `work` fails the event, with the message of the error; a result can be thrown as well as returned. If `work` returns
 * nothing, the event is completed.
 *
 * @returns a report, when `drain` or `signal` aborts or `until` is reached
 * @throws InvalidValue for invalid options; the store's faults except `StoreUnreachable`: the worker waits for the end of an outage
 */
export async function worker(store: StreamStore, options: WorkerOptions, work: Work): Promise<LoopReport> {
  checkStore(store)
  const { name, owner = defaultOwner(), afterWrite, observe, ...others } = readWorker(options, 'options')
  const names = typeof name === 'string' ? [name] : name
  const calls = new Calls(afterWrite, observe)
  const observing = { ...others, names, owner, observe: (event: WorkerEvent) => calls.observe(event) }
  const report = await workLoop(store, observing, validated(work)).finally(() => calls.settled())
  calls.throwFault()
  return report
}

/**
 * Works on one event, given by its id, in the way of `worker`.
 *
 * @returns `reported`, `not-claimed`, `lost` or `unreported`
 * @throws InvalidValue for an invalid text, id or time; the signal's reason, if it was aborted before the call; the store's
 * faults; errors of `afterWrite`
 */
export async function workOn(
  store: StreamStore,
  stream: string,
  event: string,
  options: WorkOnOptions,
  work: Work,
): Promise<WorkOutcome> {
  checkTarget(store, stream)
  const target = { stream, event: nonEmptyText(event, 'event') }
  const { owner = defaultOwner(), afterWrite, ...others } = readWorkOn(options, 'options')
  const outcome = await workEvent(store, target, { ...others, owner }, validated(work))
  if (outcome.kind === 'reported') await afterWrite?.(outcome.result, outcome.job)
  return outcome
}

/** Result of work: completed, without successors. */
export function complete(msg?: string, options: ResultOption = {}): WorkResult {
  return { op: 'complete', ...(msg === undefined ? {} : { msg: text(msg, 'msg') }), ...readResult(options, 'options') }
}

/** Result of work: done, with successors: the next step of the event's thread, or new threads and their join. */
export function advance(successors: Successors & ResultOption): WorkResult {
  return { op: 'advance', forks: [], ...readAdvance(successors, 'successors') }
}

/** Result of work: failed. The event is aborted, open events below it are canceled. */
export function fail(msg?: string, options: ResultOption = {}): WorkResult {
  return { op: 'fail', ...(msg === undefined ? {} : { msg: text(msg, 'msg') }), ...readResult(options, 'options') }
}

const readAdvance = objectOf<Partial<SuccessorSpecs> & { readonly result?: EventData }>({
  ...SUCCESSORS,
  result: readDataInput,
})
const readResult = objectOf<{ readonly result?: EventData }>({ result: readDataInput })

/**
 * Result of work: failed for a passing reason. The event is tried again after a pause, while attempts are left: those of its
 * `retry`, else those of the worker (`maxAttempts`, `backoff`). Then it is aborted.
 */
export function transient(msg?: string): WorkResult {
  return { op: 'fail', transient: true, ...(msg === undefined ? {} : { msg: text(msg, 'msg') }) }
}

/** Result of work: none. The claim is released, and this or another worker can try again. */
export function release(): WorkResult {
  return { op: 'release' }
}

function defaultOwner(): string {
  return `${thisHost()}/${process.pid}`
}

/** Validates the result of work: any other value fails the event, because it has no meaning in the stream. */
function validated(work: Work): Work {
  callback(work, 'work')
  return async job => {
    const result: unknown = await orThrown(work, job)
    if (result === undefined) return undefined
    if (!isObject(result))
      throw wrong('ending', result, 'complete(), advance(), fail(), transient(), release() or nothing')
    return readEnding(result, 'ending')
  }
}

/** A thrown `transient()` or `fail()` is a result, too; of work that was stopped an error says nothing. */
async function orThrown(work: Work, job: Job): Promise<unknown> {
  try {
    return await work(job)
  } catch (error) {
    if (isObject(error) && !(error instanceof Error) && 'op' in error && !job.signal.aborted) return error
    throw error
  }
}

/** Calls `afterWrite` and `observe` for a loop: the loop does not wait for `afterWrite`, and `observe` cannot break it. */
class Calls {
  readonly #afterWrite: WorkCallbacks['afterWrite']
  readonly #observe: WorkerOptions['observe']
  readonly #running = new Set<Promise<void>>()
  /** The first error, thrown at the end of the loop. */
  #fault: { readonly error: unknown } | undefined

  constructor(afterWrite: WorkCallbacks['afterWrite'], observe: WorkerOptions['observe']) {
    this.#afterWrite = afterWrite
    this.#observe = observe
  }

  observe(event: WorkerEvent): void {
    this.#notify(event)
    if (this.#afterWrite === undefined || event.kind !== 'outcome' || event.outcome.kind !== 'reported') return
    const { result, job } = event.outcome
    const call = this.#call(result, job).finally(() => this.#running.delete(call))
    this.#running.add(call)
  }

  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault.error
  }

  async #call(result: ChangeResult, job: Job): Promise<void> {
    try {
      await this.#afterWrite?.(result, job)
    } catch (error) {
      if (this.#observe === undefined) this.#fault ??= { error }
      else this.#notify({ kind: 'fault', stream: job.stream, event: job.event.id, error })
    }
  }

  #notify(event: WorkerEvent): void {
    const failed = (error: unknown) => {
      this.#fault ??= { error }
    }
    try {
      const returned: unknown = this.#observe?.(event)
      // A promise is not awaited, but its rejection would end the process.
      if (returned instanceof Promise) returned.catch(failed)
    } catch (error) {
      failed(error)
    }
  }
}

/**
 * For `afterWrite`: calls `fire` with the id of each join that the change released because all its branches have ended. If
 * several workers end branches at the same time, `fire` is called in exactly one of them; when its change is repeated with the
 * same command id, it is called again, with `duplicate: true` in the result.
 *
 * ```ts
 * afterWrite: onJoined(join => queue.send({ stream: 'orders/4711', event: join }))
 * ```
 *
 * The other arguments of `afterWrite`, such as the job of a worker, are passed to `fire`.
 */
export function onJoined<Rest extends readonly unknown[]>(
  fire: (join: string, result: ChangeResult, ...rest: Rest) => void | Promise<void>,
): (result: ChangeResult, ...rest: Rest) => Promise<void> {
  callback(fire, 'fire')
  return async (result, ...rest) => {
    for (const join of result.joined) await fire(join, result, ...rest)
  }
}

/**
 * For `afterWrite`: calls `fire` if the change ended the stream, which happens for exactly one change; when that is repeated with
 * the same command id, `fire` is called again, with `duplicate: true` in the result.
 */
export function onDone<Rest extends readonly unknown[]>(
  fire: (result: ChangeResult, ...rest: Rest) => void | Promise<void>,
): (result: ChangeResult, ...rest: Rest) => Promise<void> {
  callback(fire, 'fire')
  return async (result, ...rest) => {
    if (result.done && isFollowed(result)) await fire(result, ...rest)
  }
}
