import { randomUUID } from 'node:crypto'
import { type JournalEntry, readStream } from '../../../src/ops/read-stream.ts'
import { transact } from '../../../src/ops/transact/transact.ts'
import { openMemoryStore } from '../../../src/store/memory.ts'
import type { StreamRow, StreamStore } from '../../../src/store/store.ts'
import { EMPTY_DOCUMENT } from '../../../src/stream/document.ts'
import type { EventSpec, Operation } from '../../../src/stream/operations/operation.ts'
import { summarize } from '../../../src/stream/summarize.ts'
import type { Timing } from '../../../src/util/clock.ts'
import type { ExecutedDecision, WatchdogDecision } from '../../../src/watchdog/decision.ts'
import type { WatchdogOptions } from '../../../src/watchdog/options.ts'
import { Pass } from '../../../src/watchdog/pass.ts'
import type { FailedPass, MovedStream, Observer, PassReport } from '../../../src/watchdog/report.ts'

export const START_MS = Date.UTC(2026, 2, 1, 12)
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const INTERVAL = 10 * SECOND

type Call = 'list' | 'read' | 'change'

interface Sleeper {
  readonly atMs: number
  wake(): void
}

/** A store, its clock, and a machine's monotonic clock; both advance when the test says so. */
export class World {
  atMs = 0
  /** The offset of the store's clock from the elapsed time. */
  clockOffsetMs = 0
  clockRate = 1
  /** Streams without a summary in listings, because of a foreign last write. */
  readonly foreign = new Set<string>()
  readonly calls: string[] = []
  /** The fault of a call. */
  fault: (call: Call, name: string) => Error | undefined = () => undefined
  /** An action of another before a change is made. */
  before: (call: Call, name: string) => Promise<unknown> | undefined = () => undefined
  readonly base = openMemoryStore({ clock: () => this.nowMs, random: () => 0.5 })
  readonly store: StreamStore = this.#storeOf()
  readonly #sleepers: Sleeper[] = []

  readonly timing: Timing = {
    monotonicMs: () => this.atMs,
    wallMs: () => this.nowMs,
    random: () => 0.5,
    pause: (ms, signal) => this.#pause(ms, signal),
  }

  get nowMs(): number {
    return Math.round(START_MS + this.atMs * this.clockRate + this.clockOffsetMs)
  }

  /** Time passes without any activity. */
  wait(ms: number): void {
    this.atMs += ms
  }

  /** Time passes, and waiting code continues when its time has come. */
  async run(ms: number): Promise<void> {
    const endMs = this.atMs + ms
    for (;;) {
      await this.#settle()
      const next = this.#sleepers.reduce<Sleeper | undefined>((a, b) => (a && a.atMs <= b.atMs ? a : b), undefined)
      if (next === undefined || next.atMs > endMs) break
      this.atMs = Math.max(this.atMs, next.atMs)
      next.wake()
    }
    this.atMs = Math.max(this.atMs, endMs)
    await this.#settle()
  }

  /** Until there are no further requests to the store. */
  async #settle(): Promise<void> {
    for (let calls = -1; calls !== this.calls.length; ) {
      calls = this.calls.length
      await rest()
    }
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        this.#sleepers.splice(this.#sleepers.indexOf(sleeper), 1)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper = { atMs: this.atMs + Math.max(0, ms), wake }
      this.#sleepers.push(sleeper)
      if (signal.aborted) wake()
      else signal.addEventListener('abort', wake)
    })
  }

  #storeOf(): StreamStore {
    const { base } = this
    const meet = async (call: Call, name: string) => {
      this.calls.push(`${call} ${name}`.trim())
      await this.before(call, name)
      const error = this.fault(call, name)
      if (error !== undefined) throw error
    }
    const shown = <Row extends StreamRow>(row: Row): Row => {
      if (!this.foreign.has(row.name)) return row
      const { summary: _, ...rest } = row
      return rest as Row
    }
    const replaced: Partial<StreamStore> = {
      list: query => listing(query),
      read: async (name, signal) => {
        await meet('read', name)
        const stored = await base.read(name, signal)
        return stored && shown(stored)
      },
      update: async (name, decide, options) => {
        await meet('change', name)
        const outcome = await base.update(name, decide, { ...options, waitMs: 0 })
        if (outcome.kind === 'committed') this.foreign.delete(name)
        return outcome
      },
    }
    const listing = async function* (query: Parameters<StreamStore['list']>[0]) {
      await meet('list', '')
      for await (const page of base.list(query)) yield page.map(shown)
    }
    return new Proxy(base, {
      get(target, key) {
        if (Object.hasOwn(replaced, key)) return Reflect.get(replaced, key)
        const value: unknown = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  /** One change by a worker or an operator. */
  async change(stream: string, operation: Operation): Promise<void> {
    const options = { commandId: randomUUID(), by: 'tester', leaseWaitMs: 0 }
    const outcome = await transact(this.base, stream, operation, options)
    if (outcome.kind !== 'done') throw new Error(`${operation.op}: ${JSON.stringify(outcome)}`)
    this.foreign.delete(stream)
  }

  /** A stream with branches `01.00`, `02.00` … */
  async create(
    stream: string,
    forks: readonly Partial<EventSpec>[] = [],
    root: Partial<EventSpec> = {},
  ): Promise<void> {
    await this.change(stream, {
      op: 'init',
      root: { name: 'Start', ...root },
      forks: forks.map(fork => ({ name: 'Step', ...fork })),
      hold: false,
      born: randomUUID(),
    })
  }

  /** A stream with one branch in progress that has to send heartbeats within `timeout`. */
  async worked(stream: string, timeout = '00:01:00', more: Partial<EventSpec> = {}): Promise<void> {
    await this.create(stream, [{ timeout, ...more }])
    await this.start(stream)
  }

  /** The same as `worked`, many times over and much faster. */
  async workedMany(streams: readonly string[], timeout = '00:01:00'): Promise<void> {
    const [first = 'none', ...others] = streams
    await this.worked(first, timeout)
    const stored = await this.base.read(first)
    if (stored?.summary === undefined) throw new Error('it has a summary')
    for (const name of others) await this.base.create(name, stored.body, stored.summary)
  }

  start(stream: string, event = '01.00'): Promise<void> {
    return this.change(stream, { op: 'start', event, owner: 'w1', claimMs: HOUR })
  }

  complete(stream: string, event = '01.00'): Promise<void> {
    return this.change(stream, { op: 'complete', event, owner: 'w1' })
  }

  touch(stream: string, event = '01.00'): Promise<void> {
    return this.change(stream, { op: 'touch', event, owner: 'w1', claimMs: HOUR })
  }

  /** A foreign document: without a summary. */
  async put(stream: string, text: string): Promise<void> {
    const summary = summarize(EMPTY_DOCUMENT, { nowMs: this.nowMs, lastBy: '' })
    await this.base.create(stream, Buffer.from(text), summary)
    await this.rewrite(stream, () => text)
  }

  /** Another writer changes the text. */
  async rewrite(stream: string, change: (text: string) => string): Promise<void> {
    const holder = { by: 'foreign', host: '', pid: 0, purpose: '', sinceMs: 0 }
    await this.base.update(
      stream,
      ({ body, summary }) => {
        if (summary === undefined) throw new Error('every stream of the memory store has a summary')
        return { kind: 'put', body: Buffer.from(change(Buffer.from(body).toString())), summary }
      },
      { waitMs: 0, holder },
    )
    this.foreign.add(stream)
  }

  async remove(stream: string): Promise<void> {
    await this.base.remove(stream, {})
    this.foreign.delete(stream)
  }

  async lease(stream: string): Promise<() => Promise<unknown>> {
    const leaseId = randomUUID()
    const holder = { by: 'other', host: '', pid: 0, purpose: '', sinceMs: 0 }
    await this.base.acquireLease(stream, { leaseId, durationS: -1, holder })
    return () => this.base.releaseLease(stream, leaseId)
  }

  async statuses(stream: string): Promise<string[]> {
    const view = await readStream(this.base, stream)
    return view?.document.events.map(({ id, status }) => `${id} ${status}`) ?? []
  }

  async status(stream: string, event = '01.00'): Promise<string> {
    const view = await readStream(this.base, stream)
    return view?.stream.find(event)?.status ?? 'gone'
  }

  async text(stream: string): Promise<string> {
    return Buffer.from((await this.base.read(stream))?.body ?? []).toString()
  }

  /** The journal entries of watchdogs. */
  async entries(stream: string): Promise<readonly JournalEntry[]> {
    const view = await readStream(this.base, stream)
    return view?.transactions().filter(({ commandId }) => commandId.startsWith('watchdog:')) ?? []
  }

  /** The number of times `call` was made, for a stream or for all. */
  count(call: string): number {
    return this.calls.filter(made => made.startsWith(call)).length
  }
}

/** All work that needs no time is done. */
export async function rest(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise<void>(resolve => setImmediate(resolve))
}

/** Records its notifications. */
export class Notes implements Observer {
  readonly order: string[] = []
  readonly all: ExecutedDecision[] = []
  readonly reports: PassReport[] = []
  readonly failures: FailedPass[] = []
  readonly plans: WatchdogDecision[] = []
  readonly moves: MovedStream[] = []
  readonly faults: string[] = []
  readonly spots: string[] = []
  readonly troubles: unknown[] = []

  began = (kind: string): void => void this.order.push(`began ${kind}`)
  moved = (streams: readonly MovedStream[]): void => {
    this.order.push(`moved ${streams.map(({ listed }) => listed.name).join()}`)
    this.moves.push(...streams)
  }
  planned = (decision: WatchdogDecision): void => void this.plans.push(decision)
  executed = (carried: ExecutedDecision): void => {
    this.order.push(`carried ${carried.outcome}`)
    this.all.push(carried)
  }
  passed = (report: PassReport): void => {
    this.order.push('passed')
    this.reports.push(report)
  }
  failed = (failure: FailedPass): void => {
    this.order.push('failed')
    this.failures.push(failure)
  }
  unreadable = (stream: string): void => void this.faults.push(stream)
  gap = (fromMs: number, toMs: number, why: string): void => void this.spots.push(`${why} ${toMs - fromMs}`)
  faulty = (error: unknown): void => void this.troubles.push(error)

  get outcomes(): string[] {
    return this.all.map(({ outcome, decision }) => `${decision.stream} ${decision.kind} ${outcome}`)
  }
}

export const NEVER_ABORTED = new AbortController().signal

/** Options of a watchdog over the world, with records of its notifications. */
export function optionsOf(world: World, more: Partial<WatchdogOptions> = {}): WatchdogOptions {
  return {
    intervalMs: INTERVAL,
    onDue: 'abort-event',
    maxPerPass: 1_000,
    maxShare: 0.2,
    concurrency: 4,
    by: 'watchdog@test',
    observers: [],
    timing: world.timing,
    ...more,
  }
}

/** A watchdog whose passes the test calls. */
export function dogOf(world: World, more: Partial<WatchdogOptions> = {}, store: StreamStore = world.store) {
  const notes = new Notes()
  const options = optionsOf(world, { ...more, observers: [notes, ...(more.observers ?? [])] })
  const watch = new Pass(store, options, { trustsClock: false, isDryRun: false, timing: world.timing })
  return {
    notes,
    watch,
    sweep: () => watch.pass('sweep', NEVER_ABORTED),
    appointment: () => watch.pass('appointment', NEVER_ABORTED),
  }
}
