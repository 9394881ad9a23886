import { parts, span, type TimeStyle } from '../terminal/numbers.ts'

/** A stretch of time drawn over so many columns. */
export interface TimeScale {
  readonly fromMs: number
  readonly toMs: number
  readonly columns: number
}

/** The column in which a moment lies. The last one takes the end of the time too. */
export function columnOf({ fromMs, toMs, columns }: TimeScale, ms: number): number {
  if (toMs <= fromMs) return 0
  return Math.min(columns - 1, Math.max(0, Math.floor(((ms - fromMs) / (toMs - fromMs)) * columns)))
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Distances of ticks that people can count in. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map(count => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map(count => count * MINUTE),
  ...[1, 2, 3, 6, 12].map(count => count * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].map(count => count * DAY),
]

/** Ticks with their times: `│0s       │30s      │1m`. `relative` counts from the beginning, the others are wall clocks. */
export function timeAxis(scale: TimeScale, style: TimeStyle): string {
  const found = STEPS.map(step => ticks(scale, style, step)).find(isRoomy)
  let line = ''
  for (const { column, text } of found ?? ticks(scale, style, undefined)) {
    if (column + text.length <= scale.columns) line = line.padEnd(column) + text
  }
  return line
}

interface Tick {
  readonly column: number
  readonly text: string
}

/** Without a step there is one, at the beginning. */
function ticks(scale: TimeScale, style: TimeStyle, stepMs: number | undefined): Tick[] {
  const { fromMs, toMs, columns } = scale
  const step = stepMs ?? Number.POSITIVE_INFINITY
  const firstMs = style === 'relative' || stepMs === undefined ? fromMs : Math.ceil(fromMs / stepMs) * stepMs
  const found: Tick[] = []
  // More ticks than columns never fit.
  for (let ms = firstMs; ms <= toMs && found.length <= columns; ms += step) {
    found.push({ column: columnOf(scale, ms), text: `│${tickText(ms, fromMs, stepMs, style)}` })
  }
  return found
}

/** A few ticks are enough: so many columns at least lie between them. */
const LEAST_DISTANCE = 10

function isRoomy(found: readonly Tick[]): boolean {
  return found.every(({ column, text }, at) => {
    const next = found[at + 1]?.column ?? Number.POSITIVE_INFINITY
    return column + Math.max(LEAST_DISTANCE, text.length + 1) <= next
  })
}

function tickText(ms: number, fromMs: number, stepMs: number | undefined, style: TimeStyle): string {
  const offset = ms - fromMs
  if (style === 'relative') return offset % SECOND === 0 ? span(offset) : `${offset}ms`
  const { date, time } = parts(ms, style === 'iso' ? 'utc' : style)
  if (stepMs !== undefined && stepMs >= DAY) return date.slice(5)
  return stepMs !== undefined && stepMs >= MINUTE ? time.slice(0, 5) + time.slice(8) : time
}
