import { beginAuditEntry, endAuditEntry } from '../ops/audit-log.ts'
import { hasUnacknowledgedFailure } from '../ops/filter.ts'
import type { Glob } from '../ops/glob.ts'
import { removeStream } from '../ops/remove.ts'
import type { Ownership } from '../ops/shards/shards.ts'
import { type SummarizedStream, summaries } from '../ops/summaries.ts'
import { StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { formatDuration } from '../stream/time/durations.ts'
import { readAhead } from '../util/concurrency.ts'
import { defined } from '../util/defined.ts'
import type { Observer } from './report.ts'

/** Maximum number of streams removed at once. */
const MAX_PURGED = 1_000

/** Time between two purges of a store without more to remove, ms: each lists the store. */
const PURGE_EVERY_MS = 10 * 60_000

export interface PurgeOptions {
  /** Removes streams that were completed and not written for longer than this, ms. */
  readonly olderThanMs: number
  readonly names?: Glob
  readonly ownership?: Ownership
  readonly concurrency: number
  /** Actor in the audit log. */
  readonly by: string
  readonly host: string
  readonly newId: () => string
}

/** What a purge did. */
export interface PurgeReport {
  /** Names of the streams that were removed, or would be. */
  readonly streams: readonly string[]
  /** Number of streams that were to be removed and are left: leased or changed meanwhile, or the store did not answer. */
  readonly left: number
  /** There may be more than one purge removes. */
  readonly hasMore: boolean
}

/**
 * Removes old streams: those of `rm --older-than … --status completed`, but never one with a failure that nobody has
 * acknowledged, nor one that another program left unsettled. Each is removed only in the state that was listed. The audit
 * log has the purge before anything is removed.
 *
 * @throws the store's faults: without an entry in the audit log nothing was removed
 */
export async function purge(store: StreamStore, options: PurgeOptions, signal: AbortSignal): Promise<PurgeReport> {
  const { found, hasMore } = await toPurge(store, options, signal)
  if (found.length === 0) return { streams: [], left: 0, hasMore }
  const { by, host, newId, olderThanMs, concurrency } = options
  const names = found.map(({ listed }) => listed.name)
  const nowIso = () => new Date(store.nowMs()).toISOString()
  const why = `completed more than ${formatDuration(olderThanMs)} ago (--purge)`
  const about = { by, host, op: 'rm', why, commandId: newId(), streams: names.length, names, source: '' }
  const entry = { ...about, id: newId(), at: nowIso() }
  const begun = await beginAuditEntry(store, entry, { by })
  if (begun === 'busy' || begun === 'unknown')
    throw new StoreUnreachable('the audit log could not be written; no stream was removed')
  const removed: string[] = []
  const counts: Record<string, number> = {}
  const work = async (item: SummarizedStream) => (signal.aborted ? 'left' : removeOne(store, item))
  let at = 0
  for await (const word of readAhead(found, concurrency, work)) {
    const name = names[at++]
    counts[word] = (counts[word] ?? 0) + 1
    if (word === 'done' && name !== undefined) removed.push(name)
  }
  // The streams are gone whatever happens here.
  await endAuditEntry(store, { ...entry, end: { at: nowIso(), counts } }, { by }).catch(() => undefined)
  return { streams: removed, left: found.length - removed.length - (counts.already ?? 0), hasMore }
}

/** The streams that a purge would remove. Changes nothing. */
export async function toPurge(
  store: StreamStore,
  { olderThanMs, names, ownership }: PurgeOptions,
  signal: AbortSignal,
): Promise<{ readonly found: readonly SummarizedStream[]; readonly hasMore: boolean }> {
  const filter = { status: ['completed'], untilMs: store.nowMs() - olderThanMs, ...defined({ names }) }
  const found: SummarizedStream[] = []
  for await (const page of summaries(store, filter, { signal })) {
    for (const item of page) {
      const { summary, listed } = item
      if (summary === undefined || item.isUnsettled || hasUnacknowledgedFailure(summary)) continue
      if (ownership?.owns(listed.name) === false) continue
      if (found.length === MAX_PURGED) return { found, hasMore: true }
      found.push(item)
    }
  }
  return { found, hasMore: false }
}

type Word = 'done' | 'already' | 'changed' | 'busy' | 'failed'

async function removeOne(store: StreamStore, { listed, pin }: SummarizedStream): Promise<Word> {
  const how = { etag: listed.etag, leaseWaitMs: 0, ...defined({ born: pin.ifBorn }) }
  const outcome = await removeStream(store, listed.name, how).catch(() => undefined)
  switch (outcome?.kind) {
    case 'removed':
      return 'done'
    case 'missing':
      return 'already'
    case 'held':
    case 'lost':
      return 'busy'
    case 'changed':
    case 'replaced':
      return 'changed'
    default:
      return 'failed'
  }
}

/** What a purging watchdog reports. */
export interface PurgeReports {
  purged(report: PurgeReport): void
  failed(error: unknown): void
}

/** Purges after a sweep, beside the passes: at once while there is more to remove, otherwise every ten minutes. */
export class Purger implements Observer {
  readonly #store: StreamStore
  readonly #options: PurgeOptions
  readonly #reports: PurgeReports
  readonly #monotonicMs: () => number
  readonly #stopping = new AbortController()
  #nextMs = Number.NEGATIVE_INFINITY
  #running: Promise<void> | undefined

  constructor(store: StreamStore, options: PurgeOptions, reports: PurgeReports, monotonicMs: () => number) {
    this.#store = store
    this.#options = options
    this.#reports = reports
    this.#monotonicMs = monotonicMs
  }

  passed({ kind }: { readonly kind: 'sweep' | 'appointment' }): void {
    if (kind !== 'sweep' || this.#running !== undefined || this.#stopping.signal.aborted) return
    if (this.#monotonicMs() < this.#nextMs) return
    this.#running = this.#purge().finally(() => {
      this.#running = undefined
    })
  }

  /** Ends a purge that runs: what is in flight is completed. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #purge(): Promise<void> {
    this.#nextMs = this.#monotonicMs() + PURGE_EVERY_MS
    try {
      const report = await purge(this.#store, this.#options, this.#stopping.signal)
      if (report.hasMore) this.#nextMs = Number.NEGATIVE_INFINITY
      if (report.streams.length + report.left > 0) this.#reports.purged(report)
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#reports.failed(error)
    }
  }
}
