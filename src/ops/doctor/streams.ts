import type { StreamRow, StreamStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { readAhead } from '../../util/concurrency.ts'
import { type FilterVerdict, verdictOf } from '../filter.ts'
import type { Selection } from '../selection.ts'
import { summarizeStored } from '../summaries.ts'
import { type Finding, streamFindings } from './stream.ts'

/** The outcome of examining one stream. */
export type ExaminedStream =
  | { readonly kind: 'examined'; readonly name: string; readonly findings: readonly Finding[] }
  /** There is no stream of this name. */
  | { readonly kind: 'missing'; readonly name: string }

type Filter = Extract<Selection, { readonly kind: 'filter' }>['filter']

/** Maximum number of concurrent reads. */
const READS_AT_ONCE = 8

/**
 * Examines the streams of a selection: names in the given order, each once; streams of a filter by name. Each document
 * is read once; memory does not grow with their number. Streams of a filter that are removed meanwhile are left out.
 *
 * @throws the faults of the store, the signal's reason
 */
export async function* examineStreams(
  store: StreamStore,
  selection: Selection,
  signal?: AbortSignal,
): AsyncGenerator<ExaminedStream> {
  if (selection.kind !== 'filter') {
    yield* readAhead(new Set(selection.names), READS_AT_ONCE, name => examineNamed(store, name, signal))
    return
  }
  const { filter } = selection
  const rows = candidates(store, filter, signal)
  for await (const item of readAhead(rows, READS_AT_ONCE, row => examineListed(store, row, filter, signal))) {
    if (item !== undefined) yield item
  }
}

async function examineNamed(
  store: StreamStore,
  name: string,
  signal: AbortSignal | undefined,
): Promise<ExaminedStream> {
  try {
    const stored = await store.read(name, signal)
    if (stored === undefined) return { kind: 'missing', name }
    return { kind: 'examined', name, findings: streamFindings(stored, store.nowMs()) }
  } catch (error) {
    return { kind: 'examined', name, findings: [faultFinding(error)] }
  }
}

/** A row of the listing that may pass, with the verdict of the listing. */
interface Candidate {
  readonly name: string
  readonly verdict: FilterVerdict
}

async function* candidates(
  store: StreamStore,
  filter: Filter,
  signal: AbortSignal | undefined,
): AsyncGenerator<Candidate> {
  const prefix = filter.names?.prefix
  const query = { ...(prefix === undefined ? {} : { prefix }), ...(signal === undefined ? {} : { signal }) }
  for await (const page of store.list(query)) {
    for (const listed of page) {
      if (filter.names !== undefined && !filter.names.matches(listed.name)) continue
      const verdict = verdictOfListed(listed, filter, store.nowMs())
      if (verdict !== 'no') yield { name: listed.name, verdict }
    }
  }
}

/** Without a summary only the document decides. */
function verdictOfListed(listed: StreamRow, filter: Filter, nowMs: number): FilterVerdict {
  const { summary } = listed
  return summary === undefined ? 'unsure' : verdictOf({ listed, summary }, filter, nowMs)
}

async function examineListed(
  store: StreamStore,
  { name, verdict }: Candidate,
  filter: Filter,
  signal: AbortSignal | undefined,
): Promise<ExaminedStream | undefined> {
  try {
    const stored = await store.read(name, signal)
    if (stored === undefined) return undefined
    const nowMs = store.nowMs()
    if (verdict === 'unsure' && verdictOf(summarizeStored(stored, nowMs), filter, nowMs) !== 'yes') return undefined
    return { kind: 'examined', name, findings: streamFindings(stored, nowMs) }
  } catch (error) {
    return { kind: 'examined', name, findings: [faultFinding(error)] }
  }
}

/** The finding for an unreadable stream. An invalid name is only a warning. @throws other faults */
function faultFinding(error: unknown): Finding {
  if (!(error instanceof StreamFault)) throw error
  const { code, what, hint } = error
  return {
    severity: code === 'bad-name' ? 'warning' : 'error',
    code,
    subject: '',
    message: what,
    ...(hint === undefined ? {} : { hint }),
  }
}
