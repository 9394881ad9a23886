import { readStream } from '../../../src/ops/read-stream.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { runBatch } from '../../../src/util/concurrency.ts'
import { EVENT, type Life, type Signs } from './lives.ts'

const FINAL: ReadonlySet<string> = new Set(['completed', 'aborted', 'canceled'])

/** A transaction that ended the event, from the journal. */
export interface End {
  readonly atMs: number
  readonly commandId: string
  readonly why: string
}

/** The final state of the event of one stream. */
export interface Fate {
  readonly status: string
  readonly ends: readonly End[]
  /** Transactions of watchdogs, of any kind. */
  readonly byWatchdogs: number
  readonly lease: string
}

/** The result of a play: the worker's record of its heartbeats, and the journals. */
export interface Evidence {
  readonly lives: readonly Life[]
  readonly signs: ReadonlyMap<string, Signs>
  readonly fates: ReadonlyMap<string, Fate>
  /** The maximum time from the deadline to the end of the event of this stream, ms. */
  readonly allowedMs: (stream: string) => number
}

export async function fatesOf(store: StreamStore, streams: readonly string[]): Promise<ReadonlyMap<string, Fate>> {
  const fates = new Map<string, Fate>()
  await runBatch(streams, { concurrency: 8 }, async stream => {
    const view = await readStream(store, stream)
    if (view === undefined) return
    const transactions = view.transactions()
    const ending = transactions.filter(({ changes }) =>
      changes.some(({ event, to }) => event === EVENT && FINAL.has(to)),
    )
    fates.set(stream, {
      status: view.stream.find(EVENT)?.status ?? '',
      ends: ending.map(({ at, commandId, why }) => ({ atMs: Date.parse(at), commandId, why })),
      byWatchdogs: transactions.filter(({ commandId }) => commandId.startsWith('watchdog:')).length,
      lease: view.stored.lease.state,
    })
  })
  return fates
}

/** All violations, a line each. */
export function complaints(evidence: Evidence): readonly string[] {
  return evidence.lives.flatMap(life => {
    const fate = evidence.fates.get(life.stream)
    const signs = evidence.signs.get(life.stream)
    if (fate === undefined || signs === undefined) return [`${life.stream}: nothing is known of it`]
    const wrong = fate.ends.length > 0 ? ofEnded(life, fate, signs, evidence) : ofOpen(life, fate)
    return wrong.map(text => `${life.stream} (${life.kind}): ${text}`)
  })
}

/** Events that unintentionally had no heartbeats: the machine was too slow for them. */
export function starved({ lives, fates }: Pick<Evidence, 'lives' | 'fates'>): readonly string[] {
  return lives.flatMap(({ stream, kind }) =>
    kind === 'lively' && fates.get(stream)?.ends.length !== 0 ? [stream] : [],
  )
}

function ofOpen({ kind }: Life, { status, byWatchdogs }: Fate): string[] {
  return [
    ...(kind === 'silenced' ? [`fell silent and is ${status}`] : []),
    ...(kind !== 'silenced' && status !== 'inprocess' ? [`it is ${status}`] : []),
    ...(byWatchdogs > 0 ? ['a watchdog changed it'] : []),
  ]
}

function ofEnded({ timeoutMs, stream }: Life, fate: Fate, signs: Signs, { allowedMs }: Evidence): string[] {
  const [end, ...more] = fate.ends
  if (end === undefined) return []
  const silentMs = end.atMs - signs.lastMs
  const lateMs = end.atMs - Math.max(signs.lastMs, signs.doubtfulMs ?? 0) - timeoutMs
  return [
    ...(fate.status === 'aborted' ? [] : [`it was ended and is ${fate.status}`]),
    ...(more.length > 0 || fate.byWatchdogs > 1 ? [`ended ${Math.max(fate.ends.length, fate.byWatchdogs)} times`] : []),
    ...(end.commandId.startsWith(`watchdog:${EVENT}:`) ? [] : [`ended by ${end.commandId}`]),
    ...(silentMs < timeoutMs ? [`ended early, ${silentMs} ms after its last sign of life`] : []),
    ...(lateMs > allowedMs(stream) ? [`ended ${lateMs} ms after its limit, ${allowedMs(stream)} ms are allowed`] : []),
    ...(namesLastSign(end, signs) ? [] : [`ended for "${end.why}", its last sign of life was at ${isoOf(signs)}`]),
  ]
}

/** One without an answer may have been the last. */
function namesLastSign({ why }: End, signs: Signs): boolean {
  return signs.doubtfulMs !== null || why.includes(`no sign of life since ${isoOf(signs)} `)
}

function isoOf({ lastMs }: Signs): string {
  return new Date(lastMs).toISOString()
}
