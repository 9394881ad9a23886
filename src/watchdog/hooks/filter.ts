import { isFinal } from '../../stream/event.ts'
import type { MovedStream } from '../report.ts'
import type { HookKind } from './target.ts'

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
