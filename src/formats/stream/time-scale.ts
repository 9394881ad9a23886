import type { EventHistory, Phase } from '../../stream/journal/phases.ts'
import { calmSpan, parts, span, type TimeStyle } from '../terminal/numbers.ts'
import { type Paint, painted, type Style, type StyledPiece, styleOf } from '../terminal/style.ts'
import { lengthOf, type TimeRange } from './folded-time.ts'

/** A period of time mapped to a number of columns. */
export interface TimeScale extends TimeRange {
  readonly columns: number
  /** Gaps, in order, that take a few columns each, however long they are. */
  readonly folds?: readonly TimeRange[]
  /** Where relative times count from; the beginning of the period without it. */
  readonly originMs?: number
}

/** Columns of a folded gap: enough for its length. */
const FOLD_COLUMNS = 8

/** The column of a time. The end of the period belongs to the last column. */
export function columnOf(scale: TimeScale, ms: number): number {
  if (scale.toMs <= scale.fromMs) return 0
  return Math.min(scale.columns - 1, Math.max(0, Math.floor(positionOf(scale, ms))))
}

/** The same as a real number, below 0 or above the columns for times outside. */
export function positionOf(scale: TimeScale, ms: number): number {
  let position = 0
  for (const part of partsOf(scale)) {
    const isHere = ms < part.toMs || part.toMs >= scale.toMs
    if (isHere) return position + (part.columns * (ms - part.fromMs)) / Math.max(1, lengthOf(part))
    position += part.columns
  }
  return position
}

/** The time at a position. */
export function timeAt(scale: TimeScale, position: number): number {
  let left = position
  for (const part of partsOf(scale)) {
    if (left < part.columns || part.toMs >= scale.toMs) return part.fromMs + (left / part.columns) * lengthOf(part)
    left -= part.columns
  }
  return scale.toMs
}

interface ScalePart extends TimeRange {
  readonly columns: number
  readonly isFolded: boolean
}

/** The period in parts: folded gaps, and the times between them at one scale. */
function partsOf({ fromMs, toMs, columns, folds = [] }: TimeScale): ScalePart[] {
  if (folds.length === 0) return [{ fromMs, toMs, columns, isFolded: false }]
  const free = Math.max(1, columns - folds.length * FOLD_COLUMNS)
  const busyMs = Math.max(1, toMs - fromMs - folds.reduce((sum, fold) => sum + lengthOf(fold), 0))
  const parts: ScalePart[] = []
  const add = (from: number, to: number) => {
    if (to > from) parts.push({ fromMs: from, toMs: to, columns: (free * (to - from)) / busyMs, isFolded: false })
  }
  let at = fromMs
  for (const fold of folds) {
    add(at, fold.fromMs)
    parts.push({ ...fold, columns: FOLD_COLUMNS, isFolded: true })
    at = fold.toMs
  }
  add(at, toMs)
  return parts
}

/** The folds for which there is room: half of the columns are left for the times between them. */
export function withFolds(scale: TimeScale, folds: readonly TimeRange[]): TimeScale {
  const most = Math.floor(scale.columns / (2 * FOLD_COLUMNS))
  const longest = folds.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, most)
  return { ...scale, folds: longest.sort((a, b) => a.fromMs - b.fromMs) }
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
 * Ticks with their times: `│0s │30s │1m`. `relative` counts from the beginning, the others are clock times. A folded gap has
 * its length, `╱ 23h ╱`, and relative times count from its end then: `│+30m`.
 */
export function timeAxis(scale: TimeScale, style: TimeStyle): string {
  const marks = timeTicks(scale, style).map(({ column, text }) => ({ column, text: `│${text}` }))
  const texts = [...marks, ...foldLabels(scale)].sort((a, b) => a.column - b.column)
  let line = ''
  for (const [at, { column, text }] of texts.entries()) {
    const end = Math.min(texts[at + 1]?.column ?? scale.columns, scale.columns)
    if (column + text.length <= end && column >= line.length) line = line.padEnd(column) + text
  }
  return line
}

function foldLabels(scale: TimeScale): Pick<Tick, 'column' | 'text'>[] {
  return (scale.folds ?? []).map(fold => {
    const text = calmSpan(lengthOf(fold)).slice(0, FOLD_COLUMNS - 2)
    const before = Math.floor((FOLD_COLUMNS - 2 - text.length) / 2)
    return {
      column: columnOf(scale, fold.fromMs),
      text: `╱${' '.repeat(before)}${text}${' '.repeat(FOLD_COLUMNS - 2 - text.length - before)}╱`,
    }
  })
}

/** A time of the axis with its text. */
export interface Tick {
  readonly ms: number
  readonly column: number
  readonly text: string
}

/** The ticks of the axis, at round distances and with room for their texts. */
export function timeTicks(scale: TimeScale, style: TimeStyle): readonly Tick[] {
  const isFitting = (found: readonly Tick[]) => isRoomy(found, scale.folds ?? [])
  return STEPS.map(step => ticks(scale, style, step)).find(isFitting) ?? ticks(scale, style, undefined)
}

/** Without a step there is one tick, at the beginning. */
function ticks(scale: TimeScale, style: TimeStyle, stepMs: number | undefined): Tick[] {
  const { columns, originMs = scale.fromMs } = scale
  const step = stepMs ?? Number.POSITIVE_INFINITY
  const found: Tick[] = []
  for (const { fromMs, toMs, isFolded } of partsOf(scale)) {
    if (isFolded) continue
    // After a folded gap the offset from the beginning would have too many digits.
    const isLater = style === 'relative' && scale.folds?.some(fold => fold.toMs === fromMs)
    const zeroMs = isLater ? fromMs : style === 'relative' ? originMs : 0
    const firstMs = stepMs === undefined ? fromMs : zeroMs + Math.ceil((fromMs - zeroMs) / stepMs) * stepMs
    // A tick at the beginning of a folded gap would cover it.
    const end = toMs >= scale.toMs ? toMs + 1 : toMs
    // More ticks than columns never fit.
    for (let ms = firstMs; ms < end && found.length <= columns; ms += step) {
      found.push({
        ms,
        column: columnOf(scale, ms),
        text: `${isLater ? '+' : ''}${tickText(ms, isLater ? fromMs : originMs, stepMs, style)}`,
      })
    }
  }
  return found
}

/** Minimum number of columns between two ticks. */
const LEAST_DISTANCE = 10

function isRoomy(found: readonly Tick[], folds: readonly TimeRange[]): boolean {
  return found.every(({ ms, column, text }, at) => {
    const nextMs = found[at + 1]?.ms ?? Number.POSITIVE_INFINITY
    if (folds.some(fold => fold.fromMs >= ms && fold.toMs <= nextMs)) return true
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
  gated: { glyph: '┈', style: 'dim', word: 'at its gate' },
  unrecorded: { glyph: '╌', style: 'dim', word: 'not recorded' },
}

/** Of several phases in one column the first one here is drawn: a short run must not vanish between long waits. */
const BY_WEIGHT: readonly Phase[] = ['running', 'ready', 'gated', 'waiting', 'unrecorded']

/** The phases of an event over the columns of the scale. The glyph of its status marks the end. */
export function timeBar(history: EventHistory, scale: TimeScale, nowMs: number, paint: Paint): string {
  return painted(barPieces(history, scale, nowMs), paint)
}

/** When the event is due. */
export const DUE: BarSign = { glyph: '┊', style: 'warn', word: 'due' }
/** When the timer of an event or the pause before its retry is over. */
export const WAKE: BarSign = { glyph: '◷', style: 'active', word: 'timer' }

/** The bar in pieces, together as wide as the scale, with a mark at the due time if that is inside. */
export function barPieces(
  history: EventHistory,
  scale: TimeScale,
  nowMs: number,
  { dueMs, wakeMs, claimEndMs, claims = [] }: BarMarks = {},
): StyledPiece[] {
  const cells: (BarSign | undefined)[] = new Array(scale.columns).fill(undefined)
  const fill = (sign: BarSign, fromMs: number, toMs: number) => {
    if (toMs < scale.fromMs || fromMs > scale.toMs) return
    const from = Math.max(fromMs, scale.fromMs)
    cells.fill(sign, columnOf(scale, from), lastColumn(scale, from, toMs) + 1)
  }
  for (const { fromMs } of scale.folds ?? []) cells[columnOf(scale, fromMs)] = FOLD
  if (claimEndMs !== undefined && claimEndMs > nowMs) fill(CLAIMED, nowMs, claimEndMs)
  for (const phase of [...BY_WEIGHT].reverse()) {
    for (const { fromMs, toMs = nowMs } of history.spans.filter(part => part.phase === phase)) {
      fill(PHASES[phase], fromMs, toMs)
      if (phase === 'running') for (const part of attemptsIn(claims, fromMs, toMs)) fillAttempt(part, fill)
    }
  }
  for (const { atMs, status } of history.ends) {
    if (isInside(scale, atMs)) cells[lastColumn(scale, scale.fromMs, atMs)] = { ...styleOf(status), word: status }
  }
  if (wakeMs !== undefined && isInside(scale, wakeMs)) cells[columnOf(scale, wakeMs)] = WAKE
  if (dueMs !== undefined && isInside(scale, dueMs)) cells[columnOf(scale, dueMs)] = DUE
  return piecesOf(withHidden(cells, history, scale, nowMs))
}

function fillAttempt(
  { fromMs, toMs, style, attempt }: BarClaim & { readonly toMs: number },
  fill: (...of: FillArguments) => void,
): void {
  fill({ ...PHASES.running, style }, fromMs, toMs)
  if (attempt > 1) fill({ glyph: attempt > 9 ? '+' : String(attempt), style, word: 'attempt' }, fromMs, fromMs)
}

type FillArguments = [sign: BarSign, fromMs: number, toMs: number]

function isInside({ fromMs, toMs }: TimeRange, ms: number): boolean {
  return ms >= fromMs && ms <= toMs
}

/** What a bar shows besides the phases. */
export interface BarMarks {
  readonly dueMs?: number | undefined
  readonly wakeMs?: number | undefined
  /** When the claim of a running event ends. */
  readonly claimEndMs?: number | undefined
  /** Who ran it, in order. */
  readonly claims?: readonly BarClaim[]
}

/** An owner began to work on an event. From the second on, the number of the attempt is at its beginning. */
export interface BarClaim {
  readonly fromMs: number
  readonly attempt: number
  /** The style of its owner. */
  readonly style: Style
}

/** The attempts within a period of running. */
export function attemptsIn<Claim extends BarClaim>(
  claims: readonly Claim[],
  fromMs: number,
  toMs: number,
): (Claim & { readonly toMs: number })[] {
  return claims.flatMap((claim, at) => {
    const untilMs = Math.min(toMs, claims[at + 1]?.fromMs ?? toMs)
    const part = { ...claim, fromMs: Math.max(fromMs, claim.fromMs), toMs: untilMs }
    return part.toMs > part.fromMs || (part.toMs === part.fromMs && claim.fromMs >= fromMs) ? [part] : []
  })
}

/** A bar without a sign has an arrow towards its event. */
function withHidden(
  cells: (BarSign | undefined)[],
  { spans, ends }: EventHistory,
  scale: TimeScale,
  nowMs: number,
): readonly (BarSign | undefined)[] {
  if (cells.some(cell => cell !== undefined && cell !== FOLD)) return cells
  const firstMs = spans[0]?.fromMs ?? ends[0]?.atMs
  if (firstMs === undefined) return cells
  const last = spans.at(-1)
  const lastMs = Math.max(ends.at(-1)?.atMs ?? firstMs, last === undefined ? firstMs : (last.toMs ?? nowMs))
  if (lastMs < scale.fromMs) cells[0] = EARLIER
  if (firstMs > scale.toMs) cells[cells.length - 1] = LATER
  return cells
}

const FOLD: BarSign = { glyph: '╱', style: 'dim', word: 'gap' }
const EARLIER: BarSign = { glyph: '‹', style: 'dim', word: 'earlier' }
const LATER: BarSign = { glyph: '›', style: 'dim', word: 'later' }
/** Until when a running event is claimed. */
export const CLAIMED: BarSign = { glyph: '·', style: 'dim', word: 'claimed' }

/** A phase that ends where a column begins does not reach into it. */
function lastColumn(scale: TimeScale, fromMs: number, toMs: number): number {
  const at = columnOf(scale, toMs)
  return at > columnOf(scale, fromMs) && columnOf(scale, toMs - 1) < at ? at - 1 : at
}

/** Merges neighbours with the same glyph and style into one piece. */
function piecesOf(cells: readonly (BarSign | undefined)[]): StyledPiece[] {
  const pieces: StyledPiece[] = []
  for (let at = 0; at < cells.length; ) {
    const sign = cells[at]
    let end = at + 1
    while (end < cells.length && looksAlike(cells[end], sign)) end++
    pieces.push([(sign?.glyph ?? ' ').repeat(end - at), sign?.style ?? 'plain'])
    at = end
  }
  return pieces
}

function looksAlike(a: BarSign | undefined, b: BarSign | undefined): boolean {
  return a === b || (a?.glyph === b?.glyph && a?.style === b?.style)
}

/** The total time spent in a phase, `-` for none. */
export function spentText({ spans }: EventHistory, phase: Phase, nowMs: number): string {
  const parts = spans.filter(part => part.phase === phase)
  if (parts.length === 0) return '-'
  return span(parts.reduce((sum, { fromMs, toMs }) => sum + (toMs ?? nowMs) - fromMs, 0))
}

const RARE: ReadonlySet<Phase> = new Set(['gated', 'unrecorded'])

/** The symbols of these bars by weight; a rare phase only where it occurs. */
export function barSigns(histories: Iterable<EventHistory>): BarSign[] {
  const present = new Set<Phase>()
  for (const { spans } of histories) for (const { phase } of spans) present.add(phase)
  const phases = BY_WEIGHT.filter(phase => !RARE.has(phase) || present.has(phase)).map(phase => PHASES[phase])
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
