import { counted, countText } from '../../formats/terminal/count-text.ts'
import { calmSpan } from '../../formats/terminal/numbers.ts'
import type { Cell } from '../../formats/terminal/table.ts'
import { byLiveness, isThere, LIVENESS_LOOKS, shardsText, tookText } from '../../formats/watchdog-status.ts'
import { livenessOf, type WatchdogEntry } from '../../ops/watchdog-state/state.ts'
import type { Scene } from '../state/context.ts'
import { PANES_COLUMNS, WIDE_COLUMNS } from '../state/layout.ts'
import { type ListColumn, listRow, type Moment, placed, titleRow } from './columns.ts'
import { rowOf } from './fit.ts'
import type { Area, Row } from './row.ts'
import { safeText } from './safe-text.ts'
import { pastText } from './times.ts'

/** One row a watchdog, those who are there first; the last row tells of those there is no room for. */
export function dogRows({ data, nowMs, state }: Scene, area: Area): Row[] {
  const dogs = (data.watchdog.state?.watchdogs ?? []).toSorted(byLiveness(nowMs))
  const columns = placed(COLUMNS, area.columns)
  const room = Math.max(1, area.rows - 1)
  const shown = dogs.slice(0, dogs.length > room ? Math.max(1, room - 1) : room)
  const rows = shown.map(dog => listRow(columns, dog, { nowMs, time: state.time }))
  const rest = dogs.length - shown.length
  const more = rest === 0 ? [] : [rowOf([[`   and ${countText(rest)} more`, 'dim']], area.columns)]
  return [titleRow(columns), ...rows, ...more]
}

/** What keeps those who are there from their work, a row each. */
export function troubleRows({ data, nowMs }: Scene, { columns }: Area): Row[] {
  const { watchdogs = [], damaged = false } = data.watchdog.state ?? {}
  const there = watchdogs.filter(dog => isThere(livenessOf(dog, nowMs)))
  const lines = there.flatMap(({ host, pid, failure, breaker }) => [
    ...(failure === undefined
      ? []
      : [
          `${host}:${pid}: no pass ends for ${calmSpan(nowMs - failure.sinceMs)}: ${failure.message} [${failure.code}]`,
        ]),
    ...(breaker?.isOpen
      ? [
          `${host}:${pid}: the breaker is open: a pass would end ${countText(breaker.wouldEnd)} of ${counted(breaker.openEvents, 'open event')}: it ends nothing`,
        ]
      : []),
  ])
  const all = damaged ? [...lines, 'some of what watchdogs wrote cannot be read'] : lines
  return all.map(line => rowOf([[` ! ${safeText(line)}`, 'bad']], columns))
}

function stateCell(dog: WatchdogEntry, { nowMs }: Moment): Cell {
  const liveness = livenessOf(dog, nowMs)
  if (dog.failure !== undefined && liveness === 'live') return { text: '! failing', style: 'bad' }
  const { glyph, style } = LIVENESS_LOOKS[liveness]
  return { text: `${glyph} ${liveness}`, style }
}

/** By how much its next pass is late. */
function lagCell(dog: WatchdogEntry, { nowMs }: Moment): Cell {
  if (dog.lastSweepMs === undefined || livenessOf(dog, nowMs) === 'stopped') return '-'
  const lagMs = nowMs - dog.lastSweepMs - Math.max(dog.intervalMs, dog.tookMs)
  // A pass takes its time, and what it wrote is read a look later.
  return lagMs < 5_000 ? '-' : { text: calmSpan(lagMs), style: lagMs > 3 * dog.intervalMs ? 'warn' : 'plain' }
}

function overdueCell({ lastPass }: WatchdogEntry): Cell {
  if (lastPass === undefined) return '-'
  return lastPass.overdue === 0 ? '0' : { text: countText(lastPass.overdue), style: 'warn' }
}

const COLUMNS: readonly ListColumn<WatchdogEntry>[] = [
  { title: 'STATE', width: 9, cell: stateCell },
  { title: 'WATCHDOG', width: 14, share: 1, cut: 'middle', cell: dog => safeText(`${dog.host}:${dog.pid}`) },
  { title: 'LAST PASS', align: 'right', width: 10, cell: (dog, moment) => pastText(dog.lastSweepMs, moment) },
  { title: 'LAG', align: 'right', width: 6, spare: 1, cell: lagCell },
  { title: 'EVERY', align: 'right', width: 5, from: PANES_COLUMNS, spare: 4, cell: dog => calmSpan(dog.intervalMs) },
  { title: 'TOOK', align: 'right', width: 6, from: WIDE_COLUMNS, spare: 6, cell: dog => tookText(dog.tookMs) },
  {
    title: 'WATCHED',
    align: 'right',
    width: 7,
    from: PANES_COLUMNS,
    spare: 3,
    cell: ({ lastPass }) => (lastPass === undefined ? '-' : countText(lastPass.watched)),
  },
  { title: 'OVERDUE', align: 'right', width: 7, from: PANES_COLUMNS, spare: 2, cell: overdueCell },
  {
    title: 'ENDED',
    align: 'right',
    width: 6,
    from: WIDE_COLUMNS,
    spare: 5,
    cell: ({ totals }) => countText(totals.ended),
  },
  {
    title: 'BREAKER',
    width: 7,
    from: WIDE_COLUMNS,
    spare: 5,
    cell: ({ breaker }) => (breaker?.isOpen ? { text: '! open', style: 'bad' } : 'closed'),
  },
  {
    title: 'SHARDS',
    width: 8,
    share: 1,
    from: WIDE_COLUMNS,
    spare: 6,
    // Others have long taken those of one that is gone.
    cell: (dog, { nowMs }) => (livenessOf(dog, nowMs) === 'silent' ? '-' : shardsText(dog.shards)),
  },
]
