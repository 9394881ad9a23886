import type { Holder, LeaseView } from '../store/store.ts'
import { visibleText } from '../stream/text.ts'
import { jsonTime } from './json.ts'
import { roughSpan, span } from './terminal/numbers.ts'

/** Who holds the lease: `worker-7@aks-3 (pid 41) for 41s, "event complete 01.02.00"`. */
export function holderText(holder: Holder, nowMs: number): string {
  const host = holder.host === '' || holder.by.includes('@') ? '' : `@${visibleText(holder.host)}`
  const pid = holder.pid > 0 ? ` (pid ${holder.pid})` : ''
  const purpose = holder.purpose === '' ? '' : `, "${visibleText(holder.purpose)}"`
  return `${visibleText(holder.by)}${host}${pid} for ${span(nowMs - holder.sinceMs)}${purpose}`
}

/** The holder, or what is known instead of it. */
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
  if (lease.state !== 'leased' && lease.state !== 'breaking') return lease.state
  return `${lease.state}${duration} by ${holderOrLast(lease, nowMs, lastBy)}${until}`
}

/** The lease as JSON shows it. */
export function leaseJson(lease: LeaseView) {
  return {
    state: lease.state,
    duration: lease.duration ?? null,
    until: jsonTime(lease.untilMs),
    holder: lease.holder === undefined ? null : holderJson(lease.holder),
  }
}

/** A holder as JSON shows it. */
export function holderJson(holder: Holder) {
  return { by: holder.by, host: holder.host, pid: holder.pid, purpose: holder.purpose, since: jsonTime(holder.sinceMs) }
}
