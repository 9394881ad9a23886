import { counted, countText } from '../../formats/terminal/count-text.ts'
import { calmSpan } from '../../formats/terminal/numbers.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import { outcomeStyle, tookText } from '../../formats/watchdog-status.ts'
import type { CarriedDecision } from '../../ops/watchdog-state/state.ts'
import type { DryRun, StreamEntry } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { PANES_COLUMNS } from '../state/layout.ts'
import { type ListColumn, listRow, type Moment, placed, titleRow } from './columns.ts'
import { rowOf } from './fit.ts'
import type { Area, Row, Span } from './row.ts'
import { safeName, safeText } from './safe-text.ts'
import { statusCell } from './stream-cells.ts'
import { isTiny, marksOf } from './streams.ts'
import { DUE_WIDTH, dueCell, pastText } from './times.ts'
import { listWindow } from './window.ts'

interface Next {
  readonly stream: string
  readonly dueMs: number | undefined
  readonly entry: StreamEntry | undefined
}

/** The streams whose limits end next, with the cursor. */
export function nextRows(scene: Scene, area: Area): Row[] {
  const moment = { nowMs: scene.nowMs, time: scene.state.time }
  const columns = placed(NEXT, area.columns)
  const titles = isTiny(scene) ? [] : [titleRow(columns)]
  const { keys, cursor } = listWindow(scene, area.rows - titles.length)
  const limits = limitsOf(scene)
  const rows = keys.map(stream => {
    const entry = scene.data.streams.get(stream)
    const item = { stream, dueMs: limits.get(stream) ?? entry?.item.summary?.dueMs, entry }
    return listRow(columns, item, moment, marksOf(scene, stream, cursor))
  })
  return [...titles, ...rows]
}

type Limits = Scene['data']['watchdog']['next']
const BY_STREAM = new WeakMap<Limits, ReadonlyMap<string, number>>()

/** The limits by stream, made once for each list of them. */
function limitsOf({ data }: Scene): ReadonlyMap<string, number> {
  const { next } = data.watchdog
  const known = BY_STREAM.get(next)
  if (known !== undefined) return known
  const made = new Map(next.map(({ stream, dueMs }) => [stream, dueMs]))
  BY_STREAM.set(next, made)
  return made
}

/** What watchdogs decided last, the latest first. */
export function decisionRows({ data, nowMs, state }: Scene, area: Area): Row[] {
  const dogs = data.watchdog.state?.watchdogs ?? []
  const latest = dogs.flatMap(({ decisions }) => decisions).sort((a, b) => b.atMs - a.atMs)
  if (latest.length === 0) return []
  const columns = placed(DECISIONS, area.columns)
  const moment: Moment = { nowMs, time: state.time }
  return [titleRow(columns), ...latest.slice(0, area.rows - 1).map(decision => listRow(columns, decision, moment))]
}

/** What a pass would do now, where somebody asked. */
export function dryRunRows({ data, nowMs, state }: Scene, area: Area): Row[] {
  const { dryRun } = data.watchdog
  if (dryRun === undefined) return []
  const style = dryRun.kind === 'failed' ? 'bad' : 'strong'
  const head = rowOf([[`   ${dryRunTitle(dryRun, { nowMs, time: state.time })}`, style]], area.columns)
  if (dryRun.kind !== 'done') return [head]
  const { breaker, decisions, total } = dryRun
  const warning: Span[] =
    breaker === undefined ? [] : [[`   ! the breaker would hold it back: ${safeText(breaker)}`, 'bad']]
  const room = Math.max(0, area.rows - 1 - warning.length)
  const shown = decisions.slice(0, total > room ? Math.max(0, room - 1) : room)
  const rest = total - shown.length
  const lines: Span[] = shown.map(line => [`   ${safeText(line)}`, 'plain'])
  const more: Span[] = rest > 0 ? [[`   and ${countText(rest)} more`, 'dim']] : []
  return [head, ...[...warning, ...lines, ...more].map(span => rowOf([span], area.columns))]
}

function dryRunTitle(dryRun: DryRun, moment: Moment): string {
  switch (dryRun.kind) {
    case 'running':
      return `dry run: looking for ${calmSpan(moment.nowMs - dryRun.sinceMs)} …`
    case 'failed':
      return `dry run failed: ${safeText(dryRun.message)}`
    case 'done': {
      const { total, tookMs, atMs } = dryRun
      const what = total === 0 ? 'nothing to do' : counted(total, 'decision')
      return `dry run ${pastText(atMs, moment)}: ${what}, took ${tookText(tookMs)}; nothing was changed`
    }
    default:
      return dryRun satisfies never
  }
}

const NEXT: readonly ListColumn<Next>[] = [
  { title: 'ENDS NEXT', width: DUE_WIDTH, cell: ({ dueMs }, moment) => dueCell(dueMs, moment) },
  { title: 'STREAM', width: 12, share: 1, cut: 'middle', cell: ({ stream }) => safeName(stream) },
  {
    title: 'STATUS',
    width: 14,
    from: PANES_COLUMNS,
    spare: 1,
    cell: ({ entry }) => (entry === undefined ? '-' : statusCell(entry)),
  },
]

function lateCell({ atMs, dueMs }: CarriedDecision): Cell {
  return dueMs === undefined ? '-' : tookText(Math.max(0, atMs - dueMs))
}

const DECISIONS: readonly ListColumn<CarriedDecision>[] = [
  { title: 'DECIDED', align: 'right', width: 10, cell: ({ atMs }, moment) => pastText(atMs, moment) },
  {
    title: 'OUTCOME',
    width: 11,
    cell: ({ outcome }) => ({ text: safeText(outcome), style: outcomeStyle(outcome) }),
  },
  { title: 'STREAM', width: 12, share: 2, cut: 'middle', cell: ({ stream }) => safeName(stream) },
  { title: 'EVENT', width: 8, share: 1, spare: 2, cell: ({ event }) => safeText(event ?? '') || '-' },
  { title: 'LIMIT', width: 9, from: PANES_COLUMNS, spare: 1, cell: ({ limit }) => safeText(limit ?? '') || '-' },
  { title: 'LATE', align: 'right', width: 7, from: PANES_COLUMNS, spare: 3, cell: lateCell },
]
