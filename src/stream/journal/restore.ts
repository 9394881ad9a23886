import { isFinal, type LcAttributeName, type StreamEvent } from '../event.ts'
import { EventStream } from '../event-stream.ts'
import type { JournalChange, Transaction } from './journal.ts'

/** In place of an attribute's name: the event's claim ended with a foreign write, which left its status as it was. */
export const CLAIM = 'claim'

type LcAttributes = { readonly [Name in LcAttributeName]?: string }

/** What the journal tells of one event's attributes in our namespace. */
export interface Facts {
  /** Version of the transaction that added it. */
  readonly added: number
  /** Owner, fence, attempt, latest opening, waiting join and what a retry replaced; the end of a claim is in no journal. */
  readonly lc: LcAttributes
}

/**
 * Gives events back what a writer that makes each event anew from its own class has dropped, as far as the journal
 * knows it: claims (their end excepted: they count as run out), attempts, latest openings, waiting joins and what a
 * retry replaced. Without them a join would wait for ever, and a retried event close over its earlier failure.
 * Attributes that are there stay as they are. Returns the same list if nothing was missing.
 */
export function restoreDropped(
  events: readonly StreamEvent[],
  transactions: readonly Transaction[],
): readonly StreamEvent[] {
  const stream = new EventStream(events)
  const facts = factsOf(stream, transactions)
  let restored = false
  const list = events.map((event, at) => {
    if (!stream.counts(at)) return event
    const lc = { ...facts.get(event.id)?.lc, ...event.lc }
    if (Object.keys(lc).length === Object.keys(event.lc).length) return event
    restored = true
    return { ...event, lc }
  })
  return restored ? list : events
}

/** The events without the claims that a foreign write ended. Who held one stays to be seen: the next claim is another attempt. */
export function withoutEndedClaims(
  events: readonly StreamEvent[],
  changes: readonly JournalChange[],
): readonly StreamEvent[] {
  const ended = new Set(changes.filter(({ attr }) => attr === CLAIM).map(({ event }) => event))
  if (ended.size === 0) return events
  return events.map(event => {
    if (!ended.has(event.id)) return event
    const { fence: _, until: __, ...lc } = event.lc
    return { ...event, lc }
  })
}

/** The same for all events after the given transactions, oldest first. `stream` tells what is below what. */
export function factsOf(stream: EventStream, transactions: readonly Transaction[]): ReadonlyMap<string, Facts> {
  const facts = new Map<string, Facts>()
  for (const transaction of transactions) {
    for (const change of transaction.changes) note(facts, transaction, change, stream.root?.id === change.event)
    if (transaction.op === 'retry' && transaction.on !== '') noteSuperseded(facts, transaction, stream)
  }
  return facts
}

function note(facts: Map<string, Facts>, transaction: Transaction, change: JournalChange, isRoot: boolean): void {
  const before = facts.get(change.event) ?? { added: transaction.version, lc: {} }
  const own = transaction.op !== 'foreign' && transaction.op !== 'adopt'
  // A foreign writer that changed the status has taken the event from its worker.
  const lc = own ? afterOwn(before.lc, transaction, change, isRoot) : afterForeign(before.lc, change)
  facts.set(change.event, { ...before, lc })
}

function afterOwn(lc: LcAttributes, transaction: Transaction, change: JournalChange, isRoot: boolean): LcAttributes {
  const { op, at, version } = transaction
  const { how, to, owner, attempt, attr } = change
  if (attr !== undefined) return lc
  if (how === 'add') return to === 'inprocess' && !isRoot ? { join: 'wait' } : {}
  if (owner !== undefined) return { ...lc, owner, fence: String(version), attempt: String(attempt ?? 1) }
  if (isFinal({ status: to })) return lc
  const { join, ...released } = withoutClaim(lc)
  if (how === 'join' && to === 'init') return { ...released, opened: at }
  const joined = how === 'join' || join !== undefined ? { join: 'wait' } : {}
  const reopened = op === 'retry' && attempt !== undefined ? { opened: at, attempt: String(attempt) } : {}
  return { ...released, ...joined, ...reopened }
}

function afterForeign(lc: LcAttributes, { attr }: JournalChange): LcAttributes {
  if (attr !== CLAIM) return withoutClaim(lc)
  const { fence: _, ...unclaimed } = lc
  return unclaimed
}

function withoutClaim({ owner: _, fence: __, ...lc }: LcAttributes): LcAttributes {
  return lc
}

/** Everything below the target that was there before the retry. */
function noteSuperseded(facts: Map<string, Facts>, { on, version }: Transaction, stream: EventStream): void {
  const target = stream.positionOf(on)
  if (target < 0) return
  for (const at of stream.descendantPositions(target)) {
    const id = stream.at(at)?.id ?? ''
    const known = facts.get(id)
    if (known === undefined || known.added >= version || known.lc.superseded !== undefined) continue
    facts.set(id, { ...known, lc: { ...known.lc, superseded: String(version) } })
  }
}
