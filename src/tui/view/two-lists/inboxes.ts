import type { CellFormat } from '../../../formats/field.ts'
import { dataSizeText } from '../../../formats/stream/data.ts'
import { rateText, sharingOf } from '../../../formats/subscription.ts'
import { calmSpan, countText } from '../../../formats/terminal/numbers.ts'
import type { Cell } from '../../../formats/terminal/table.ts'
import type { Lag, PartitionState } from '../../../inbox/lag.ts'
import type { InboxView } from '../../../inbox/view.ts'
import type { InboxRow } from '../../data/types.ts'
import type { TitleOf } from '../../state/columns.ts'
import type { Scene } from '../../state/context.ts'
import { inboxItem } from '../../state/lists/inbox-list.ts'
import type { Area, ScreenRow, StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { BARS } from '../streams.ts'
import { lagBars } from '../subscriptions.ts'
import type { FlexColumn } from '../table.ts'
import { type ColumnsOf, twoListRows } from './two-lists.ts'

/** The screen of inboxes, and below them the partitions of the one with the cursor. */
export function inboxRows(scene: Scene, area: Area): ScreenRow[] {
  return twoListRows<InboxRow, PartitionState>(scene, area, {
    noun: 'inbox',
    isRead: scene.data.inboxes.rows !== undefined,
    whenNone: 'leasectl inbox create NAME   takes requests at any rate, to be drained to streams',
    ...{ list: 'inboxes', columns: COLUMNS, partList: 'partitions', partColumns: PARTITIONS },
    itemOf: key => {
      const found = inboxItem(scene.data, key)
      return found && { item: found.row, ...(found.partition && { part: found.partition }) }
    },
    title: ({ view }) => safeText(`${view.name}: partitions`),
    withoutParts: ({ view }) =>
      view.kind === 'unreadable' ? [`! ${safeText(view.why)}`, 'bad'] : ['none that matches the filter', 'dim'],
    shortText: ({ view }, partition) => shortText(view, partition, scene.nowMs),
  })
}

function shortText(view: InboxRow['view'], partition: PartitionState | undefined, nowMs: number): StyledText {
  if (view.kind === 'unreadable') return [`? ${safeText(view.name)} ${safeText(view.why)}`, 'plain']
  if (partition !== undefined) {
    const { owner } = partition.checkpoint
    const text = `  ${partition.partition} ${lagText(partition.lag)} ${safeText(owner ?? 'nobody')}`
    return [text, isIdle(partition) ? 'warn' : 'plain']
  }
  const { oldestMs } = view.lag
  const age = oldestMs === undefined ? '' : ` ${calmSpan(nowMs - oldestMs)}`
  const dead = view.deadLetters.open === 0 ? '' : ` ${countText(view.deadLetters.open)} dead`
  return [`${safeText(view.name)} ${lagText(view.lag)}${age}${dead}`, 'plain']
}

/** Records wait, and nobody drains them. */
function isIdle({ checkpoint, lag }: PartitionState): boolean {
  return checkpoint.owner === undefined && lag.records > 0
}

function lagText({ records, isEstimate }: Lag): string {
  return records === 0 ? '-' : `${isEstimate ? '~' : ''}${countText(records)}`
}

/** A value of an inbox that can be read. */
function known(of: (view: InboxView, format: CellFormat) => Cell): FlexColumn<InboxRow>['cell'] {
  return ({ view }, format) => (view.kind === 'readable' ? of(view, format) : '')
}

/** Each bar stands for ten times the records of the one before: the lowest for none, the second for up to 9. */
export function recordBars(counts: readonly number[]): string {
  return counts
    .map(count => (count < 1 ? 0 : Math.min(BARS.length - 1, 1 + Math.floor(Math.log10(count)))))
    .map(level => BARS.charAt(level))
    .join('')
}

function rateCell(rate: number): Cell {
  return rate === 0 ? '-' : rateText(rate)
}

function deadCell(dead: number): Cell {
  return dead === 0 ? '-' : { text: countText(dead), style: 'bad' }
}

/** Who drains which partitions; of an inbox that cannot be read, why. */
function drainedByCell({ view }: InboxRow, format: CellFormat): Cell {
  if (view.kind === 'unreadable') return { text: `! ${format.text(view.why)}`, style: 'bad' }
  const text = format.text(sharingOf(view.partitions.map(shardOf)).join(', '))
  return view.partitions.some(isIdle) ? { text, style: 'warn' } : text
}

function shardOf({ partition, checkpoint: { owner } }: PartitionState) {
  return { shard: partition, isHeld: owner !== undefined, by: owner ?? '', host: '' }
}

const COLUMNS: ColumnsOf<TitleOf<'inboxes'>, InboxRow> = {
  INBOX: { least: 10, cut: 'middle', cell: ({ view }, format) => format.text(view.name) },
  PARTS: { align: 'right', spare: 4, cell: known(({ inbox }) => String(inbox.partitions)) },
  LAG: { align: 'right', cell: known(({ lag }) => lagText(lag)) },
  'LAG BEFORE': {
    spare: 5,
    cell: ({ lags }) => ({ text: recordBars(lags.map(({ records }) => records)), style: 'active' }),
  },
  OLDEST: { align: 'right', cell: known(({ lag }, format) => format.age(lag.oldestMs)) },
  'AGE BEFORE': { spare: 2, cell: ({ lags }) => ({ text: lagBars(lags.map(({ ageMs }) => ageMs)), style: 'active' }) },
  IN: { align: 'right', spare: 3, cell: known(({ rate }) => rateCell(rate.in)) },
  OUT: { align: 'right', spare: 3, cell: known(({ rate }) => rateCell(rate.out)) },
  DEAD: { align: 'right', cell: known(({ deadLetters }) => deadCell(deadLetters.open)) },
  'DRAINED BY': { least: 10, spare: 1, cell: drainedByCell },
  SIZE: { align: 'right', spare: 6, cell: known(({ lag }) => dataSizeText({ size: lag.bytes })) },
  DRAINED: { align: 'right', spare: 7, cell: known(({ drained }) => countText(drained)) },
  CREATED: { align: 'right', spare: 8, cell: known(({ inbox }, format) => format.age(inbox.createdMs)) },
}

const PARTITIONS: ColumnsOf<TitleOf<'partitions'>, PartitionState> = {
  PARTITION: { align: 'right', cell: ({ partition }) => String(partition) },
  LAG: { align: 'right', cell: ({ lag }) => lagText(lag) },
  OLDEST: { align: 'right', cell: ({ lag }, format) => format.age(lag.oldestMs) },
  IN: { align: 'right', cell: ({ putRate }) => rateCell(putRate) },
  OUT: { align: 'right', cell: ({ checkpoint }) => rateCell(checkpoint.rate) },
  DEAD: { align: 'right', spare: 2, cell: ({ checkpoint }) => deadCell(checkpoint.dead) },
  'DRAINED BY': {
    least: 10,
    spare: 1,
    cell: (one, format) => {
      const { owner } = one.checkpoint
      return owner === undefined ? { text: 'nobody', style: isIdle(one) ? 'warn' : 'dim' } : format.text(owner)
    },
  },
  DRAINED: { align: 'right', spare: 3, cell: ({ checkpoint }) => countText(checkpoint.records) },
  CHECKPOINT: { align: 'right', spare: 4, cell: ({ checkpoint }, format) => format.age(checkpoint.atMs) },
  SIZE: { align: 'right', spare: 5, cell: ({ lag }) => dataSizeText({ size: lag.bytes }) },
}
