import type { Check, CheckResult } from '../../ops/check/check.ts'
import { MAX_EXAMPLES } from '../../ops/check/scan.ts'
import { counted } from '../terminal/numbers.ts'
import type { EXITS } from './json.ts'
import { checkSentence, exampleLines, monitorText, watchdogLine, worstFirst } from './text.ts'

/**
 * The output of a Nagios plugin: status and sentence, the performance data after a `|`, then at most `MAX_EXAMPLES`
 * more lines (https://nagios-plugins.org/doc/guidelines.html).
 */
export function nagiosLines(result: CheckResult): string[] {
  return [nagiosHead(result.status, checkSentence(result), performanceData(result)), ...longLines(result)]
}

/** The first line. @param data the performance data */
export function nagiosHead(status: keyof typeof EXITS, text: string, data: readonly string[]): string {
  const measured = data.length === 0 ? '' : ` | ${data.join(' ')}`
  return `LEASECTL ${status.toUpperCase()} - ${text}${measured}`
}

/** The output of a check that did not complete. */
export function nagiosUnknown(message: string, code: string, facts: readonly string[]): string[] {
  return [nagiosHead('unknown', unknownText(message, code), []), ...facts.map(monitorText)]
}

/** Why a check did not complete. */
export function unknownText(message: string, code: string): string {
  return monitorText(`${message} [${code}]`)
}

/** The lines after the first one. @param max number of examples, and of watchdogs */
export function longLines({ checks, look, watchdogs, sweeping }: CheckResult, max: number = MAX_EXAMPLES): string[] {
  const examples = worstFirst(checks)
    .map(check => exampleLines(check, look.nowMs))
    .filter(lines => lines.length > 0)
  // Many findings of one check leave room for those of the others.
  const share = Math.ceil(max / examples.length)
  const shown = examples.flatMap(lines => lines.slice(0, share)).slice(0, max)
  const hidden = checks.reduce((sum, check) => sum + countOf(check), 0) - shown.length
  return [
    ...shown,
    ...(hidden > 0 ? [`and ${counted(hidden, 'more', 'more')}`] : []),
    ...watchdogs.slice(0, max).map(watchdog => watchdogLine(watchdog, !sweeping.includes(watchdog), look.nowMs)),
  ]
}

function countOf(check: Check): number {
  if (check.name !== 'watchdog') return check.found.count
  return check.verdict.faults.reduce((sum, fault) => sum + ('streams' in fault ? fault.streams.count : 0), 0)
}

/** `label=value[unit];warn;crit;min`. A count is bad once it reaches the limit. */
export function performanceData({ checks, look, sweeping }: CheckResult): string[] {
  const counts = checks.flatMap(check => {
    if (check.name === 'watchdog' || check.name === 'waiting') return []
    const { found, limits } = check
    return [`${check.name}=${found.count};${limits.warn};${limits.crit ?? ''};0`]
  })
  const oldest = look.overdue.examples[0]
  return [
    ...counts,
    `oldest_overdue=${oldest === undefined ? 0 : seconds(look.nowMs - oldest.dueMs)}s;;;0`,
    ...checks.flatMap(oldestReadyData),
    `unacknowledged=${look.unacknowledged};;;0`,
    `suspended=${look.suspended};;;0`,
    `streams=${look.streams};;;0`,
    `open_events=${look.openEvents};;;0`,
    `watchdogs=${sweeping.length};;;0`,
    ...checks.flatMap(lagData),
  ]
}

function oldestReadyData(check: Check): string[] {
  if (check.name !== 'waiting') return []
  const { warnMs, critMs } = check.limits
  return [`oldest_ready=${seconds(check.oldestMs ?? 0)}s;${seconds(warnMs)};${seconds(critMs)};0`]
}

/** Without a watchdog there is no lag: a missing label is better than a meaningless value. */
function lagData(check: Check): string[] {
  if (check.name !== 'watchdog') return []
  const { lagMs, warnMs, critMs } = check.verdict
  if (lagMs === undefined) return []
  return [`lag=${seconds(lagMs)}s;${seconds(warnMs)};${seconds(critMs)};0`]
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? '' : String(Math.round(ms) / 1_000)
}
