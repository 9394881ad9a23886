import type { EventStore, Listed, ListQuery, Stored } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import type { Pin } from '../stream/pin.ts'
import { sumOf } from '../stream/sum.ts'
import { summarize } from '../stream/summarize.ts'
import type { Summary } from '../stream/summary.ts'
import { type StreamFilter, verdictOf } from './filter.ts'
import { viewOf } from './read-stream.ts'

/** A stream of a listing with its summary, made from the document where the listing has none that counts. */
export interface SummarizedStream {
  readonly listed: Listed
  /** Absent for a document without events and for one that cannot be read. */
  readonly summary: Summary | undefined
  /** Why the document cannot be read, when that is so. */
  readonly fault: { readonly code: string; readonly message: string } | undefined
  /** The state that was looked at: a change that carries it is refused (`changed`) if the stream has moved on. */
  readonly pin: Pin
}

/** The streams of a store that pass a filter, page by page as the store lists them; the pages of none are left out. */
export async function* summaries(
  store: EventStore,
  filter: StreamFilter,
  query: Omit<ListQuery, 'prefix' | 'limit'> = {},
): AsyncGenerator<readonly SummarizedStream[]> {
  const prefix = filter.names?.prefix
  for await (const page of store.list({ ...query, ...(prefix === undefined ? {} : { prefix }) })) {
    const found: SummarizedStream[] = []
    for (const listed of page) {
      if (filter.names !== undefined && !filter.names.matches(listed.name)) continue
      const item = await passed(store, listed, filter, query.signal)
      if (item !== undefined) found.push(item)
    }
    if (found.length > 0) yield found
  }
}

async function passed(
  store: EventStore,
  listed: Listed,
  filter: StreamFilter,
  signal: AbortSignal | undefined,
): Promise<SummarizedStream | undefined> {
  const item =
    listed.summary === undefined ? await summaryOf(store, listed, signal) : fromListing(listed, listed.summary)
  if (item === undefined) return undefined
  const verdict = verdictOf(item, filter, store.nowMs())
  if (verdict !== 'unsure') return verdict === 'yes' ? item : undefined
  const whole = await summaryOf(store, listed, signal)
  return whole !== undefined && verdictOf(whole, filter, store.nowMs()) === 'yes' ? whole : undefined
}

function fromListing(listed: Listed, summary: Summary): SummarizedStream {
  return { listed, summary, fault: undefined, pin: { ifVersion: summary.version, ifBorn: summary.born } }
}

/**
 * The summary of one stream from its document: where somebody else wrote, the one beside it is gone or stale.
 * `undefined` if there is no such stream. A document that cannot be read is an answer too, not an error.
 */
export async function summaryOf(
  store: EventStore,
  { name }: Pick<Listed, 'name'>,
  signal?: AbortSignal,
): Promise<SummarizedStream | undefined> {
  const stored = await store.read(name, signal)
  return stored && summarizeStored(stored, store.nowMs())
}

/** The same from a stored body. */
export function summarizeStored(stored: Stored, nowMs: number): SummarizedStream {
  try {
    const { document } = viewOf(stored, nowMs)
    const options = { lastModifiedMs: stored.modifiedMs, nowMs, lastBy: stored.summary?.lastBy ?? '' }
    const summary = document.events.length === 0 ? undefined : summarize(document, options)
    const pin = { ifVersion: document.version, ifBorn: document.born, ifSum: sumOf(document.events) }
    return { listed: withoutBody(stored), summary, fault: undefined, pin }
  } catch (error) {
    if (!(error instanceof LeasectlError) || error.code !== 'bad-document') throw error
    const fault = { code: error.code, message: error.message }
    return { listed: withoutBody(stored), summary: undefined, fault, pin: {} }
  }
}

/** What was read must not be held as long as the row of a listing is. */
function withoutBody({ name, etag, size, modifiedMs, lease, summary }: Stored): Listed {
  return { name, etag, size, modifiedMs, lease, ...(summary === undefined ? {} : { summary }) }
}
