import { globOf } from '../ops/glob.ts'
import { thisHost } from '../ops/transact/transact.ts'
import type { StreamStore } from '../store/store.ts'
import type { ChangeResult } from '../stream/operations/operation.ts'
import {
  callback,
  flag,
  inField,
  isObject,
  listOf,
  nonEmptyText,
  objectOf,
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
import { claimMs, readEnding } from './operations.ts'
import { type Successors, successorSpecs } from './specs.ts'

/** What both kinds of work may be told besides. */
export interface WorkCallbacks {
  /**
   * Called once the end of an event is durable, for what follows from it, as a message to the worker of a join that it
   * released (`onJoined`). A process that dies in between never calls it: it is a short cut, what must happen stands in the
   * stream. What it throws `workOn` throws; `worker` goes on, and hands it to `observe` as a fault or, without one, throws the
   * first when it ends.
   */
  readonly afterWrite?: (result: ChangeResult, job: Job) => void | Promise<void>
}

/** What a worker looks for, and how it goes about it. */
export interface WorkerOptions extends Omit<LoopOptions, 'names' | 'owner' | 'observe'>, WorkCallbacks {
  /** Names of the events it works on. */
  readonly name: string | readonly string[]
  /** Name of the worker: who holds the claims. Default: host and process. */
  readonly owner?: string
  /** Sees what happens. What it throws does not stop the worker, which throws the first of it when it ends. */
  readonly observe?: (happening: WorkerEvent) => void
}

/** How one event is worked on. */
export interface WorkOnOptions extends Omit<WorkOptions, 'owner'>, WorkCallbacks {
  /** Name of the worker: who holds the claim. Default: host and process. */
  readonly owner?: string
  /** Claims it even from a worker that makes no claims and has not outlived its time. */
  readonly takeOver?: boolean
}

const WORK = { owner: requiredText, by: requiredText, why: reason, claimMs, leaseWaitMs: waitMs, write, signal }

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
  concurrency: whole(1),
  maxAttempts: whole(1),
  until: word(['once', 'until-empty']),
  drain: signal,
  maxIdleMs: waitMs,
  observe: callback,
  afterWrite: callback,
})

const readWorkOn = objectOf<WorkOnOptions>({ ...WORK, takeOver: flag, afterWrite: callback })

/**
 * Works on all events of a name, in all streams: claims them one after the other (`concurrency` at a time), runs `work`, keeps
 * the claim alive meanwhile, and writes how it ended. The event of a worker that died is taken over when its claim has run out.
 *
 * ```ts
 * await worker(store, { name: 'Search', concurrency: 4, drain }, async job => {
 *   const found = await search(job.event.key, { signal: job.signal })
 *   return found.length > 0 ? advance({ next: 'Rank' }) : complete('nothing found')
 * })
 * ```
 *
 * What `work` throws fails the event, with the error's message. Without a result it is completed.
 *
 * @returns what it did, once `drain` or `signal` aborts or `until` is reached
 * @throws InvalidValue options with which it could do nothing; the store's faults but `StoreUnreachable`: an outage is waited for
 */
export async function worker(store: StreamStore, options: WorkerOptions, work: Work): Promise<LoopReport> {
  checkStore(store)
  const { name, owner = defaultOwner(), afterWrite, observe, ...others } = readWorker(options, 'options')
  const names = typeof name === 'string' ? [name] : name
  const calls = new Calls(afterWrite, observe)
  const observing = { ...others, names, owner, observe: (happening: WorkerEvent) => calls.see(happening) }
  const report = await workLoop(store, observing, checked(work)).finally(() => calls.settled())
  calls.throwFault()
  return report
}

/**
 * Works on one event that is known by its id, as `worker` does on those it finds.
 *
 * @returns reported, not-claimed, lost or unreported
 * @throws InvalidValue a text, id or time that can never be right; the signal's reason, if it was aborted from the beginning; the
 * store's faults; what `afterWrite` throws
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
  const outcome = await workEvent(store, target, { ...others, owner }, checked(work))
  if (outcome.kind === 'reported') await afterWrite?.(outcome.result, outcome.job)
  return outcome
}

/** The work is done, and nothing follows. */
export function complete(msg?: string): WorkResult {
  return { op: 'complete', ...(msg === undefined ? {} : { msg: text(msg, 'msg') }) }
}

/** The work is done, and this follows: the next step of the event's thread, or new threads and their join. */
export function advance(successors: Successors): WorkResult {
  return { op: 'advance', ...successorSpecs(successors) }
}

/** The work failed: the event is aborted, what is open below it canceled. */
export function fail(msg?: string): WorkResult {
  return { op: 'fail', ...(msg === undefined ? {} : { msg: text(msg, 'msg') }) }
}

/** The event is handed back, for another try or another worker. */
export function release(): WorkResult {
  return { op: 'release' }
}

function defaultOwner(): string {
  return `${thisHost()}/${process.pid}`
}

/** Fails an event whose work gave something else: what that is to mean in the stream nobody knows. */
function checked(work: Work): Work {
  callback(work, 'work')
  return async job => {
    const ending: unknown = await work(job)
    if (ending === undefined) return undefined
    if (!isObject(ending)) throw wrong('ending', ending, 'complete(), advance(), fail(), release() or nothing')
    return readEnding(ending, 'ending')
  }
}

/** The calls of `afterWrite` in a loop, which does not wait for them, and those of `observe`, which it would not outlive. */
class Calls {
  readonly #afterWrite: WorkCallbacks['afterWrite']
  readonly #observe: WorkerOptions['observe']
  readonly #running = new Set<Promise<void>>()
  /** Thrown at the end. */
  #fault: { readonly error: unknown } | undefined

  constructor(afterWrite: WorkCallbacks['afterWrite'], observe: WorkerOptions['observe']) {
    this.#afterWrite = afterWrite
    this.#observe = observe
  }

  see(happening: WorkerEvent): void {
    this.#tell(happening)
    if (this.#afterWrite === undefined || happening.kind !== 'outcome' || happening.outcome.kind !== 'reported') return
    const { result, job } = happening.outcome
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
      else this.#tell({ kind: 'fault', stream: job.stream, event: job.event.id, error })
    }
  }

  #tell(happening: WorkerEvent): void {
    try {
      this.#observe?.(happening)
    } catch (error) {
      this.#fault ??= { error }
    }
  }
}

/**
 * For `afterWrite`: calls `fire` with the id of each join that the change released, all its branches having ended. However many
 * workers end the branches at the same time, exactly one of them sees that.
 *
 * ```ts
 * afterWrite: onJoined(join => queue.send({ stream: 'orders/4711', event: join }))
 * ```
 *
 * A worker's `afterWrite` gets the job too, and so does `fire`.
 */
export function onJoined<Rest extends readonly unknown[]>(
  fire: (join: string, result: ChangeResult, ...rest: Rest) => void | Promise<void>,
): (result: ChangeResult, ...rest: Rest) => Promise<void> {
  callback(fire, 'fire')
  return async (result, ...rest) => {
    for (const join of result.joined) await fire(join, result, ...rest)
  }
}

/** For `afterWrite`: calls `fire` when the change ended the stream. Of all who change the stream exactly one sees that. */
export function onDone<Rest extends readonly unknown[]>(
  fire: (result: ChangeResult, ...rest: Rest) => void | Promise<void>,
): (result: ChangeResult, ...rest: Rest) => Promise<void> {
  callback(fire, 'fire')
  return async (result, ...rest) => {
    if (result.done && result.outcome === 'done') await fire(result, ...rest)
  }
}
