import { hash } from 'node:crypto'
import { Position } from '../../ops/follow/follow.ts'
import type { JournalEntry } from '../../ops/read-stream.ts'

/**
 * Delivered streams are remembered for at least this time before the watermark, ms. Half of it is for transactions that were
 * made before the watermark and became visible after it; the other half for the differences between clocks.
 */
export const MARGIN_MS = 60_000
/** The same where there is room: requests of a dead network arrive when it heals. */
export const LONG_MARGIN_MS = 150_000

/** The part of both that is for the differences between clocks, ms. */
const CLOCKS_MS = MARGIN_MS / 2

/** A stream up to a version. */
export interface KnownVersion {
  readonly born: string
  readonly version: number
  /** A time at which the stream was at that version, or before, epoch ms. */
  readonly seenMs: number
}

/** A stream as it was read. */
export interface ReadState {
  readonly born: string
  readonly transactions: readonly JournalEntry[]
  readonly modifiedMs: number
}

/** Times of a stream whose version is not known. */
export interface SinceTimes {
  readonly watermarkMs: number
  /** Delivered streams that were written up to then are not remembered. */
  readonly forgottenMs: number
  readonly fromMs: number
}

/** The key of a life of a stream in a position document: 64 bits. */
export function streamKey(stream: string, born: string): string {
  return hash('sha256', `${stream}\0${born}`, 'base64url').slice(0, 11)
}

/** What is to be delivered of a stream, in order. */
export interface NewTransactions {
  readonly transactions: readonly JournalEntry[]
  /** Everything up to this version was handled. */
  readonly version: number
  /** An older copy was put in its place: which transactions are new is told from their times. */
  readonly isOlderCopy: boolean
}

/**
 * The transactions of a stream that were not handled. With a known version those after it; another life of the stream
 * begins at its first. Without one: a delivered transaction is not younger than `forgottenMs`, or the stream would be
 * remembered, and one that was not delivered became visible after the watermark.
 */
export function newTransactions(read: ReadState, known: KnownVersion | undefined, times: SinceTimes): NewTransactions {
  if (known === undefined) return since(read, times)
  const position = new Position({ version: known.version, born: known.born, seenMs: known.seenMs })
  const { transactions, broken } = position.advance(read)
  const newest = read.transactions.findLast(tx => !tx.provisional)?.version ?? 0
  return {
    transactions,
    version: versionBefore(transactions, newest),
    isOlderCopy: broken === 'older-copy',
  }
}

function since(
  { transactions, modifiedMs }: ReadState,
  { watermarkMs, forgottenMs, fromMs }: SinceTimes,
): NewTransactions {
  const fromStart = watermarkMs === 0
  const startMs = Math.max(watermarkMs - LONG_MARGIN_MS + CLOCKS_MS, forgottenMs + CLOCKS_MS, fromMs)
  const first = transactions.findIndex(tx => {
    const atMs = tx.provisional ? modifiedMs : Date.parse(tx.at)
    return fromStart || (Number.isNaN(atMs) ? modifiedMs : atMs) >= startMs
  })
  const fresh = first < 0 ? [] : transactions.slice(first)
  const newest = transactions.findLast(tx => !tx.provisional)?.version ?? 0
  return { transactions: fresh, version: versionBefore(fresh, newest), isOlderCopy: false }
}

/** The version before the first of the transactions, or the newest one without any. */
function versionBefore([first]: readonly JournalEntry[], newest: number): number {
  if (first === undefined || first.provisional) return newest
  return first.version - 1
}
