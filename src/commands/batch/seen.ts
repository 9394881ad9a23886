import { type StreamView, viewOf } from '../../ops/read-stream.ts'
import { type Selection, selected } from '../../ops/selection.ts'
import { type SummarizedStream, summaries, summarizeStored, summaryOf } from '../../ops/summaries.ts'
import type { EventStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'
import { isFailed, isFinal } from '../../stream/event.ts'
import { readAhead } from '../../util/read-ahead.ts'
import type { Standing } from './action.ts'

/** A stream that was looked at. */
export interface Seen {
  readonly item: SummarizedStream
  /** Where its events are asked for and the document can be read. */
  readonly view?: StreamView
}

interface SeenPage {
  readonly found: readonly Seen[]
  /** Names that nothing has. */
  readonly missing: readonly string[]
}

/** The streams of a selection as they stand now. */
export async function* seen(
  store: EventStore,
  selection: Selection,
  withEvents: boolean,
  signal: AbortSignal,
): AsyncGenerator<SeenPage> {
  if (withEvents) yield* seenInside(store, selection, signal)
  else {
    for await (const { found, missing } of selected(store, selection, signal)) {
      yield { found: found.map(item => ({ item })), missing }
    }
  }
}

/** At most so many streams are read at a time. */
const READS_AT_ONCE = 8

async function* seenInside(store: EventStore, selection: Selection, signal: AbortSignal): AsyncGenerator<SeenPage> {
  const names = selection.kind === 'filter' ? namesOf(store, selection, signal) : new Set(selection.names)
  const read = async (name: string): Promise<SeenPage> => {
    const one = await seenOne(store, name, signal)
    if (one === undefined) return { found: [], missing: selection.kind === 'filter' ? [] : [name] }
    return { found: [one], missing: [] }
  }
  yield* readAhead(names, READS_AT_ONCE, read)
}

async function seenOne(store: EventStore, name: string, signal: AbortSignal): Promise<Seen | undefined> {
  try {
    const stored = await store.read(name, signal)
    if (stored === undefined) return undefined
    const nowMs = store.nowMs()
    const item = summarizeStored(stored, nowMs)
    return item.fault === undefined ? { item, view: viewOf(stored, nowMs) } : { item }
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    const item = await summaryOf(store, { name }, signal)
    return item && { item }
  }
}

async function* namesOf(
  store: EventStore,
  { filter }: Extract<Selection, { kind: 'filter' }>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for await (const page of summaries(store, filter, { signal })) for (const { listed } of page) yield listed.name
}

const UNKNOWN: Standing = { status: '', isEnded: false, hasFailed: false, openBelow: 0 }

/** How a stream, or an event of it, stands. */
export function standingOf({ item, view }: Seen, event: string | undefined): Standing {
  if (event !== undefined && view !== undefined) return eventStanding(view, event)
  const { summary } = item
  if (summary === undefined) return { ...UNKNOWN, status: item.fault?.code ?? 'not started' }
  const { status, open, failed } = summary
  const openBelow = isFinal({ status }) ? open : Math.max(0, open - 1)
  return { status, isEnded: isFinal({ status }) && open === 0, hasFailed: failed > 0, openBelow }
}

function eventStanding({ stream }: StreamView, id: string): Standing {
  const at = stream.positionOf(id)
  const event = stream.at(at)
  if (event === undefined) return UNKNOWN
  const below = stream.descendantPositions(at).flatMap(position => stream.at(position) ?? [])
  const openBelow = below.filter(other => !isFinal(other)).length
  return { status: event.status, isEnded: isFinal(event) && openBelow === 0, hasFailed: isFailed(event), openBelow }
}
