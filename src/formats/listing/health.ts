import { hasUnacknowledgedFailure, isOverdue } from '../../ops/filter.ts'
import { isAbandoned } from '../../ops/open-events.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import { isFinal } from '../../stream/event.ts'
import { type StreamState, stateOfStream } from '../../stream/state.ts'
import type { Summary } from '../../stream/summary.ts'
import { statusLook } from '../stream/view.ts'
import type { StatusStyle } from '../terminal/style.ts'

/** Somebody has to look at it: a failure that nobody has acknowledged, a silent worker, a missed deadline, a damaged document. */
export function isBroken({ summary, fault }: Pick<SummarizedStream, 'summary' | 'fault'>, nowMs: number): boolean {
  if (summary === undefined) return fault !== undefined
  return hasUnacknowledgedFailure(summary) || isAbandoned(summary, nowMs) || isOverdue(summary, nowMs)
}

/** State of a stream as it is shown: of an open one without a problem its status. */
export function streamStateOf(summary: Summary, nowMs: number): StreamState {
  const state = stateOfStream(summary, nowMs)
  return state === 'ready' || state === 'running' || state === 'waiting' ? summary.status : state
}

/** Each glyph identifies its state without the colour. The last character alone does too, where there is no more room. */
const STATES: ReadonlyMap<StreamState, StatusStyle & { readonly word: string }> = new Map([
  ['suspended', { glyph: '‖', style: 'warn', word: 'suspended' }],
  ['held', { glyph: '◇', style: 'dim', word: 'held' }],
  ['failing', { glyph: '▶✗', style: 'bad', word: 'failing' }],
  ['blocked', { glyph: '■', style: 'bad', word: 'blocked' }],
  ['compensating', { glyph: '↶', style: 'warn', word: 'compensating' }],
  ['abandoned', { glyph: '†', style: 'warn', word: 'abandoned' }],
  ['overdue', { glyph: '!', style: 'warn', word: 'overdue' }],
  ['errors', statusLook('completed', 'errors')],
])

/** Glyph, colour and word of a state; words of foreign documents are made visible. */
export function stateStyle(state: StreamState): StatusStyle & { readonly word: string } {
  return STATES.get(state) ?? statusLook(state)
}

/**
 * Numbers of streams, in the order in which they are told. A stream can count as failed, blocked, abandoned, overdue and
 * canceled at once, as it is in those lists of `ls`.
 */
export interface StreamHealth {
  readonly open: number
  readonly completed: number
  readonly failed: number
  readonly canceled: number
  readonly abandoned: number
  readonly overdue: number
  readonly blocked: number
  readonly suspended: number
  readonly unreadable: number
}

const NONE: StreamHealth = {
  open: 0,
  completed: 0,
  failed: 0,
  canceled: 0,
  abandoned: 0,
  overdue: 0,
  blocked: 0,
  suspended: 0,
  unreadable: 0,
}

export function healthOf(items: Iterable<Pick<SummarizedStream, 'summary' | 'fault'>>, nowMs: number): StreamHealth {
  const counts = { ...NONE }
  for (const { summary, fault } of items) {
    if (summary === undefined) {
      if (fault !== undefined) counts.unreadable++
      continue
    }
    if (!isFinal(summary)) counts.open++
    else if (summary.status === 'completed') counts.completed++
    if (hasUnacknowledgedFailure(summary)) counts.failed++
    if (summary.canceled > 0) counts.canceled++
    if (isAbandoned(summary, nowMs)) counts.abandoned++
    if (isOverdue(summary, nowMs)) counts.overdue++
    const state = stateOfStream(summary, nowMs)
    if (state === 'blocked') counts.blocked++
    if (state === 'suspended') counts.suspended++
  }
  return counts
}
