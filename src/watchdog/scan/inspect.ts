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
import { type InspectedStream, type InspectionRules, type Observations, planStream, type StreamPlan } from '../plan.ts'
import type { KnownStream, WatchedState } from '../registry/known-stream.ts'
import { pendingWorkOf } from '../registry/pending-work.ts'
import type { StreamRegistry } from '../registry/registry.ts'
import { NO_STATUS } from './sweep.ts'

/** Result of inspecting one document, with the decisions for the stream. */
export interface Inspection {
  readonly stored: StreamSnapshot
  readonly decisions: readonly WatchdogDecision[]
  /** Observers of changes have not received its current state. */
  readonly isNews: boolean
  /** Why the document is unreadable, if so. */
  readonly fault: string | undefined
}

/** Status of unreadable documents. */
export const UNREADABLE = 'unreadable'

const NEVER = Number.POSITIVE_INFINITY

/**
 * Reads a stream, plans its decisions and records the result in the registry. `undefined`: the stream is gone.
 *
 * @param rulesNow called after the read: the document was not observed earlier
 */
export async function inspectStream(
  store: StreamStore,
  registry: StreamRegistry,
  stream: KnownStream,
  rulesNow: () => InspectionRules,
  signal: AbortSignal,
): Promise<Inspection | undefined> {
  const stored = await store.read(stream.name, signal)
  const rules = withOwnGap(rulesNow(), stream)
  if (stored === undefined) {
    registry.forget(stream.name)
    return undefined
  }
  const { fault, state, observations, decisions } = judge(stored, stream, rules)
  if (decisions.length === 0) stream.failedInPass = 0
  const isNews = !(stream.isReported && stream.hasEtag(stored.etag))
  registry.recordInspection(stream, stored.etag, state, observations, rules.atMs)
  return { stored, decisions, isNews, fault }
}

/** Adds the gap in which only this stream was unobserved. */
function withOwnGap(rules: InspectionRules, stream: KnownStream): InspectionRules {
  const unseen = stream.endUnreachable(rules.nowMs)
  return unseen === undefined ? rules : { ...rules, gaps: [...rules.gaps, unseen] }
}

interface Judgement {
  readonly state: WatchedState
  readonly observations: Observations
  readonly decisions: readonly WatchdogDecision[]
  readonly fault?: string
}

function judge(stored: StreamSnapshot, known: KnownStream, rules: InspectionRules): Judgement {
  try {
    const document = parseBody(stored.body, stored.name)
    return document.events.length === 0 ? idle('not-started') : judgeEvents(document, stored, known, rules)
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error
    return { ...idle(UNREADABLE), fault: error.message }
  }
}

/** A state without decisions until the stream changes. */
function idle(status: string): Judgement {
  const state = { status, openEvents: 0, dueMs: NEVER, nextInspectionMs: NEVER }
  return { state, observations: new Map(), decisions: [] }
}

function judgeEvents(
  written: StreamDocument,
  stored: StreamSnapshot,
  known: KnownStream,
  rules: InspectionRules,
): Judgement {
  const { name, etag, versionFloor } = stored
  // It is rounded up, and in a fast single pass would come after this inspection.
  const knownSinceMs = Math.min(known.knownSinceMs(etag) ?? rules.atMs, rules.atMs)
  const lastModifiedMs = Math.min(stored.modifiedMs, firstSeenMs(rules, knownSinceMs))
  const context = { nowMs: rules.nowMs, versionFloor, lastModifiedMs }
  const { document, isSettleDue } = settledDocument(written, { ...context, born: written.born })
  const subject = {
    name,
    stream: new EventStream(document.events),
    read: timeReaderFor(document, context).read,
    observations: known.observations,
    knownSinceMs,
    version: document.version,
    isUsed: usedIn(document),
  }
  const plan = planStream(subject, rules)
  const summary = summarize(document, { ...context, lastBy: '' })
  const { dueMs, nextInspectionMs, observations } = plan
  return {
    state: {
      status: summary.status || NO_STATUS,
      openEvents: summary.open,
      dueMs,
      nextInspectionMs: Math.min(nextInspectionMs, summary.wakeMs ?? NEVER),
      work: pendingWorkOf(summary),
    },
    observations,
    decisions: decisionsOf(name, plan, isSettleDue, document.version),
  }
}

/**
 * Two clocks rarely agree to the millisecond; a deadline that counts from this time must not vary between inspections.
 */
const ROUNDED_TO_MS = 60_000

/** When an unchanged document was first seen, by the store's clock: it was written before, whatever it says. */
function firstSeenMs({ nowMs, atMs }: InspectionRules, knownSinceMs: number): number {
  return Math.ceil((nowMs - (atMs - knownSinceMs)) / ROUNDED_TO_MS) * ROUNDED_TO_MS
}

/** Parses the journal once, on the first call: it may be as long as there are events to end. */
function usedIn({ journal, prefix }: StreamDocument): InspectedStream['isUsed'] {
  let used: ReadonlySet<string> | undefined
  return commandId => {
    used ??= new Set(parseJournal(journal, prefix).map(transaction => transaction.commandId))
    return used.has(commandId)
  }
}

/** Every transaction settles the stream first, so a settlement is only needed without one. */
function decisionsOf(
  name: string,
  { expiries }: StreamPlan,
  isSettleDue: boolean,
  version: number,
): WatchdogDecision[] {
  const isWritten = expiries.some(({ operation }) => operation !== undefined)
  return isSettleDue && !isWritten ? [...expiries, settlementOf(name, String(version))] : [...expiries]
}

/** @param state the state that it settles: another state needs another command id */
export function settlementOf(stream: string, state: string): Settlement {
  return { kind: 'settle', stream, commandId: `watchdog:settle:${state}`, operation: { op: 'settle' } }
}
