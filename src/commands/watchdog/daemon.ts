import { interruptedProblem } from '../../cli/error-problem.ts'
import { EndsWith, type Problem } from '../../cli/problem.ts'
import type { Runtime, RuntimeStore } from '../../cli/runtime.ts'
import { sourceText } from '../../cli/store.ts'
import { VERSION } from '../../cli/version.ts'
import { openShards, type Shards } from '../../ops/shards/shards.ts'
import { keepNoDocuments } from '../../ops/transact/commit.ts'
import { readWatchdogState } from '../../ops/watchdog-state/parse.ts'
import { shardCounts } from '../../ops/watchdog-state/state.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
import type { HookFeed } from '../../watchdog/hooks/hooks.ts'
import type { Hooks } from '../../watchdog/hooks/target.ts'
import { type LivenessProbe, openLiveness, touching } from '../../watchdog/http/liveness.ts'
import { runWatchdog } from '../../watchdog/loop.ts'
import type { WatchdogOptions } from '../../watchdog/options.ts'
import { type PurgeReport, Purger } from '../../watchdog/purge.ts'
import type { FailedPass, Observer } from '../../watchdog/report.ts'
import { StateWriter } from '../../watchdog/state/writer.ts'
import { openSystemd, type Systemd } from '../../watchdog/systemd.ts'
import { heapObserver } from './heap.ts'
import { hookTargets } from './hook-targets.ts'
import { daemonHooks, HOOKS_DRAIN_MS } from './hooks.ts'
import { type HttpEndpoints, openEndpoints } from './http.ts'
import {
  faultEntry,
  listeningEntry,
  purgeEntry,
  recoveryEntry,
  startEntry,
  stopEntry,
  stoppingEntry,
} from './log/entries.ts'
import { openLog, type WatchdogLog } from './log/log.ts'
import { purgeOptions } from './purge.ts'
import type { Settings, WatchdogCommandOptions } from './settings.ts'

/** Time limit for reading the state of other watchdogs, ms. */
const STATE_MS = 10_000

/** Watches until a signal arrives. Invalid settings are reported before anything is changed. */
export async function runDaemon(
  opened: RuntimeStore,
  options: WatchdogCommandOptions,
  settings: Settings,
  watchdog: WatchdogOptions,
  runtime: Runtime,
): Promise<Problem | undefined> {
  const { hooks, warnings } = await hookTargets(settings, runtime.env)
  const log = await openLog(options, runtime)
  const daemon = new Daemon(opened, settings, watchdog, log, runtime)
  for (const text of [...settings.warnings, ...warnings]) log.note({ level: 'warn', kind: 'settings', text })
  const isDrained = await daemon.run(hooks)
  if (!isDrained) return interruptedProblem(runtime.signal)
  throw new EndsWith(0)
}

/** The loop and everything that runs beside it. */
class Daemon {
  readonly #opened: RuntimeStore
  readonly #settings: Settings
  readonly #watchdog: WatchdogOptions
  readonly #log: WatchdogLog
  readonly #runtime: Runtime
  readonly #liveness: LivenessProbe
  readonly #store: StreamStore
  readonly #startupFailure = new StartupFailure()
  readonly #observers: Observer[] = []
  /** The last notification to systemd; takes at most a second. */
  #farewell: Promise<void> | undefined

  constructor(opened: RuntimeStore, settings: Settings, watchdog: WatchdogOptions, log: WatchdogLog, runtime: Runtime) {
    this.#opened = opened
    this.#settings = settings
    this.#watchdog = watchdog
    this.#log = log
    this.#runtime = runtime
    this.#liveness = openLiveness(watchdog.intervalMs, () => performance.now())
    this.#store = touching(opened.store, this.#liveness.touch)
    keepNoDocuments(this.#store)
  }

  /** @returns false if the drain timed out. @throws ListenFailed; the error that the first pass failed with */
  async run(targets: Hooks | undefined): Promise<boolean> {
    const { intervalMs } = this.#watchdog
    const operation = await this.#openEndpoints(intervalMs)
    this.#log.note(this.#startEntry())
    if (operation !== undefined) this.#log.note(listeningEntry(operation.listening))
    const systemd = this.#openSystemd()
    const hooks = targets && this.#openHooks(targets, operation)
    const shards = this.#openShards()
    const state = this.#openState()
    const purger = this.#openPurger(shards, operation)
    this.#observers.push(this.#liveness, this.#startupFailure, this.#log, heapObserver())
    this.#observers.push(...(operation?.observers ?? []))
    for (const each of [state, hooks, systemd, purger]) if (each !== undefined) this.#observers.push(each)
    const signal = AbortSignal.any([this.#runtime.signal, this.#startupFailure.signal])
    signal.addEventListener('abort', () => this.#stopping(operation, systemd), { once: true })
    signal.addEventListener('abort', () => void hooks?.drain(HOOKS_DRAIN_MS), { once: true })
    try {
      const isDrained = await drained(this.#watch({ hooks, shards, state, purger, signal }), signal)
      this.#startupFailure.throwIfAny()
      return isDrained
    } finally {
      this.#liveness.stop()
      await this.#farewell
      systemd?.close()
      await operation?.close()
    }
  }

  async #openEndpoints(intervalMs: number): Promise<HttpEndpoints | undefined> {
    const { listen, listenNames } = this.#settings
    const { host, nowMs } = this.#runtime
    const address = listen && { ...listen, names: [host, ...listenNames] }
    return address && (await openEndpoints(address, this.#liveness, intervalMs, nowMs))
  }

  async #watch(parts: {
    readonly hooks: HookFeed | undefined
    readonly shards: Shards | undefined
    readonly state: StateWriter
    readonly purger: Purger | undefined
    readonly signal: AbortSignal
  }): Promise<void> {
    const { hooks, shards, state, purger, signal } = parts
    const lastSeenMs = await this.#readOtherStates()
    const sharing = shards?.run(signal)
    void state.start()
    await shards?.ready
    const options = {
      ...this.#watchdog,
      observers: this.#observers,
      wantsMoved: hooks !== undefined,
      ...defined({ lastSeenMs, ownership: shards, wantsAll: hooks && (() => hooks.wantsAll()) }),
    }
    await runWatchdog(this.#store, options, signal)
    const stoppedMs = performance.now()
    await Promise.all([sharing, hooks?.drain(HOOKS_DRAIN_MS), state.stop(), purger?.stop()])
    this.#log.note(stopEntry(performance.now() - stoppedMs))
  }

  /**
   * Reads the states of other watchdogs. Returns when one of them last saw the store, epoch ms; 0 if the store does not
   * answer, since it may have been unavailable for any length of time. Watchdogs with another number of shards share no
   * work with this one: harmless, but hardly intended.
   */
  async #readOtherStates(): Promise<number | undefined> {
    const { store } = this.#opened
    const signal = AbortSignal.any([this.#runtime.signal, AbortSignal.timeout(STATE_MS)])
    const state = await readWatchdogState(store, signal).catch(() => undefined)
    if (state === undefined) return 0
    const own = this.#settings.shards ?? 0
    const others = shardCounts(state, store.nowMs())
    const text = `other watchdogs use ${others.map(count => (count === 0 ? 'no' : count)).join(' or ')} shards`
    if (others.some(count => count !== own)) this.#log.note({ level: 'warn', kind: 'shards', text })
    const seen = state.watchdogs.flatMap(({ lastSweepMs }) => lastSweepMs ?? [])
    return seen.length === 0 ? undefined : Math.max(...seen)
  }

  #stopping(operation: HttpEndpoints | undefined, systemd: Systemd | undefined): void {
    operation?.stopping()
    this.#farewell = systemd?.stopping()
    if (this.#runtime.signal.aborted) this.#log.note(stoppingEntry(String(this.#runtime.signal.reason)))
  }

  #openSystemd(): Systemd | undefined {
    return openSystemd({
      env: this.#runtime.env,
      pid: this.#runtime.pid,
      isAlive: () => this.#liveness.health().ok,
      failed: text => this.#log.note({ level: 'warn', kind: 'systemd', text }),
    })
  }

  #openHooks(targets: Hooks, operation: HttpEndpoints | undefined): HookFeed {
    const about = { by: this.#watchdog.by, settings: this.#settings, log: this.#log, operation }
    return daemonHooks(this.#opened.store, targets, this.#runtime, about)
  }

  #openShards(): Shards | undefined {
    const { shards: count } = this.#settings
    if (count === undefined) return undefined
    return openShards(this.#opened.store, {
      folder: '.leasectl/watchdog/shards',
      role: 'watchdog',
      count,
      by: this.#watchdog.by,
      newId: () => this.#runtime.newId(),
      changed: (held, total) => this.#reportShards(held, total),
      troubled: error => this.#log.note(faultEntry('shards', 'shard leases cannot be maintained', error)),
      recovered: () => this.#log.note(recoveryEntry('shards', 'shard leases are maintained again')),
    })
  }

  #reportShards(held: readonly number[], total: number): void {
    for (const observer of this.#observers) void observer.shards?.(held, total)
  }

  #openPurger(shards: Shards | undefined, operation: HttpEndpoints | undefined): Purger | undefined {
    const options = purgeOptions(this.#settings, this.#watchdog, this.#runtime)
    if (options === undefined) return undefined
    const reports = {
      purged: (report: PurgeReport) => {
        operation?.metrics.purged(report.streams.length)
        this.#log.note(purgeEntry(report))
      },
      failed: (error: unknown) => {
        operation?.metrics.purged()
        this.#log.note(faultEntry('purge', 'old streams cannot be removed', error))
      },
    }
    const owned = shards === undefined ? options : { ...options, ownership: shards }
    return new Purger(this.#store, owned, reports, () => performance.now())
  }

  #openState(): StateWriter {
    const { match, onDue, maxPerPass, maxShare, shards: shardCount } = this.#settings
    const { by, intervalMs } = this.#watchdog
    return new StateWriter(this.#opened.store, {
      id: this.#runtime.newId(),
      host: this.#runtime.host,
      pid: this.#runtime.pid,
      version: VERSION,
      by,
      intervalMs,
      settings: { match, onDue, maxPerPass, maxShare },
      shardCount,
      failed: why => this.#log.note(faultEntry('state', 'the watchdog state cannot be written', why)),
      recovered: () => this.#log.note(recoveryEntry('state', 'the watchdog state can be written again')),
    })
  }

  #startEntry() {
    const { address } = this.#opened
    const { match, onDue, maxPerPass, maxShare, shards, purge } = this.#settings
    const { intervalMs, by } = this.#watchdog
    const from = { source: sourceText(this.#opened), protected: this.#opened.isProtected }
    const settings = { ...from, by, intervalMs, match, onDue, maxPerPass, maxShare, shards, purgeMs: purge }
    return startEntry({ version: VERSION, store: address, pid: this.#runtime.pid, settings })
  }
}

/**
 * Time for operations in flight after the signal, ms. The others are abandoned; on a repetition, the command id shows
 * whether they were applied. The rest of the 10 s until the process exits belongs to the store, which waits 2 s for a
 * change before it closes.
 */
const DRAIN_MS = 7_500

/** True if the work finished; false if the signal fired and the work then exceeded the drain time. */
async function drained(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>(resolve => {
    const begin = () => {
      timer = setTimeout(() => resolve(false), DRAIN_MS)
    }
    if (signal.aborted) begin()
    else signal.addEventListener('abort', begin, { once: true })
  })
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Stops a watchdog whose first pass fails for missing rights or a missing container: its setup is wrong. After one
 * successful pass, no fault of the store stops it; a store that does not answer never does.
 */
class StartupFailure implements Observer {
  readonly #controller = new AbortController()
  #hasWatched = false
  #error: unknown

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** @throws the error that prevented the start, if any */
  throwIfAny(): void {
    if (this.signal.aborted) throw this.#error
  }

  passed(): void {
    this.#hasWatched = true
  }

  failed({ error }: FailedPass): void {
    if (this.#hasWatched || error instanceof StoreUnreachable) return
    this.#error = error
    this.#controller.abort()
  }
}
