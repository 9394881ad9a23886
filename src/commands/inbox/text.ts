import { jsonTime } from '../../formats/json.ts'
import { dataSizeText } from '../../formats/stream/data.ts'
import { counted, span, type TimeStyle, timeText } from '../../formats/terminal/numbers.ts'
import type { Cell, Column } from '../../formats/terminal/table.ts'
import type { Inbox } from '../../inbox/inbox.ts'
import type { Lag, PartitionState } from '../../inbox/lag.ts'
import { visibleText } from '../../util/visible-text.ts'

/** An inbox with what waits in it. */
export interface InboxState {
  readonly inbox: Inbox
  readonly partitions: readonly PartitionState[]
  readonly lag: Lag
}

export const INBOX_COLUMNS: readonly Column[] = [
  { title: 'INBOX', give: 1, min: 12, cut: 'middle' },
  { title: 'PARTITIONS', align: 'right' },
  { title: 'OWNED', align: 'right' },
  { title: 'DRAINED', align: 'right' },
  { title: 'DEAD', align: 'right' },
  { title: 'LAG', align: 'right' },
  { title: 'SIZE', align: 'right' },
  { title: 'OLDEST', align: 'right' },
]

export function inboxRow({ inbox, partitions, lag }: InboxState, nowMs: number, time: TimeStyle): Cell[] {
  const { owned, drained, dead } = sums(partitions)
  return [
    visibleText(inbox.name),
    String(inbox.partitions),
    String(owned),
    String(drained),
    deadCell(dead),
    ...lagCells(lag, nowMs, time),
  ]
}

export const PARTITION_COLUMNS: readonly Column[] = [
  { title: 'PARTITION', align: 'right' },
  { title: 'OWNER', give: 1, min: 12, cut: 'middle' },
  { title: 'CHECKPOINT' },
  { title: 'AGE', align: 'right' },
  { title: 'DRAINED', align: 'right' },
  { title: 'DEAD', align: 'right' },
  { title: 'LAG', align: 'right' },
  { title: 'SIZE', align: 'right' },
  { title: 'OLDEST', align: 'right' },
]

export function partitionRow({ partition, checkpoint, lag }: PartitionState, nowMs: number, time: TimeStyle): Cell[] {
  const { position, owner, atMs, records, dead } = checkpoint
  return [
    String(partition),
    visibleText(owner ?? '-'),
    position === undefined ? '-' : `${position.segment}:${position.offset}`,
    timeText(atMs, nowMs, time),
    String(records),
    deadCell(dead),
    ...lagCells(lag, nowMs, time),
  ]
}

function deadCell(dead: number): Cell {
  return { text: String(dead), style: dead > 0 ? 'bad' : 'plain' }
}

function lagCells({ records, isEstimate, bytes, oldestMs }: Lag, nowMs: number, time: TimeStyle): Cell[] {
  return [`${isEstimate ? '~' : ''}${records}`, dataSizeText({ size: bytes }), timeText(oldestMs, nowMs, time)]
}

/** `nothing waits`, `about 12431 records wait, 11.2 MiB, the oldest for 2m14s` */
export function lagText({ records, isEstimate, bytes, oldestMs }: Lag, nowMs: number): string {
  if (records === 0) return 'nothing waits'
  const oldest = oldestMs === undefined ? '' : `, the oldest for ${span(nowMs - oldestMs)}`
  const many = counted(records, 'record waits', 'records wait')
  return `${isEstimate ? 'about ' : ''}${many}, ${dataSizeText({ size: bytes })}${oldest}`
}

function sums(partitions: readonly PartitionState[]) {
  const sum = (value: (one: PartitionState) => number) => partitions.reduce((total, one) => total + value(one), 0)
  return {
    owned: sum(({ checkpoint }) => (checkpoint.owner === undefined ? 0 : 1)),
    drained: sum(({ checkpoint }) => checkpoint.records),
    dead: sum(({ checkpoint }) => checkpoint.dead),
  }
}

/** The columns of CSV. */
export const INBOX_FIELDS = [
  'inbox',
  'partitions',
  'created',
  'by',
  'owned',
  'drained',
  'dead',
  'lag.records',
  'lag.isEstimate',
  'lag.bytes',
  'lag.oldest',
] as const

export function inboxJson({ inbox, partitions, lag }: InboxState) {
  return {
    inbox: inbox.name,
    partitions: inbox.partitions,
    created: jsonTime(inbox.createdMs),
    by: inbox.by,
    ...sums(partitions),
    lag: lagJson(lag),
  }
}

export function partitionJson({ partition, checkpoint, lag }: PartitionState) {
  const { position, owner, atMs, records, dead } = checkpoint
  return {
    partition,
    owner: owner ?? null,
    checkpoint: position === undefined ? null : { ...position, at: jsonTime(atMs) },
    drained: records,
    dead,
    lag: lagJson(lag),
  }
}

function lagJson({ records, isEstimate, bytes, oldestMs }: Lag) {
  return { records, isEstimate, bytes, oldest: jsonTime(oldestMs) }
}
