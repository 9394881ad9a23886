import type { StreamStore } from '../store/store.ts'
import { cutBytes } from '../stream/text.ts'
import type { Glob } from './glob.ts'
import { readSystemDocument } from './read-system-document.ts'
import { changeSystemDocument, type SystemDocumentOutcome } from './system-documents.ts'

/** The audit log of a store: what leaves no entry in the journal of a stream, because the stream is gone or came as it is. */
export const AUDIT_LOG = '.leasectl/audit.ndjson'

/** Maximum size of the audit log, bytes: about a thousand entries. The oldest are dropped. */
export const MAX_AUDIT_BYTES = 256 * 1024

/** Maximum number of names of streams in an entry. */
export const MAX_AUDITED_NAMES = 20
/** Maximum bytes of these names. */
const MAX_NAME_BYTES = 2_048
/** Maximum bytes of any other text in an entry. */
const MAX_TEXT_BYTES = 1_024

/** The commands that the audit log records. */
export const AUDITED = ['rm', 'import', 'export', 'break-lease', 'break-container-lease'] as const

export type AuditedOperation = (typeof AUDITED)[number]

/** One command, however many streams it changed. */
export interface AuditEntry {
  readonly id: string
  /** ISO time of the begin. */
  readonly at: string
  readonly by: string
  readonly host: string
  readonly op: string
  readonly why: string
  readonly commandId: string
  /** Number of streams to be changed; `undefined` if it was not known before. */
  readonly streams: number | undefined
  /** Names of the first of them. */
  readonly names: readonly string[]
  /** Where imported streams came from; the container whose lease was broken; or `''`. */
  readonly source: string
  /** `undefined`: the command still runs, or its process ended before it could write: some streams may be changed. */
  readonly end: AuditEnd | undefined
}

/** How a command ended. */
export interface AuditEnd {
  /** ISO time. */
  readonly at: string
  /** Number of streams by outcome: `{ done: 3 }`. */
  readonly counts: Readonly<Record<string, number>>
}

/** Who writes an entry, and how long to wait for other writers, ms. */
export interface AuditWriter {
  readonly by: string
  readonly waitMs?: number
}

/**
 * Writes an entry before its command changes anything, so that a killed command is in the log too. Safe beside other
 * writers: each writes over the state that it has read.
 *
 * @throws the store's faults: nothing was written
 */
export function beginAuditEntry(
  store: StreamStore,
  entry: Omit<AuditEntry, 'end'>,
  writer: AuditWriter,
): Promise<SystemDocumentOutcome> {
  const line = lineOf({ ...entry, end: undefined })
  return change(store, lines => (lines.some(other => idOf(other) === entry.id) ? undefined : [...lines, line]), writer)
}

/** Adds the end to an entry. If the entry has been dropped, it is written anew. @throws the store's faults */
export function endAuditEntry(
  store: StreamStore,
  entry: AuditEntry,
  writer: AuditWriter,
): Promise<SystemDocumentOutcome> {
  const line = lineOf(entry)
  return change(
    store,
    lines => {
      const at = lines.findIndex(other => idOf(other) === entry.id)
      return at < 0 ? [...lines, line] : lines.with(at, line)
    },
    writer,
  )
}

/** Filters entries; all conditions must hold. Times in epoch ms. */
export interface AuditQuery {
  readonly sinceMs?: number
  readonly untilMs?: number
  readonly by?: Glob
  readonly ops?: readonly string[]
}

/** The entries, oldest first; damaged lines are left out. @throws the store's faults */
export async function readAuditLog(
  store: StreamStore,
  { sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY, by, ops }: AuditQuery,
  signal?: AbortSignal,
): Promise<readonly AuditEntry[]> {
  const text = await readSystemDocument(store, AUDIT_LOG, signal, MAX_AUDIT_BYTES)
  return linesOf(text)
    .flatMap(line => entryOf(line) ?? [])
    .filter(entry => {
      const atMs = Date.parse(entry.at)
      return atMs >= sinceMs && atMs <= untilMs && by?.matches(entry.by) !== false && ops?.includes(entry.op) !== false
    })
}

function change(
  store: StreamStore,
  edit: (lines: readonly string[]) => readonly string[] | undefined,
  { by, waitMs = 10_000 }: AuditWriter,
): Promise<SystemDocumentOutcome> {
  const rewrite = (text: string | undefined) => {
    const lines = edit(linesOf(text))
    return lines && withinLimit(lines)
  }
  const options = { by, purpose: 'audit log', waitMs, write: 'optimistic', maxBytes: MAX_AUDIT_BYTES } as const
  return changeSystemDocument(store, AUDIT_LOG, rewrite, options)
}

/** The newest lines that fit. */
function withinLimit(lines: readonly string[]): string {
  let first = lines.length
  let bytes = 0
  while (first > 0) {
    bytes += Buffer.byteLength(lines[first - 1] ?? '') + 1
    if (bytes > MAX_AUDIT_BYTES) break
    first -= 1
  }
  return lines
    .slice(first)
    .map(line => `${line}\n`)
    .join('')
}

function linesOf(text = ''): readonly string[] {
  return text.split('\n').filter(line => line !== '')
}

function lineOf(entry: AuditEntry): string {
  const { names, streams, end, ...texts } = entry
  const cut = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, cutBytes(text, MAX_TEXT_BYTES)]))
  return JSON.stringify({ ...cut, streams: streams ?? null, names: firstOf(names), end: end ?? null })
}

function firstOf(names: readonly string[]): readonly string[] {
  let bytes = 0
  const isWithin = (name: string) => {
    bytes += Buffer.byteLength(name)
    return bytes <= MAX_NAME_BYTES
  }
  const first = names.slice(0, MAX_AUDITED_NAMES)
  const past = first.findIndex(name => !isWithin(name))
  return past < 0 ? first : first.slice(0, Math.max(1, past))
}

function idOf(line: string): string | undefined {
  return entryOf(line)?.id
}

function entryOf(line: string): AuditEntry | undefined {
  const fields = recordOf(line)
  if (fields === undefined || textOf(fields.id) === '' || Number.isNaN(Date.parse(textOf(fields.at)))) return undefined
  const { id, at, by, host, op, why, commandId, streams, names, source, end } = fields
  return {
    ...{ id: textOf(id), at: textOf(at), by: textOf(by), host: textOf(host), op: textOf(op), why: textOf(why) },
    ...{ commandId: textOf(commandId), source: textOf(source), end: endOf(end) },
    streams: typeof streams === 'number' ? streams : undefined,
    names: Array.isArray(names) ? names.filter(name => typeof name === 'string') : [],
  }
}

function endOf(value: unknown): AuditEnd | undefined {
  if (!isRecord(value) || !isRecord(value.counts)) return undefined
  const counts = Object.entries(value.counts).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return { at: textOf(value.at), counts: Object.fromEntries(counts) }
}

function recordOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
