import type { StaleReason } from '../ops/stale-lease.ts'
import type { Holder, LeaseAttempt, LeaseView, StreamRow } from '../store/store.ts'
import { isHeld } from '../stream/lease.ts'
import { visibleText } from '../util/visible-text.ts'
import { type CellFormat, rowOf, type TableColumn, textFormat } from './field.ts'
import { jsonTime, orNull } from './json.ts'
import { counted, roughSpan, span, type TimeStyle } from './terminal/numbers.ts'
import type { Cell } from './terminal/table.ts'

/** Holder of a lease: `worker-7@aks-3 (pid 41) for 41s, "event complete 01.02.00"`. */
export function holderText(holder: Holder, nowMs: number): string {
  const host = holder.host === '' || holder.by.includes('@') ? '' : `@${visibleText(holder.host)}`
  const pid = holder.pid > 0 ? ` (pid ${holder.pid})` : ''
  const purpose = holder.purpose === '' ? '' : `, "${visibleText(holder.purpose)}"`
  return `${visibleText(holder.by)}${host}${pid} for ${span(nowMs - holder.sinceMs)}${purpose}`
}

/** The holder; if unknown, the last writer. */
export function holderOrLast(lease: LeaseView, nowMs: number, lastBy: string | undefined): string {
  if (lease.holder !== undefined) return holderText(lease.holder, nowMs)
  return lastBy === undefined || lastBy === ''
    ? 'holder unknown'
    : `holder unknown, last written by ${visibleText(lastBy)}`
}

/** State and holder in one line. */
export function leaseText(lease: LeaseView, nowMs: number, lastBy?: string): string {
  const until = lease.untilMs === undefined ? '' : `, ends in ${roughSpan(lease.untilMs - nowMs)}`
  const duration = lease.duration === 'infinite' ? ' (infinite)' : ''
  if (!isHeld(lease)) return lease.state
  return `${lease.state}${duration} by ${holderOrLast(lease, nowMs, lastBy)}${until}`
}

/** One attempt of a change to get the lease of a stream, or the sum at the end of its attempts. */
export function leaseAttemptLine(attempt: LeaseAttempt, nowMs: number): string {
  const { stream, waitedMs } = attempt
  const lease = `lease of ${visibleText(stream)}`
  const seconds = `${(waitedMs / 1000).toFixed(1)}s`
  const sum = `${counted(attempt.attempt, 'attempt')}, waited ${seconds}`
  switch (attempt.kind) {
    case 'held':
      return `${lease}, attempt ${attempt.attempt} after ${seconds}: ${leaseText(attempt.lease, nowMs, attempt.lastBy)}`
    case 'acquired':
      return `${lease}: free, ${sum}`
    case 'given-up':
      return `${lease}: still held, ${sum}`
    default:
      return attempt satisfies never
  }
}

/** A lease as JSON. */
export function leaseJson(lease: LeaseView) {
  return {
    state: lease.state,
    duration: lease.duration ?? null,
    until: jsonTime(lease.untilMs),
    holder: lease.holder === undefined ? null : holderJson(lease.holder),
  }
}

/** A holder as JSON. */
export function holderJson(holder: Holder) {
  return { by: holder.by, host: holder.host, pid: holder.pid, purpose: holder.purpose, since: jsonTime(holder.sinceMs) }
}

/** A held lease. */
export interface LeaseRow {
  readonly listed: StreamRow
  /** Why it looks stale; empty if it does not. */
  readonly stale: readonly StaleReason[]
}

/** A lease as JSON; fields are only ever added. Only the holder knows its id. */
export function heldLeaseJson({ listed, stale }: LeaseRow) {
  const { state, duration, until, holder } = leaseJson(listed.lease)
  return {
    stream: listed.name,
    state,
    leaseId: null,
    duration,
    until,
    holder,
    lastBy: orNull(listed.summary?.lastBy),
    stale: stale.length > 0,
    staleBecause: stale,
  }
}

/** The fields of a held lease. */
export const LEASE_FIELDS = [
  'stream',
  'state',
  'leaseId',
  'duration',
  'until',
  'holder',
  'lastBy',
  'stale',
  'staleBecause',
] as const

/** The columns of `lease ls`; `why` adds the reasons why a lease looks stale. */
export function leaseColumns(why: boolean): readonly TableColumn<LeaseRow>[] {
  return why ? [...COLUMNS, STALE_BECAUSE] : COLUMNS
}

/** One row of `lease ls`. */
export function leaseRow(lease: LeaseRow, why: boolean, nowMs: number, time: TimeStyle): Cell[] {
  return rowOf(leaseColumns(why), lease, textFormat(nowMs, time))
}

const COLUMNS: readonly TableColumn<LeaseRow>[] = [
  { title: 'STREAM', give: 1, min: 12, cut: 'middle', cell: ({ listed }, format) => format.name(listed.name) },
  { title: 'STATE', cell: ({ listed }) => ({ text: listed.lease.state, style: 'warn' }) },
  {
    title: 'HOLDER',
    give: 3,
    min: 8,
    cell: ({ listed: { lease, summary } }, format) => holderCell(lease, summary?.lastBy, format).text,
  },
  { title: 'HOST', give: 4, min: 6, cell: ({ listed: { lease } }, { text }) => text(lease.holder?.host ?? '') || '-' },
  { title: 'PID', align: 'right', cell: ({ listed: { lease } }) => pidText(lease.holder) },
  { title: 'PURPOSE', give: 5, min: 8, cell: ({ listed }, format) => purposeText(listed, format) },
  { title: 'SINCE', cell: ({ listed: { lease } }, format) => format.past(lease.holder?.sinceMs) },
  { title: 'ENDS', cell: ({ listed: { lease } }, format) => endText(lease, format) },
]

const STALE_BECAUSE: TableColumn<LeaseRow> = { title: 'STALE BECAUSE', give: 2, min: 10, cell: staleText }

/** The holder, if the store knows it; on Azure only holders of long leases are recorded. */
export function holderCell({ holder }: LeaseView, lastBy: string | undefined, { text }: CellFormat) {
  if (holder !== undefined) return { text: text(holder.by) || '-', style: 'warn' } as const
  return { text: lastBy ? `unknown, last written by ${text(lastBy)}` : 'unknown', style: 'dim' } as const
}

/** What the holder said it takes the lease for. */
export function purposeText({ lease: { holder } }: StreamRow, { text }: CellFormat): string {
  return text(holder?.purpose ?? '') || '-'
}

function pidText(holder: Holder | undefined): string {
  return holder !== undefined && holder.pid > 0 ? String(holder.pid) : '-'
}

/** The reasons why a lease looks stale, in words. */
function staleText({ stale, listed }: LeaseRow, { nowMs, span }: CellFormat): string {
  const { holder } = listed.lease
  const words: { readonly [Reason in StaleReason]: string } = {
    'held-long': `held for ${span(nowMs - (holder?.sinceMs ?? nowMs))}`,
    'holder-unknown': 'infinite, holder unknown',
    'process-gone': `process ${holder?.pid ?? ''} no longer runs here`,
  }
  return stale.map(reason => words[reason]).join('; ')
}

function endText({ duration, untilMs }: LeaseView, { nowMs, time, age }: CellFormat): string {
  if (duration === 'infinite') return 'never'
  return untilMs !== undefined && time === 'relative' ? `in ${roughSpan(untilMs - nowMs)}` : age(untilMs)
}
