import type { EventHistory, Phase } from '../../stream/journal/phases.ts'
import { parts, span, type TimeStyle } from '../terminal/numbers.ts'
import { type Paint, painted, type Style, type StyledPiece } from '../terminal/style.ts'
import { styleOf } from './view.ts'

/** A period of time mapped to a number of columns. */
export interface TimeScale {
  readonly fromMs: number
  readonly toMs: number
  readonly columns: number
}

/** The column of a time. The end of the period belongs to the last column. */
export function columnOf({ fromMs, toMs, columns }: TimeScale, ms: number): number {
  if (toMs <= fromMs) return 0
  return Math.min(columns - 1, Math.max(0, Math.floor(((ms - fromMs) / (toMs - fromMs)) * columns)))
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Round tick distances. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map(count => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map(count => count * MINUTE),
  ...[1, 2, 3, 6, 12].map(count => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].map(count => count * DAY),
]

/**
 * Ticks with their times: `│0s │30s │1m`. `relative` counts from the beginning, the others are clock times.
 */
export function timeAxis(scale: TimeScale, style: TimeStyle): string {
  let line = ''
  for (const { column, text } of timeTicks(scale, style)) {
    if (column + text.length < scale.columns) line = `${line.padEnd(column)}│${text}`
  }
  return line
}

/** A time of the axis with its text. */
export interface Tick {
  readonly ms: number
  readonly column: number
  readonly text: string
}

/** The ticks of the axis, at round distances and with room for their texts. */
export function timeTicks(scale: TimeScale, style: TimeStyle): readonly Tick[] {
  return STEPS.map(step => ticks(scale, style, step)).find(isRoomy) ?? ticks(scale, style, undefined)
}

/** Without a step there is one tick, at the beginning. */
function ticks(scale: TimeScale, style: TimeStyle, stepMs: number | undefined): Tick[] {
  const { fromMs, toMs, columns } = scale
  const step = stepMs ?? Number.POSITIVE_INFINITY
  const firstMs = style === 'relative' || stepMs === undefined ? fromMs : Math.ceil(fromMs / stepMs) * stepMs
  const found: Tick[] = []
  // More ticks than columns never fit.
  for (let ms = firstMs; ms <= toMs && found.length <= columns; ms += step) {
    found.push({ ms, column: columnOf(scale, ms), text: tickText(ms, fromMs, stepMs, style) })
  }
  return found
}

/** Minimum number of columns between two ticks. */
const LEAST_DISTANCE = 10

function isRoomy(found: readonly Tick[]): boolean {
  return found.every(({ column, text }, at) => {
    const next = found[at + 1]?.column ?? Number.POSITIVE_INFINITY
    return column + Math.max(LEAST_DISTANCE, text.length + 2) <= next
  })
}

function tickText(ms: number, fromMs: number, stepMs: number | undefined, style: TimeStyle): string {
  const offset = ms - fromMs
  if (style === 'relative') return offset % SECOND === 0 ? span(offset) : `${offset}ms`
  const { date, time } = parts(ms, style === 'iso' ? 'utc' : style)
  if (stepMs !== undefined && stepMs >= DAY) return date.slice(5)
  return stepMs !== undefined && stepMs >= MINUTE ? time.slice(0, 5) + time.slice(8) : time
}

/** A symbol of the bars with its meaning. */
export interface BarSign {
  readonly glyph: string
  readonly style: Style
  readonly word: string
}

/** Each phase has its own glyph, so that bars are readable without colour. */
export const PHASES: { readonly [Of in Phase]: BarSign } = {
  running: { glyph: '█', style: 'active', word: 'running' },
  ready: { glyph: '░', style: 'plain', word: 'ready to be claimed' },
  waiting: { glyph: '─', style: 'dim', word: 'waiting for others' },
  unrecorded: { glyph: '╌', style: 'dim', word: 'not recorded' },
}

/** Of several phases in one column the first one here is drawn: a short run must not vanish between long waits. */
const BY_WEIGHT: readonly Phase[] = ['running', 'ready', 'waiting', 'unrecorded']

/** The phases of an event over the columns of the scale. The glyph of its status marks the end. */
export function timeBar(history: EventHistory, scale: TimeScale, nowMs: number, paint: Paint): string {
  return painted(barPieces(history, scale, nowMs), paint)
}

/** When the event is due. */
const DUE: BarSign = { glyph: '┊', style: 'warn', word: 'due' }

/** The bar in pieces, together as wide as the scale, with a mark at the due time if that is inside. */
export function barPieces(history: EventHistory, scale: TimeScale, nowMs: number, dueMs?: number): StyledPiece[] {
  const cells: (BarSign | undefined)[] = new Array(scale.columns).fill(undefined)
  for (const phase of [...BY_WEIGHT].reverse()) {
    for (const { fromMs, toMs = nowMs } of history.spans.filter(part => part.phase === phase)) {
      cells.fill(PHASES[phase], columnOf(scale, fromMs), lastColumn(scale, fromMs, toMs) + 1)
    }
  }
  for (const { atMs, status } of history.ends) {
    cells[lastColumn(scale, scale.fromMs, atMs)] = { ...styleOf(status), word: status }
  }
  if (dueMs !== undefined && dueMs >= scale.fromMs && dueMs <= scale.toMs) cells[columnOf(scale, dueMs)] = DUE
  return piecesOf(cells)
}

/** A phase that ends where a column begins does not reach into it. */
function lastColumn(scale: TimeScale, fromMs: number, toMs: number): number {
  const at = columnOf(scale, toMs)
  return at > columnOf(scale, fromMs) && columnOf(scale, toMs - 1) < at ? at - 1 : at
}

/** Merges neighbours with the same glyph into one piece. */
function piecesOf(cells: readonly (BarSign | undefined)[]): StyledPiece[] {
  const pieces: StyledPiece[] = []
  for (let at = 0; at < cells.length; ) {
    const sign = cells[at]
    const end = cells.findIndex((cell, other) => other > at && cell?.glyph !== sign?.glyph)
    const glyphs = (sign?.glyph ?? ' ').repeat((end < 0 ? cells.length : end) - at)
    pieces.push([glyphs, sign?.style ?? 'plain'])
    at = end < 0 ? cells.length : end
  }
  return pieces
}

/** The total time spent in a phase, `-` for none. */
export function spentText({ spans }: EventHistory, phase: Phase, nowMs: number): string {
  const parts = spans.filter(part => part.phase === phase)
  if (parts.length === 0) return '-'
  return span(parts.reduce((sum, { fromMs, toMs }) => sum + (toMs ?? nowMs) - fromMs, 0))
}

/** The symbols of these bars by weight; a rare phase only where it occurs. */
export function barSigns(histories: Iterable<EventHistory>): BarSign[] {
  const present = new Set<Phase>()
  for (const { spans } of histories) for (const { phase } of spans) present.add(phase)
  const phases = BY_WEIGHT.filter(phase => phase !== 'unrecorded' || present.has(phase)).map(phase => PHASES[phase])
  const ends = ['completed', 'aborted', 'canceled'].map(status => ({ ...styleOf(status), word: status }))
  return [...phases, ...ends]
}

/** The legend of the glyphs, wrapped to `width` columns. */
export function barLegend(histories: Iterable<EventHistory>, width: number, paint: Paint): string[] {
  const lines: string[] = []
  let used = Number.POSITIVE_INFINITY
  for (const { glyph, style, word } of barSigns(histories)) {
    const length = glyph.length + 1 + word.length
    const fits = used + LEGEND_GAP.length + length <= width
    const item = `${paint(style, glyph)} ${word}`
    if (fits) lines.push(`${lines.pop() ?? ''}${LEGEND_GAP}${item}`)
    else lines.push(item)
    used = fits ? used + LEGEND_GAP.length + length : length
  }
  return lines
}

const LEGEND_GAP = '   '
