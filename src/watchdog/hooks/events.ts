import { hash } from 'node:crypto'
import type { JournalEntry, StreamView } from '../../ops/read-stream.ts'
import { isFailed, isFinal, isSuperseded } from '../../stream/event.ts'
import type { JournalChange } from '../../stream/journal/journal.ts'
import { cutBytes } from '../../stream/text.ts'
import { isoTime } from '../../stream/time/dates.ts'
import type { Expiry } from '../decision.ts'
import type { MovedStream } from '../report.ts'
import type { HookKind } from './target.ts'

/** Something that hooks of a kind are told, with the names that a program finds it by. */
export interface HookEvent {
  readonly kind: HookKind
  /** The same whoever finds it and how often: what receivers tell repetitions by. */
  readonly id: string
  /** When, epoch ms; `undefined`: it cannot be read, or it is now. */
  readonly atMs: number | undefined
  readonly stream: string
  /** The target of the transaction, or the event it is about. */
  readonly event: string
  readonly commandId: string
  /** Of the stream after the transaction; `undefined` for what has no number. */
  readonly version: number | undefined
  readonly status: string
  readonly outcome: '' | 'errors'
  readonly what: { readonly transaction: JournalEntry } | { readonly due: Expiry }
}

/** How the stream stands now, whatever happened to it. */
type Standing = Pick<HookEvent, 'stream' | 'status' | 'outcome'>

/** Writers that keep no journal tell no time but that of the event itself: older than this it is no news. */
export interface NewsRules {
  /** Address of the store: two stores may hold a copy of the same stream. */
  readonly store: string
  readonly kinds: ReadonlySet<HookKind>
  /** Which of our own transactions are news. */
  isNews(transaction: JournalEntry, atMs: number | undefined): boolean
  /** What foreign writers did since then is news, epoch ms. */
  readonly foreignSinceMs: number
}

/** All that hooks of these kinds have to be told of a stream, oldest first. */
export function happeningsIn(view: StreamView, rules: NewsRules): HookEvent[] {
  const standing = standingOf(view)
  return view.transactions().flatMap(transaction => {
    const parsed = Date.parse(transaction.at)
    const atMs = Number.isNaN(parsed) ? undefined : parsed
    // an unrecorded foreign write has no version: whether it was told already is known by what it did
    if (!transaction.provisional && !rules.isNews(transaction, atMs)) return []
    return [...rules.kinds].flatMap(kind => {
      const changes = changesFor(kind, transaction, view).filter(change => isRecent(change, transaction, view, rules))
      return changes.length === 0 ? [] : [{ ...happening(kind, transaction, changes, view, atMs, rules), ...standing }]
    })
  })
}

/** What a watchdog only tells of. */
export function noticeOf(view: StreamView, due: Expiry, store: string): HookEvent {
  const { stream, event, commandId } = due
  const id = idOf('expired', [store, stream, commandId])
  return {
    kind: 'expired',
    id,
    atMs: undefined,
    event,
    commandId,
    version: undefined,
    what: { due },
    ...standingOf(view),
  }
}

function changesFor(kind: HookKind, { changes, op, commandId }: JournalEntry, view: StreamView): JournalChange[] {
  const moved = changes.filter(({ attr }) => attr === undefined)
  switch (kind) {
    case 'done':
      return moved.filter(({ event, from, to }) => event === view.stream.root?.id && ends(from, to))
    case 'failed':
      return moved.filter(({ from, to }) => to === 'aborted' && from !== to)
    case 'expired':
      // a command id of anybody's may begin so, but nobody else's abort has one by chance
      return op === 'abort' && commandId.startsWith('watchdog:') ? moved.filter(({ from, to }) => ends(from, to)) : []
    default:
      return kind satisfies never
  }
}

function ends(from: string, to: string): boolean {
  return isFinal({ status: to }) && !isFinal({ status: from })
}

/**
 * A foreign write is found late, and the first of all tells of everything that ever happened to the stream. When an event
 * ended its own timestamp tells; without one it counts.
 */
function isRecent({ event }: JournalChange, transaction: JournalEntry, view: StreamView, rules: NewsRules): boolean {
  if (!isForeign(transaction)) return true
  const endedMs = view.time(view.stream.find(event)?.timestamp ?? '')
  return endedMs === undefined || endedMs >= rules.foreignSinceMs
}

function isForeign({ op }: JournalEntry): boolean {
  return op === 'foreign' || op === 'adopt'
}

function happening(
  kind: HookKind,
  transaction: JournalEntry,
  changes: readonly JournalChange[],
  view: StreamView,
  atMs: number | undefined,
  { store }: NewsRules,
): Omit<HookEvent, keyof Standing> {
  const { commandId, on, provisional, version } = transaction
  return {
    kind,
    id: idOf(kind, [store, view.name, ...identity(transaction, changes, view)]),
    atMs,
    event: on === '' ? (changes[0]?.event ?? '') : on,
    commandId,
    version: provisional ? undefined : version,
    what: { transaction },
  }
}

/** A foreign write keeps its id when it is recorded: it is known by what it did, and when the events say that was. */
function identity(transaction: JournalEntry, changes: readonly JournalChange[], view: StreamView): unknown[] {
  const { at, commandId, version } = transaction
  if (!isForeign(transaction)) return [commandId === '' ? version : commandId, at]
  return changes.map(({ event, to }) => [event, to, view.stream.find(event)?.timestamp ?? ''])
}

/** 128 bits of SHA-256, with a word in front for people. */
function idOf(kind: HookKind, parts: readonly unknown[]): string {
  return `${kind}-${hash('sha256', JSON.stringify([kind, ...parts]), 'hex').slice(0, 32)}`
}

/** Looks at all events. */
function standingOf({ name, stream }: StreamView): Standing {
  const hasErrors = stream.events.some(
    (event, at) => event !== stream.root && isFailed(event) && !isSuperseded(event) && stream.counts(at),
  )
  return { stream: name, status: stream.root?.status ?? '', outcome: hasErrors ? 'errors' : '' }
}

/** What is known of a stream. */
export interface Known {
  /** What it did up to this version is known; `undefined`: nothing of it. */
  readonly before: number | undefined
  /** What happened since then is news, epoch ms. */
  readonly sinceMs: number
  /** Start of the last sweep that came to its end, epoch ms; `undefined` in the first. */
  readonly lastSweepMs: number | undefined
}

/**
 * What came after the version that was seen last is news. But a stream may have been made anew under the name, which counts
 * from 1 again, so what happened since the last sweep is looked at too; what was told is not told again.
 */
export function isNews(
  { version, atMs }: { readonly version: number | undefined; readonly atMs: number | undefined },
  { before, sinceMs, lastSweepMs }: Known,
): boolean {
  if (before !== undefined && version !== undefined && version > before) return true
  if (atMs === undefined) return before === undefined || version === undefined
  if (atMs < sinceMs - MARGIN_MS) return false
  return before === undefined || version === undefined || atMs >= (lastSweepMs ?? atMs + 1) - MARGIN_MS
}

/** A write may be stamped so long before others can see it: half a minute on its way, and clocks that differ a little. */
export const MARGIN_MS = 60_000

export interface FilterRules {
  readonly kinds: ReadonlySet<HookKind>
  /** What happened since then is news, epoch ms. */
  readonly sinceMs: number
  /** Start of the last sweep that came to its end, epoch ms; `undefined` in the first. */
  readonly lastSweepMs: number | undefined
}

/** False where the summary alone tells that hooks have nothing to be told of a stream: its document need not be read. */
export function mayTell(moved: MovedStream, { kinds, sinceMs, lastSweepMs }: FilterRules): boolean {
  const { listed, summary, before } = moved
  if (summary === undefined) return false
  if (before === undefined && listed.modifiedMs < sinceMs - MARGIN_MS) return false
  const isYoung = summary.createdMs === undefined || summary.createdMs >= (lastSweepMs ?? sinceMs) - MARGIN_MS
  // heartbeats raise no version; a stream that was removed and made anew may come back to the same one
  const isOurs = summary === listed.summary
  if (isOurs && before === summary.version && !isYoung) return false
  if (kinds.has('done') && isFinal(summary)) return true
  if ((kinds.has('failed') || kinds.has('expired')) && summary.failed > 0) return true
  return mayHide(summary.version, before, isYoung)
}

/** What ended and was reopened since took two transactions, and the summary has forgotten it. */
function mayHide(version: number, before: number | undefined, isYoung: boolean): boolean {
  const from = before === undefined || isYoung || before > version ? 1 : before
  return version >= from + 2
}

/** How JSON looks is not for a watchdog to know: handed in by who prints transactions elsewhere too. */
export interface HookFormat {
  /** A transaction as `tail -o ndjson` prints it. */
  transaction(stream: string, transaction: JournalEntry): object
  /** A document as text, the version of the format in front. */
  document(fields: object): string
}

/** What a hook reads on standard input, or a webhook as its body. */
export function documentOf(happening: HookEvent, store: string, format: HookFormat): string {
  const { kind, id, stream, status, outcome, what } = happening
  return format.document({
    hook: kind,
    deliveryId: id,
    store,
    stream,
    status: status === '' ? null : status,
    outcome: outcome === '' ? null : outcome,
    ...('transaction' in what
      ? { transaction: format.transaction(stream, what.transaction), due: null }
      : { transaction: null, due: dueOf(what) }),
  })
}

function dueOf({ due }: Extract<HookEvent['what'], { due: unknown }>): object {
  const { event, name, limit, dueMs, message, commandId } = due
  return { event, name: name === '' ? null : name, limit, due: isoTime(dueMs), message, commandId }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Of the daemon's own environment a program gets no more: what else is in it is often secret. */
const HANDED_ON = ['PATH', 'HOME', 'LANG', 'TZ'] as const

/** A longer text would keep the program from being started: it stands whole in the document. */
const MAX_VALUE_BYTES = 8 * 1_024

/** The environment of a program: where it is told what, for scripts that read no JSON. */
export function environmentOf(happening: HookEvent, store: string, own: Environment): Record<string, string> {
  const { kind, stream, event, commandId, version } = happening
  const handedOn = HANDED_ON.flatMap(name => (own[name] === undefined ? [] : [[name, own[name]] as const]))
  const told = {
    LEASECTL_STORE: store,
    LEASECTL_STREAM: stream,
    LEASECTL_EVENT: event,
    LEASECTL_HOOK: kind,
    LEASECTL_COMMAND_ID: commandId,
    LEASECTL_VERSION: version === undefined ? '' : String(version),
    LEASECTL_DELIVERY_ID: happening.id,
  }
  const cut = Object.entries(told).map(([name, value]) => [name, cutBytes(value, MAX_VALUE_BYTES)] as const)
  return Object.fromEntries([...handedOn, ...cut])
}
