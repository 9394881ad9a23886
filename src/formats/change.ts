import { ROOT_ID, sortedById } from '../stream/event-id.ts'
import type { ChangeCause } from '../stream/journal/journal.ts'
import type { ChangeResult, Refusal } from '../stream/operations/operation.ts'
import { formatDuration } from '../stream/time/durations.ts'
import { visibleName, visibleText } from '../util/visible-text.ts'
import { jsonTimeOf, orNull } from './json.ts'
import { clock } from './terminal/numbers.ts'
import { noPaint, type Paint, styleOf } from './terminal/style.ts'

/** A change that was made now or by an earlier run of the same command. */
export interface Changed {
  readonly stream: string
  /** The target, `undefined` for the whole stream. */
  readonly event: string | undefined
  readonly result: ChangeResult
  readonly commandId: string
  readonly reason: string | undefined
}

/** A change as JSON; fields are only ever added. */
export function changeJson({ stream, event, result, commandId, reason }: Changed) {
  return {
    stream,
    event: event ?? null,
    outcome: result.outcome,
    version: result.version,
    changed: result.changed.map(({ id, from, to }) => ({
      id,
      from: orNull(from),
      to: orNull(to),
    })),
    closed: result.closed,
    joined: result.joined,
    opened: result.opened,
    added: result.added,
    done: result.done,
    duplicate: result.duplicate,
    commandId,
    reason: reason ?? null,
    error: null,
    ...(result.claim === undefined ? {} : { ...result.claim, until: jsonTimeOf(result.claim.until) }),
    ...(result.suspended ? { suspended: true } : {}),
    ...(result.refused === undefined
      ? {}
      : {
          refused: result.refused.map(refusalJson),
        }),
  }
}

/** An event that an operation would not change, as JSON. */
export function refusalJson({ code, event, status, message }: Refusal) {
  return { code, event, status: orNull(status), message }
}

/** A change as text: one line for the target, one for each consequence. */
export function changeLines(changed: Changed, word: string, nowMs: number, paint: Paint = noPaint): string[] {
  const { result } = changed
  const target = `${visibleName(changed.stream)}${changed.event === undefined ? '' : ` ${visibleText(changed.event)}`}`
  const again = result.duplicate
    ? ' (this command was done before)'
    : result.outcome === 'already'
      ? ' (already so)'
      : ''
  const claim = claimText(result, nowMs)
  const head = `${paint('good', '✓')} ${target}  ${visibleText(word)}${again}${claim}  ${paint('dim', `v${result.version}`)}`
  return [head, ...limitLines(result, nowMs), ...(result.outcome === 'already' ? [] : consequences(changed, paint))]
}

/** Warns of a timeout shorter than the claim: the worker has to send heartbeats in time. */
function limitLines({ claim }: ChangeResult, nowMs: number): string[] {
  const { silenceMs = 0, until = '' } = claim ?? {}
  if (silenceMs === 0 || Date.parse(until) - nowMs <= silenceMs) return []
  const advice = silenceMs < 3_000 ? '' : `: touch it every ${formatDuration(silenceMs / 3)}`
  return [`    it times out after ${formatDuration(silenceMs)} without a heartbeat${advice}`]
}

function claimText({ claim }: ChangeResult, nowMs: number): string {
  if (claim === undefined) return ''
  const until = Date.parse(claim.until)
  const attempt = claim.attempt > 1 ? `, attempt ${claim.attempt}` : ''
  return ` by ${visibleText(claim.owner)}, fence ${claim.fence}${Number.isNaN(until) ? '' : `, until ${clock(until, nowMs, 'local')}`}${attempt}`
}

const NOTES: { readonly [How in ChangeCause]?: Readonly<Record<string, string>> } = {
  close: { completed: ' (closed)' },
  join: { init: ' (joined)', inprocess: ' (waits again)' },
  gate: { init: ' (opened)', completed: ' (no work)', inprocess: '' },
  again: { inprocess: ' (will be tried again)' },
}

type Change = ChangeResult['changed'][number]

/** Changes listed at most; the rest is counted. */
const MAX_LINES = 20

/** Said of a change of a suspended stream. */
export const STAYS_SUSPENDED = 'suspended: nothing of it begins before resume'

function consequences({ result, event }: Changed, paint: Paint): string[] {
  const others = sortedById(result.changed, ({ id }) => id)
    .filter(isVisible)
    .filter(({ id }) => id !== event)
  const lines = others.slice(0, MAX_LINES).map(({ id, from, to, how }) => {
    if (to === '') return `    ${visibleText(id)}  ${paint('dim', '- removed')}`
    const shown = isWaiting(id, to, how) ? 'waiting' : to
    const { glyph, style } = styleOf(shown)
    const before = from === '' ? '' : `${visibleText(from)} → `
    return `    ${visibleText(id)}  ${before}${paint(style, `${glyph} ${visibleText(shown)}`)}${NOTES[how]?.[to] ?? ''}`
  })
  const more = others.length > MAX_LINES ? [`    and ${others.length - MAX_LINES} more`] : []
  const refused = (result.refused ?? []).map(
    refusal => `    ${visibleText(refusal.event)}  not retried: ${visibleText(refusal.message)}`,
  )
  const suspended = result.suspended ? [`    ${STAYS_SUSPENDED}`] : []
  return [...lines, ...more, ...refused, ...suspended, ...(result.done ? [`    the stream is done`] : [])]
}

/**
 * An acknowledgement changes an attribute of the root, but no status; a new event that begins to wait for a time has its
 * line already.
 */
function isVisible({ id, from, to, how }: Change, _: number, all: readonly Change[]): boolean {
  if (from !== to) return true
  return how !== 'target' && !(how === 'gate' && all.some(other => other.id === id && other.how === 'add'))
}

/** An event with a closed gate is `inprocess` too, but not worked on: only such an event is added so, or set back to it. */
function isWaiting(id: string, to: string, how: ChangeCause): boolean {
  return (
    to === 'inprocess' && (how === 'join' || how === 'gate' || how === 'again' || (how === 'add' && id !== ROOT_ID))
  )
}
