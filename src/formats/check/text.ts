import type { Check, CheckResult } from '../../ops/check/check.ts'
import type { AbandonedStream, FailedStream, StoreScan, StuckLease } from '../../ops/check/scan.ts'
import type { CheckStatus } from '../../ops/check/status.ts'
import type { WatchdogFault, WatchdogSeen, WatchdogVerdict } from '../../ops/check/watchdogs.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { visibleName, visibleText } from '../../util/visible-text.ts'
import { holderText } from '../lease.ts'
import { counted, countText, span } from '../terminal/numbers.ts'
import { cut, cutInside } from '../terminal/width.ts'

/** Monitoring systems cut longer lines at arbitrary places. */
const NAME_COLUMNS = 40
const LINE_COLUMNS = 200

/**
 * The result, worst check first, in one sentence: `12 overdue (oldest 2h, orders/17), 431 streams, last sweep 4s ago`.
 */
export function checkSentence({ checks, look, match }: CheckResult): string {
  const phrases = worstFirst(checks).flatMap(check => phrasesOf(check, look.nowMs))
  const streams =
    look.streams === 0 && match !== undefined ? `nothing matches ${nameText(match)}` : counted(look.streams, 'stream')
  return [...phrases, streams, ...passedPhrases(checks, look)].join(', ')
}

/** The result of one check in words, also when it found nothing. */
export function checkMessage(check: Check, look: StoreScan): string {
  const phrases = phrasesOf(check, look.nowMs)
  if (phrases.length > 0) return phrases.join(', ')
  if (check.name === 'overdue') return nothingOverdue(look)
  if (check.name === 'failed') return nothingFailed(look)
  if (check.name !== 'watchdog') return NOTHING[check.name]
  return check.verdict.best === undefined ? 'no watchdog, and nothing has a time limit' : sweptText(check.verdict)
}

const NOTHING: { readonly [Name in Exclude<Check['name'], 'overdue' | 'failed' | 'watchdog'>]: string } = {
  blocked: 'no blocked stream',
  undo: 'every stream could undo what it had to',
  abandoned: 'no silent worker',
  waiting: 'no event waits too long for a worker',
  stuck: 'no stuck lease',
  unreadable: 'every document can be read',
  subscriptions: 'every subscription keeps up',
  inboxes: 'every inbox is drained in time',
}

/** Streams overdue for less than the threshold do not count. There may be many: a circuit breaker holds them back. */
function nothingOverdue({ overdueForMs }: StoreScan): string {
  return overdueForMs === 0 ? 'nothing overdue' : `nothing overdue for ${formatDuration(overdueForMs)} or longer`
}

function nothingFailed({ failedSinceMs, unacknowledged }: StoreScan): string {
  const earlier = unacknowledged === 0 ? '' : `, ${unacknowledgedText(unacknowledged)}`
  return `nothing failed within ${formatDuration(failedSinceMs)}${earlier}`
}

function unacknowledgedText(streams: number): string {
  return `${counted(streams, 'unacknowledged failure')} in all`
}

/** The checks, worst first, otherwise in their given order. */
export function worstFirst(checks: readonly Check[]): readonly Check[] {
  return checks.toSorted((a, b) => RANK[a.status] - RANK[b.status])
}

const RANK: { readonly [Status in CheckStatus]: number } = { critical: 0, warning: 1, ok: 2 }

/** The examples of a check, one line each. */
export function exampleLines(check: Check, nowMs: number): string[] {
  switch (check.name) {
    case 'overdue':
      return check.found.examples.map(({ stream, dueMs }) =>
        line(`overdue: ${visibleName(stream)} for ${span(nowMs - dueMs)}`),
      )
    case 'failed':
      return check.found.examples.map(failed =>
        line(`failed: ${visibleName(failed.stream)} ${span(nowMs - failed.failedAtMs)} ago, ${failedText(failed)}`),
      )
    case 'blocked':
    case 'undo':
      return check.found.examples.map(failed => {
        const what = check.name === 'blocked' ? 'blocked' : 'not undone'
        const ago = span(nowMs - failed.failedAtMs)
        return line(`${what}: ${visibleName(failed.stream)} failed ${ago} ago, ${failedText(failed)}`)
      })
    case 'abandoned':
      return check.found.examples.map(abandoned => {
        const what = abandonedText(abandoned)
        const since = span(nowMs - abandoned.claimEndMs)
        return line(`abandoned: ${visibleName(abandoned.stream)} for ${since}${what === '' ? '' : `, ${what}`}`)
      })
    case 'waiting':
      return check.found.examples.map(({ stream, readySinceMs }) =>
        line(`waiting: ${visibleName(stream)} for ${span(nowMs - readySinceMs)}`),
      )
    case 'stuck':
      return check.found.examples.map(lease =>
        line(`stuck lease: ${visibleName(lease.stream)}, ${stuckText(lease, nowMs)}`),
      )
    case 'unreadable':
      return check.found.examples.map(({ stream, message }) => line(`unreadable: ${visibleName(stream)}: ${message}`))
    case 'subscriptions':
      return check.found.examples.map(({ name, why }) =>
        line(`subscription: ${visibleText(name)}: ${visibleText(why)}`),
      )
    case 'inboxes':
      return check.found.examples.map(({ name, why }) => line(`inbox: ${visibleText(name)}: ${visibleText(why)}`))
    case 'watchdog':
      return check.verdict.faults.flatMap(fault => faultLines(fault, nowMs))
    default:
      return check satisfies never
  }
}

/** The streams of a fault; the fault itself is in the sentence. */
function faultLines(fault: WatchdogFault, nowMs: number): string[] {
  switch (fault.kind) {
    case 'unwatched':
      return fault.streams.examples.map(({ stream }) => line(`no watchdog: ${visibleName(stream)}`))
    case 'unsettled':
      return fault.streams.examples.map(({ stream, sinceMs }) =>
        line(`to settle: ${visibleName(stream)} for ${span(nowMs - sinceMs)}`),
      )
    default:
      return []
  }
}

/** What failed first, and why. */
export function failedText({ event, failure }: FailedStream): string {
  return failure === '' ? event : `${event}: ${failure}`
}

/** The event and its silent worker; `''` if the summary has no room for them. */
export function abandonedText({ event }: AbandonedStream): string {
  if (event === undefined) return ''
  return event.owner === '' ? event.name : `${event.name} by ${event.owner}`
}

/** Why a lease counts as stuck. */
export function stuckText({ lease }: StuckLease, nowMs: number): string {
  const { holder } = lease
  return holder === undefined ? 'infinite, holder unknown' : `held by ${holderText(holder, nowMs)}`
}

/** One watchdog in one line. @param isLate it is late or has stopped */
export function watchdogLine(watchdog: WatchdogSeen, isLate: boolean, nowMs: number): string {
  const { host, pid, stoppedMs, settings, intervalMs, shards, failure } = watchdog
  const names = settings.match === undefined ? '' : `, of ${settings.match}`
  // Other watchdogs have long taken over the shards of one that is gone.
  const share = shards === undefined || isLate ? '' : `, ${shards.held.length} of ${counted(shards.total, 'shard')}`
  const failed = failure === undefined ? '' : `, last pass failed: ${failure.message} [${failure.code}]`
  const late = isLate ? 'late, ' : ''
  const state = stoppedMs === undefined ? late + sweptLine(watchdog, nowMs) : `stopped ${span(nowMs - stoppedMs)} ago`
  return line(`watchdog pid ${pid} on ${host}: ${state}, every ${span(intervalMs)}${names}${share}${failed}`)
}

function sweptLine({ lastSweepMs, startedMs }: WatchdogSeen, nowMs: number): string {
  if (lastSweepMs === undefined) return `no sweep yet, started ${span(nowMs - startedMs)} ago`
  return `last sweep ${span(nowMs - lastSweepMs)} ago`
}

/** An untrusted text in the form that monitoring accepts: one line, without the `|` that would end it. */
export function monitorText(text: string): string {
  return visibleText(text).replaceAll('|', '¦')
}

function line(text: string): string {
  return cut(monitorText(text), LINE_COLUMNS)
}

function nameText(stream: string): string {
  return cutInside(monitorText(visibleName(stream)), NAME_COLUMNS)
}

/** Empty for a check that found nothing. */
function phrasesOf(check: Check, nowMs: number): string[] {
  if (check.name === 'watchdog') return check.verdict.faults.map(fault => faultText(fault, nowMs))
  if (check.found.count === 0) return []
  const count = countText(check.found.count)
  switch (check.name) {
    case 'overdue': {
      const [first] = check.found.examples
      if (first === undefined) return []
      const oldest = check.found.count === 1 ? '' : 'oldest '
      return [`${count} overdue (${oldest}${span(nowMs - first.dueMs)}, ${nameText(first.stream)})`]
    }
    case 'failed': {
      const [{ stream = '', failedAtMs = nowMs } = {}] = check.found.examples
      const first = check.found.count === 1 ? '' : 'first '
      return [`${count} failed (${first}${span(nowMs - failedAtMs)} ago, ${nameText(stream)})`]
    }
    case 'blocked':
    case 'undo': {
      const [{ stream = '' } = {}] = check.found.examples
      return [`${count} ${check.name === 'blocked' ? 'blocked' : 'not undone'} (${nameText(stream)})`]
    }
    case 'abandoned': {
      const [{ stream = '', claimEndMs = nowMs } = {}] = check.found.examples
      const longest = check.found.count === 1 ? '' : 'longest '
      return [`${count} abandoned (${longest}${span(nowMs - claimEndMs)}, ${nameText(stream)})`]
    }
    case 'waiting': {
      const [{ stream = '', readySinceMs = nowMs } = {}] = check.found.examples
      const longest = check.found.count === 1 ? '' : 'longest '
      return [`${count} waiting for a worker (${longest}${span(nowMs - readySinceMs)}, ${nameText(stream)})`]
    }
    case 'stuck': {
      const [{ stream = '', lease } = {}] = check.found.examples
      const held = lease?.holder === undefined ? 'infinite' : `held for ${span(nowMs - lease.holder.sinceMs)}`
      return [`${counted(check.found.count, 'stuck lease')} (${held}, ${nameText(stream)})`]
    }
    case 'unreadable':
      return [`${count} unreadable (${nameText(check.found.examples[0]?.stream ?? '')})`]
    case 'subscriptions': {
      const [{ name = '', why = '' } = {}] = check.found.examples
      return [`${counted(check.found.count, 'subscription')} in trouble (${nameText(name)}: ${visibleText(why)})`]
    }
    case 'inboxes': {
      const [{ name = '', why = '' } = {}] = check.found.examples
      const many = counted(check.found.count, 'inbox', 'inboxes')
      return [`${many} in trouble (${nameText(name)}: ${visibleText(why)})`]
    }
    default:
      return check satisfies never
  }
}

function faultText(fault: WatchdogFault, nowMs: number): string {
  switch (fault.kind) {
    case 'missing':
      return fault.withLimit === 0
        ? 'no watchdog'
        : `no watchdog for ${counted(fault.withLimit, 'stream')} with a time limit`
    case 'unwatched': {
      const { count, examples } = fault.streams
      const such = nameText(examples[0]?.stream ?? '')
      return `no watchdog for ${counted(count, 'stream')} with a time limit, such as ${such}`
    }
    case 'damaged':
      return 'the state written by the watchdogs cannot be read'
    case 'unsettled': {
      const { count, examples } = fault.streams
      const [{ stream = '', sinceMs = nowMs } = {}] = examples
      const longest = count === 1 ? '' : 'longest '
      return `${counted(count, 'stream')} to settle (${longest}${span(nowMs - sinceMs)}, ${nameText(stream)})`
    }
    case 'late': {
      const { host, pid, intervalMs, lastSweepMs } = fault.watchdog
      const since = lastSweepMs === undefined ? 'since its start ' : ''
      return `no sweep ${since}for ${span(fault.lagMs)} (pid ${pid} on ${nameText(host)}, every ${span(intervalMs)})`
    }
    case 'breaker-open': {
      const { wouldEnd = 0, openEvents = 0 } = fault.watchdog.breaker ?? {}
      return `breaker open: ${countText(wouldEnd)} of ${counted(openEvents, 'open event')} would be ended`
    }
    case 'shards-unheld':
      return `${countText(fault.shards.length)} of ${counted(fault.total, 'shard')} not held (${shardsText(fault.shards)})`
    default:
      return fault satisfies never
  }
}

const SHARDS_NAMED = 8

function shardsText(shards: readonly number[]): string {
  const more = shards.length > SHARDS_NAMED ? ` +${shards.length - SHARDS_NAMED}` : ''
  return shards.slice(0, SHARDS_NAMED).join(' ') + more
}

/** Phrases for the checks that are fine. */
function passedPhrases(checks: readonly Check[], look: StoreScan): string[] {
  return checks.flatMap(check => {
    if (check.name === 'overdue' && check.found.count === 0) return [nothingOverdue(look)]
    if (check.name === 'failed' && look.unacknowledged > check.found.count)
      return [unacknowledgedText(look.unacknowledged)]
    if (check.name !== 'watchdog' || check.verdict.best === undefined) return []
    return check.verdict.faults.some(({ kind }) => kind === 'late') ? [] : [sweptText(check.verdict)]
  })
}

function sweptText({ best, lagMs = 0 }: WatchdogVerdict): string {
  return best?.lastSweepMs === undefined ? `watchdog started ${span(lagMs)} ago` : `last sweep ${span(lagMs)} ago`
}
