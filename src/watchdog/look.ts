import { viewOf } from '../ops/read-stream.ts'
import { type SummarizedStream, summarizeStored } from '../ops/summaries.ts'
import type { EventStore, Stored } from '../store/store.ts'
import { timeReaderFor } from '../stream/due.ts'
import { EventStream } from '../stream/event-stream.ts'
import { settledDocument } from '../stream/settled.ts'
import { summarize } from '../stream/summarize.ts'
import type { Decision, Settlement } from './decision.ts'
import { type LookRules, planStream, type Sightings, type StreamPlan } from './plan.ts'
import type { Kept, Roll } from './roll.ts'
import { NO_STATUS } from './sweep.ts'

/** What a look at one document found, and what is to be done with the stream. */
export interface Looked {
  readonly decisions: readonly Decision[]
  /** As listings have it; for the observers of streams that moved. */
  readonly item: SummarizedStream
  /** Nobody was told of the stream as it stands. */
  readonly isNews: boolean
  /** Why it cannot be read, when that is so. */
  readonly fault: string | undefined
}

/** The status of what cannot be read. */
export const UNREADABLE = 'unreadable'

const NEVER = Number.POSITIVE_INFINITY
const NO_SIGHTINGS: Sightings = new Map()

/**
 * Reads a stream, plans what is to be done with it and keeps that on the roll. `undefined`: it is gone.
 *
 * @param rulesNow asked when the document is here: what was seen in it was not seen before
 */
export async function look(
  store: EventStore,
  roll: Roll,
  name: string,
  rulesNow: () => LookRules,
  signal: AbortSignal,
): Promise<Looked | undefined> {
  const stored = await store.read(name, signal)
  const rules = rulesNow()
  if (stored === undefined) {
    roll.remove(name)
    return undefined
  }
  const item = summarizeStored(stored, rules.nowMs)
  const found = item.summary === undefined ? undefined : judge(stored, roll, rules)
  const status = item.fault === undefined ? 'not-started' : UNREADABLE
  const idle: Kept = { status, openEvents: 0, dueMs: NEVER, nextLookMs: NEVER }
  const isNews = !roll.isMoveTold(name, stored.etag)
  roll.looked(name, stored.etag, found?.kept ?? idle, found?.sightings ?? NO_SIGHTINGS, rules.atMs)
  return { decisions: found?.decisions ?? [], item, isNews, fault: item.fault?.message }
}

interface Judgement {
  readonly kept: Kept
  readonly sightings: Sightings
  readonly decisions: readonly Decision[]
}

function judge(stored: Stored, roll: Roll, rules: LookRules): Judgement {
  const { document: written } = viewOf(stored, rules.nowMs)
  const context = { nowMs: rules.nowMs, versionFloor: stored.versionFloor, lastModifiedMs: stored.modifiedMs }
  const { document, isSettleDue } = settledDocument(written, { ...context, born: written.born })
  const subject = {
    name: stored.name,
    stream: new EventStream(document.events),
    read: timeReaderFor(document, context).read,
    sightings: roll.sightingsOf(stored.name),
    knownSinceMs: roll.knownSinceMs(stored.name, stored.etag) ?? rules.atMs,
  }
  const plan = planStream(subject, rules)
  const { status, open } = summarize(document, { ...context, lastBy: '' })
  const { dueMs, nextLookMs, sightings } = plan
  return {
    kept: { status: status || NO_STATUS, openEvents: open, dueMs, nextLookMs },
    sightings,
    decisions: decisionsOf(stored.name, plan, isSettleDue, document.version),
  }
}

/** Whatever ends something settles the stream first. */
function decisionsOf(name: string, { expiries }: StreamPlan, isSettleDue: boolean, version: number): Decision[] {
  const isWritten = expiries.some(({ operation }) => operation !== undefined)
  return isSettleDue && !isWritten ? [...expiries, settlementOf(name, version)] : [...expiries]
}

function settlementOf(stream: string, version: number): Settlement {
  return { kind: 'settle', stream, commandId: `watchdog:settle:${version}`, operation: { op: 'settle' } }
}
