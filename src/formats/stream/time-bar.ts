import type { Course, Phase } from '../../stream/journal/phases.ts'
import { span } from '../terminal/numbers.ts'
import { type Paint, type Piece, painted, type Style } from '../terminal/style.ts'
import { lookOf } from './status.ts'
import { columnOf, type TimeScale } from './time-scale.ts'

/** A sign of the bars, and what it means. */
export interface BarSign {
  readonly glyph: string
  readonly style: Style
  readonly word: string
}

/** Each phase has a glyph of its own: bars read without colour. */
const PHASES: { readonly [Of in Phase]: BarSign } = {
  running: { glyph: '█', style: 'active', word: 'running' },
  ready: { glyph: '░', style: 'plain', word: 'ready to be claimed' },
  waiting: { glyph: '─', style: 'dim', word: 'waiting for others' },
  unrecorded: { glyph: '╌', style: 'dim', word: 'not recorded' },
}

/** Of several phases in one column the first of these is seen: a short run must not vanish between long waits. */
const BY_WEIGHT: readonly Phase[] = ['running', 'ready', 'waiting', 'unrecorded']

/** What an event has been through, over the columns of the scale. The glyph of a status stands where it ended. */
export function timeBar(course: Course, scale: TimeScale, nowMs: number, paint: Paint): string {
  return painted(barPieces(course, scale, nowMs), paint)
}

/** Where a limit ends. */
const DUE: BarSign = { glyph: '┊', style: 'warn', word: 'due' }

/** The bar in pieces, together as wide as the scale; with a mark where the event is due, if that lies inside. */
export function barPieces(course: Course, scale: TimeScale, nowMs: number, dueMs?: number): Piece[] {
  const cells: (BarSign | undefined)[] = new Array(scale.columns).fill(undefined)
  for (const phase of [...BY_WEIGHT].reverse()) {
    for (const { fromMs, toMs = nowMs } of course.spans.filter(part => part.phase === phase)) {
      cells.fill(PHASES[phase], columnOf(scale, fromMs), lastColumn(scale, fromMs, toMs) + 1)
    }
  }
  for (const { atMs, status } of course.ends) {
    cells[lastColumn(scale, scale.fromMs, atMs)] = { ...lookOf(status), word: status }
  }
  if (dueMs !== undefined && dueMs >= scale.fromMs && dueMs <= scale.toMs) cells[columnOf(scale, dueMs)] = DUE
  return piecesOf(cells)
}

/** What ends where a column begins does not reach into it. */
function lastColumn(scale: TimeScale, fromMs: number, toMs: number): number {
  const at = columnOf(scale, toMs)
  return at > columnOf(scale, fromMs) && columnOf(scale, toMs - 1) < at ? at - 1 : at
}

/** Neighbours that look the same get their colour together. */
function piecesOf(cells: readonly (BarSign | undefined)[]): Piece[] {
  const pieces: Piece[] = []
  for (let at = 0; at < cells.length; ) {
    const look = cells[at]
    const end = cells.findIndex((cell, other) => other > at && cell?.glyph !== look?.glyph)
    const glyphs = (look?.glyph ?? ' ').repeat((end < 0 ? cells.length : end) - at)
    pieces.push([glyphs, look?.style ?? 'plain'])
    at = end < 0 ? cells.length : end
  }
  return pieces
}

/** How long it was in a phase altogether, `-` for never. */
export function spentText({ spans }: Course, phase: Phase, nowMs: number): string {
  const parts = spans.filter(part => part.phase === phase)
  if (parts.length === 0) return '-'
  return span(parts.reduce((sum, { fromMs, toMs }) => sum + (toMs ?? nowMs) - fromMs, 0))
}

/** The signs of these bars in the order of their weight; what is rare only where it occurs. */
export function barSigns(courses: Iterable<Course>): BarSign[] {
  const seen = new Set<Phase>()
  for (const { spans } of courses) for (const { phase } of spans) seen.add(phase)
  const phases = BY_WEIGHT.filter(phase => phase !== 'unrecorded' || seen.has(phase)).map(phase => PHASES[phase])
  const ends = ['completed', 'aborted', 'canceled'].map(status => ({ ...lookOf(status), word: status }))
  return [...phases, ...ends]
}

/** What the glyphs mean, in lines of so many columns. */
export function barLegend(courses: Iterable<Course>, width: number, paint: Paint): string[] {
  const lines: string[] = []
  let used = Number.POSITIVE_INFINITY
  for (const { glyph, style, word } of barSigns(courses)) {
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
