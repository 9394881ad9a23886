import { holderCell, purposeText } from '../../formats/lease.ts'
import type { StreamEntry } from '../data/types.ts'
import type { TitleOf } from '../state/columns.ts'
import type { Scene } from '../state/context.ts'
import { columnsOf } from './columns-of.ts'
import { emptyRows, noMatch, waitingRows } from './empty.ts'
import { type Area, filled, type ScreenRow } from './row.ts'
import { safeText } from './safe-text.ts'
import { entryRows } from './streams.ts'
import type { FlexColumn } from './table.ts'
import { agoText, clockText, type RowTime } from './times.ts'

/** The leases screen. */
export function leaseRows(scene: Scene, area: Area): ScreenRow[] {
  if (scene.listing.keys.length === 0) return filled(noLeases(scene, area), area)
  return entryRows(scene, area, 'leases', columnsOf(scene, 'leases', COLUMNS))
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

const COLUMNS: { readonly [Title in TitleOf<'leases'>]: Omit<FlexColumn<StreamEntry>, 'title'> } = {
  STREAM: { cut: 'middle', least: 18, cell: ({ item }, format) => format.name(item.listed.name) },
  SINCE: {
    align: 'right',
    spare: 2,
    cell: ({ item, leasedSinceMs }, format) => format.age(item.listed.lease.holder?.sinceMs ?? leasedSinceMs),
  },
  ENDS: { spare: 3, cell: leaseEndText },
  HOLDER: {
    least: 10,
    spare: 1,
    cell: ({ item }, format) => holderCell(item.listed.lease, item.summary?.lastBy, format),
  },
  PROCESS: { least: 10, spare: 4, cell: processText },
  PURPOSE: { least: 12, isText: true, spare: 6, cell: ({ item }, format) => purposeText(item.listed, format) },
  'LAST BY': { least: 8, spare: 5, cell: ({ item }) => safeText(item.summary?.lastBy ?? '') },
}
