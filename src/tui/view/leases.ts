import { holderCell, purposeText } from '../../formats/lease.ts'
import type { StreamEntry } from '../data/types.ts'
import type { Scene } from '../state/context.ts'
import { PANES_COLUMNS, WIDE_COLUMNS } from '../state/layout.ts'
import type { ListColumn } from './columns.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { type Area, filled, type ScreenRow } from './row.ts'
import { safeText } from './safe-text.ts'
import { entryRows } from './streams.ts'
import { AGE_WIDTH, agoText, clockText, type RowTime } from './times.ts'

/** The leases screen. */
export function leaseRows(scene: Scene, area: Area): ScreenRow[] {
  if (scene.listing.keys.length === 0) return filled(noLeases(scene, area), area)
  return entryRows(scene, area, scene.state.isWide ? [...COLUMNS, LAST_BY] : COLUMNS)
}

function noLeases(scene: Scene, area: Area): ScreenRow[] {
  const waiting = waitingRows(scene, area)
  if (waiting !== undefined) return waiting
  if (scene.listing.total > 0) return noMatch(scene, area, 'lease')
  return emptyRows(area, 'no lease is held', [
    'writers hold one for a moment while they write; leasectl lease acquire STREAM holds one for longer',
  ])
}

/** `aks-3:4711`; `-` if unknown. */
export function processText({ item: { listed } }: StreamEntry): string {
  const { holder } = listed.lease
  if (holder === undefined || holder.host === '') return '-'
  return safeText(holder.pid > 0 ? `${holder.host}:${holder.pid}` : holder.host)
}

/** When it ends unless it is renewed. */
export function leaseEndText({ item: { listed } }: StreamEntry, moment: RowTime): string {
  const { state, duration, untilMs } = listed.lease
  const prefix = state === 'breaking' ? 'breaking, ' : ''
  if (duration === 'infinite') return `${prefix}infinite`
  if (untilMs === undefined) return state === 'breaking' ? 'breaking' : '-'
  const text =
    moment.time === 'relative' ? `in ${agoText(2 * moment.nowMs - untilMs, moment)}` : clockText(untilMs, moment)
  return `${prefix}${untilMs <= moment.nowMs && moment.time === 'relative' ? 'over' : text}`
}

const LAST_BY: ListColumn<StreamEntry> = {
  title: 'LAST BY',
  width: 10,
  share: 1,
  from: PANES_COLUMNS,
  spare: 5,
  cell: ({ item }) => safeText(item.summary?.lastBy ?? '') || '-',
}

const COLUMNS: readonly ListColumn<StreamEntry>[] = [
  { title: 'STREAM', width: 12, share: 3, cut: 'middle', cell: ({ name }, format) => format.name(name) },
  {
    title: 'SINCE',
    align: 'right',
    width: AGE_WIDTH,
    spare: 2,
    cell: ({ item, leasedSinceMs }, format) => format.age(item.listed.lease.holder?.sinceMs ?? leasedSinceMs),
  },
  { title: 'ENDS', width: 10, spare: 3, cell: leaseEndText },
  {
    title: 'HOLDER',
    width: 10,
    share: 2,
    spare: 1,
    cell: ({ item }, format) => holderCell(item.listed.lease, item.summary?.lastBy, format),
  },
  { title: 'PROCESS', width: 12, share: 1, from: PANES_COLUMNS, spare: 4, cell: processText },
  {
    title: 'PURPOSE',
    width: 14,
    share: 3,
    from: WIDE_COLUMNS,
    spare: 6,
    cell: ({ item }, format) => purposeText(item.listed, format),
  },
]
