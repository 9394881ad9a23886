import { hash } from 'node:crypto'
import type { SeenTransaction, StreamView } from '../../ops/read-stream.ts'
import { isFailed, isFinal, isSuperseded } from '../../stream/event.ts'
import type { JournalChange } from '../../stream/journal/journal.ts'
import type { Expiry } from '../decision.ts'
import type { HookKind } from './target.ts'

/** Something that hooks of a kind are told, with the names that a program finds it by. */
export interface Happening {
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
  readonly what: { readonly transaction: SeenTransaction } | { readonly due: Expiry }
}

/** How the stream stands now, whatever happened to it. */
type Standing = Pick<Happening, 'stream' | 'status' | 'outcome'>

/** Writers that keep no journal tell no time but that of the event itself: older than this it is no news. */
export interface NewsRules {
  /** Address of the store: two stores may hold a copy of the same stream. */
  readonly store: string
  readonly kinds: ReadonlySet<HookKind>
  /** Which of our own transactions are news. */
  isNews(transaction: SeenTransaction, atMs: number | undefined): boolean
  /** What foreign writers did since then is news, epoch ms. */
  readonly foreignSinceMs: number
}

/** All that hooks of these kinds have to be told of a stream, oldest first. */
export function happeningsIn(view: StreamView, rules: NewsRules): Happening[] {
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
export function noticeOf(view: StreamView, due: Expiry, store: string): Happening {
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

function changesFor(kind: HookKind, { changes, op, commandId }: SeenTransaction, view: StreamView): JournalChange[] {
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
function isRecent({ event }: JournalChange, transaction: SeenTransaction, view: StreamView, rules: NewsRules): boolean {
  if (!isForeign(transaction)) return true
  const endedMs = view.time(view.stream.find(event)?.timestamp ?? '')
  return endedMs === undefined || endedMs >= rules.foreignSinceMs
}

function isForeign({ op }: SeenTransaction): boolean {
  return op === 'foreign' || op === 'adopt'
}

function happening(
  kind: HookKind,
  transaction: SeenTransaction,
  changes: readonly JournalChange[],
  view: StreamView,
  atMs: number | undefined,
  { store }: NewsRules,
): Omit<Happening, keyof Standing> {
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
function identity(transaction: SeenTransaction, changes: readonly JournalChange[], view: StreamView): unknown[] {
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
