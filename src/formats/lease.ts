import type { StaleReason } from '../ops/stale-lease.ts'
import type { Holder, LeaseView, StreamRow } from '../store/store.ts'
import { isHeld } from '../stream/lease.ts'
import { visibleName, visibleText } from '../util/visible-text.ts'
import { jsonTime, orNull } from './json.ts'
import { roughSpan, span, type TimeStyle, timeText } from './terminal/numbers.ts'
import type { Cell, Column } from './terminal/table.ts'

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

/** The columns of `lease ls`; `why` adds the reasons why a lease looks stale. */
export function leaseColumns(why: boolean): Column[] {
  return [
    { title: 'STREAM', give: 1, min: 12, cut: 'middle' },
    { title: 'STATE' },
    { title: 'HOLDER', give: 3, min: 8 },
    { title: 'HOST', give: 4, min: 6 },
    { title: 'PID', align: 'right' },
    { title: 'PURPOSE', give: 5, min: 8 },
    { title: 'SINCE' },
    { title: 'ENDS' },
    ...(why ? [{ title: 'STALE BECAUSE', give: 2, min: 10 }] : []),
  ]
}

/** One row of `lease ls`. */
export function leaseRow({ listed, stale }: LeaseRow, why: boolean, nowMs: number, time: TimeStyle): Cell[] {
  const { lease, summary, name } = listed
  const { holder } = lease
  return [
    visibleName(name),
    { text: lease.state, style: 'warn' },
    holder === undefined ? unknownHolder(summary?.lastBy) : visibleText(holder.by),
    visibleText(holder?.host ?? '') || '-',
    holder !== undefined && holder.pid > 0 ? String(holder.pid) : '-',
    visibleText(holder?.purpose ?? '') || '-',
    sinceText(holder?.sinceMs, nowMs, time),
    endText(listed, nowMs, time),
    ...(why ? [staleText(stale, listed, nowMs)] : []),
  ]
}

/** The reasons why a lease looks stale, in words. */
function staleText(stale: readonly StaleReason[], { lease: { holder } }: StreamRow, nowMs: number): string {
  const words: { readonly [Reason in StaleReason]: string } = {
    'held-long': `held for ${span(nowMs - (holder?.sinceMs ?? nowMs))}`,
    'holder-unknown': 'infinite, holder unknown',
    'process-gone': `process ${holder?.pid ?? ''} no longer runs here`,
  }
  return stale.map(reason => words[reason]).join('; ')
}

function unknownHolder(lastBy: string | undefined): string {
  return lastBy ? `unknown, last written by ${visibleText(lastBy)}` : 'unknown'
}

function sinceText(ms: number | undefined, nowMs: number, time: TimeStyle): string {
  return ms !== undefined && time === 'relative' ? `${span(nowMs - ms)} ago` : timeText(ms, nowMs, time)
}

function endText({ lease: { duration, untilMs } }: StreamRow, nowMs: number, time: TimeStyle): string {
  if (duration === 'infinite') return 'never'
  return untilMs !== undefined && time === 'relative'
    ? `in ${roughSpan(untilMs - nowMs)}`
    : timeText(untilMs, nowMs, time)
}
