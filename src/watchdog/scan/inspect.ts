import { parseBody } from '../../ops/transact/plan.ts'
import type { StreamSnapshot, StreamStore } from '../../store/store.ts'
import type { StreamDocument } from '../../stream/document.ts'
import { BadDocument } from '../../stream/errors.ts'
import { EventStream } from '../../stream/event-stream.ts'
import { parseJournal } from '../../stream/journal/journal.ts'
import { settledDocument } from '../../stream/operations/transaction.ts'
import { summarize } from '../../stream/summarize.ts'
import { timeReaderFor } from '../../stream/time/deadlines.ts'
import type { Settlement, WatchdogDecision } from '../decision.ts'
import { type InspectedStream, type LookRules, type Observations, planStream, type StreamPlan } from '../plan.ts'
import type { KnownStream, StreamState } from '../registry/known-stream.ts'
import type { StreamRegistry } from '../registry/registry.ts'
import { NO_STATUS } from './sweep.ts'

/** What a look at one document found, and what is to be done with the stream. */
export interface Looked {
  readonly stored: StreamSnapshot
  readonly decisions: readonly WatchdogDecision[]
  /** Observers of moves were not told of the stream as it stands. */
  readonly isNews: boolean
  /** Why it cannot be read, when that is so. */
  readonly fault: string | undefined
}

/** The status of what cannot be read. */
export const UNREADABLE = 'unreadable'

const NEVER = Number.POSITIVE_INFINITY

/**
 * Reads a stream, plans what is to be done with it and keeps that in the registry. `undefined`: it is gone.
 *
 * @param rulesNow asked when the document is here: what was seen in it was not seen before
 */
export async function look(
  store: StreamStore,
  registry: StreamRegistry,
  stream: KnownStream,
  rulesNow: () => LookRules,
  signal: AbortSignal,
): Promise<Looked | undefined> {
  const stored = await store.read(stream.name, signal)
  const rules = withUnseen(rulesNow(), stream)
  if (stored === undefined) {
    registry.forget(stream.name)
    return undefined
  }
  const { fault, state, sightings, decisions } = judge(stored, stream, rules)
  if (decisions.length === 0) stream.failedInPass = 0
  const isNews = !(stream.isReported && stream.etag === stored.etag)
  registry.recordInspection(stream, stored.etag, state, sightings, rules.atMs)
  return { stored, decisions, isNews, fault }
}

/** What kept this stream alone from being seen. */
function withUnseen(rules: LookRules, stream: KnownStream): LookRules {
  const unseen = stream.endUnreachable(rules.nowMs)
  return unseen === undefined ? rules : { ...rules, blindSpots: [...rules.blindSpots, unseen] }
}

interface Judgement {
  readonly state: StreamState
  readonly sightings: Observations
  readonly decisions: readonly WatchdogDecision[]
  readonly fault?: string
}

function judge(stored: StreamSnapshot, known: KnownStream, rules: LookRules): Judgement {
  try {
    const document = parseBody(stored.body, stored.name)
    return document.events.length === 0 ? idle('not-started') : judgeEvents(document, stored, known, rules)
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error
    return { ...idle(UNREADABLE), fault: error.message }
  }
}

/** Nothing can be done with it before it moves. */
function idle(status: string): Judgement {
  const state = { status, openEvents: 0, dueMs: NEVER, nextInspectionMs: NEVER }
  return { state, sightings: new Map(), decisions: [] }
}

function judgeEvents(written: StreamDocument, stored: StreamSnapshot, known: KnownStream, rules: LookRules): Judgement {
  const { name, etag, versionFloor } = stored
  const knownSinceMs = known.knownSinceMs(etag) ?? rules.atMs
  const lastModifiedMs = Math.min(stored.modifiedMs, firstSeenMs(rules, knownSinceMs))
  const context = { nowMs: rules.nowMs, versionFloor, lastModifiedMs }
  const { document, isSettleDue } = settledDocument(written, { ...context, born: written.born })
  const subject = {
    name,
    stream: new EventStream(document.events),
    read: timeReaderFor(document, context).read,
    sightings: known.observations,
    knownSinceMs,
    version: document.version,
    isUsed: usedIn(document),
  }
  const plan = planStream(subject, rules)
  const { status, open } = summarize(document, { ...context, lastBy: '' })
  const { dueMs, nextLookMs, sightings } = plan
  return {
    state: { status: status || NO_STATUS, openEvents: open, dueMs, nextInspectionMs: nextLookMs },
    sightings,
    decisions: decisionsOf(name, plan, isSettleDue, document.version),
  }
}

/** Two clocks hardly ever agree to the millisecond; a limit that counts from this must not end at another time each look. */
const ROUNDED_TO_MS = 60_000

/** When a document that has not moved was first seen, by the store's clock: it was written by then, whatever it says. */
function firstSeenMs({ nowMs, atMs }: LookRules, knownSinceMs: number): number {
  return Math.ceil((nowMs - (atMs - knownSinceMs)) / ROUNDED_TO_MS) * ROUNDED_TO_MS
}

/** Reads the journal once and when it is asked, however often: it may be as long as there are events to be ended. */
function usedIn({ journal, prefix }: StreamDocument): InspectedStream['isUsed'] {
  let used: ReadonlySet<string> | undefined
  return commandId => {
    used ??= new Set(parseJournal(journal, prefix).map(transaction => transaction.commandId))
    return used.has(commandId)
  }
}

/** Whatever ends something settles the stream first. */
function decisionsOf(
  name: string,
  { expiries }: StreamPlan,
  isSettleDue: boolean,
  version: number,
): WatchdogDecision[] {
  const isWritten = expiries.some(({ operation }) => operation !== undefined)
  return isSettleDue && !isWritten ? [...expiries, settlementOf(name, version)] : [...expiries]
}

function settlementOf(stream: string, version: number): Settlement {
  return { kind: 'settle', stream, commandId: `watchdog:settle:${version}`, operation: { op: 'settle' } }
}
