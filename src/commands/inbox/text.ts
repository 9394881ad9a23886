import { jsonTime } from '../../formats/json.ts'
import { dataSizeText } from '../../formats/stream/data.ts'
import { rateText } from '../../formats/subscription.ts'
import { counted, span, type TimeStyle, timeText } from '../../formats/terminal/numbers.ts'
import type { Cell, Column } from '../../formats/terminal/table.ts'
import type { BlockedKey } from '../../inbox/drain/blocked-keys.ts'
import type { Lag, PartitionState } from '../../inbox/lag.ts'
import type { InboxView, UnreadableInbox } from '../../inbox/view.ts'
import { visibleText } from '../../util/visible-text.ts'

export const INBOX_COLUMNS: readonly Column[] = [
  { title: 'INBOX', give: 1, min: 12, cut: 'middle' },
  { title: 'PARTITIONS', align: 'right' },
  { title: 'OWNED', align: 'right' },
  { title: 'DRAINED', align: 'right' },
  { title: 'DEAD', align: 'right' },
  { title: 'LAG', align: 'right' },
  { title: 'SIZE', align: 'right' },
  { title: 'OLDEST', align: 'right' },
  { title: 'IN', align: 'right' },
  { title: 'OUT', align: 'right' },
]

export function inboxRow(view: InboxView | UnreadableInbox, nowMs: number, time: TimeStyle): Cell[] {
  if (view.kind === 'unreadable')
    return [
      { text: visibleText(view.name), style: 'bad' },
      ...Array.from({ length: INBOX_COLUMNS.length - 1 }, () => '-'),
    ]
  const { name, inbox, owned, drained, deadLetters, lag, rate } = view
  return [
    { text: visibleText(name), style: view.faults.length === 0 ? 'plain' : 'bad' },
    String(inbox.partitions),
    { text: String(owned), style: owned < inbox.partitions && lag.records > 0 ? 'warn' : 'plain' },
    String(drained),
    deadCell(deadLetters.open),
    ...lagCells(lag, nowMs, time),
    rateText(rate.in),
    rateText(rate.out),
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
  { title: 'IN', align: 'right' },
  { title: 'OUT', align: 'right' },
]

export function partitionRow(
  { partition, checkpoint, lag, putRate }: PartitionState,
  nowMs: number,
  time: TimeStyle,
): Cell[] {
  const { position, owner, atMs, records, dead, rate } = checkpoint
  return [
    String(partition),
    visibleText(owner ?? '-'),
    position === undefined ? '-' : `${position.segment}:${position.offset}`,
    timeText(atMs, nowMs, time),
    String(records),
    deadCell(dead),
    ...lagCells(lag, nowMs, time),
    rateText(putRate),
    rateText(rate),
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

/** Keys that are listed, at most. */
const MOST_BLOCKED = 10

/** `key c-1 is blocked by the dead letter of o-7; 3 records wait` for each. */
export function blockedLines(inbox: string, blocked: readonly BlockedKey[]): string[] {
  if (blocked.length === 0) return []
  const lines = blocked.slice(0, MOST_BLOCKED).map(({ key, letter, records }) => {
    const behind = records === 0 ? '' : `; ${counted(records, 'record waits', 'records wait')} behind it`
    return `key ${visibleText(key)} is blocked by the dead letter of ${visibleText(letter.id)}${behind}`
  })
  const more = blocked.length > MOST_BLOCKED ? [`and ${blocked.length - MOST_BLOCKED} more keys`] : []
  return ['', ...lines, ...more, `leasectl inbox dead retry ${inbox} ID, or dead drop, lets a key go on`]
}

export function blockedJson({ key, letter, records }: BlockedKey) {
  return { key, letter: letter.letter, id: letter.id, records }
}

/** Why an inbox, or partitions of it, cannot be used: a sentence for each. */
export function faultLines(view: InboxView | UnreadableInbox): string[] {
  const faults = view.kind === 'unreadable' ? [`it cannot be read: ${view.why}`] : view.faults
  return faults.map(fault => `inbox ${visibleText(view.name)}: ${visibleText(fault)}`)
}

/** `2 dead letters, 3 of 8 partitions drained now, 12/s in, 10/s out` */
export function flowText({ inbox, owned, deadLetters, rate }: InboxView): string {
  return [
    ...(deadLetters.open === 0 ? [] : [counted(deadLetters.open, 'dead letter')]),
    owned === 0 ? 'nobody drains it' : `${owned} of ${counted(inbox.partitions, 'partition')} drained now`,
    `${rateText(rate.in)} in, ${rateText(rate.out)} out`,
  ].join(', ')
}

/** A sentence for a screen reader: `inbox orders: 3 records wait, …, nobody drains it, 0.1/s in, 0.0/s out` */
export function inboxInWords(view: InboxView | UnreadableInbox, nowMs: number): string {
  const name = visibleText(view.name)
  if (view.kind === 'unreadable') return `inbox ${name} cannot be read: ${visibleText(view.why)}`
  return [`inbox ${name}: ${lagText(view.lag, nowMs)}; ${flowText(view)}`, ...faultLines(view)].join('; ')
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
  'deadLetters',
  'lag.records',
  'lag.isEstimate',
  'lag.bytes',
  'lag.oldest',
  'rate.in',
  'rate.out',
] as const

/** An item of `inbox ls`; fields are only ever added. */
export function inboxJson(view: InboxView | UnreadableInbox) {
  if (view.kind === 'unreadable') return { inbox: view.name, error: view.why }
  const { name, inbox, owned, drained, dead, deadLetters, lag, rate, faults } = view
  return {
    inbox: name,
    ...(faults.length === 0 ? {} : { faults }),
    partitions: inbox.partitions,
    created: jsonTime(inbox.createdMs),
    by: inbox.by,
    owned,
    drained,
    dead,
    deadLetters: deadLetters.open,
    lag: lagJson(lag),
    rate: rateJson(rate.in, rate.out),
  }
}

export function partitionJson({ partition, checkpoint, lag, putRate, fault }: PartitionState) {
  const { position, owner, atMs, records, dead, rate } = checkpoint
  return {
    partition,
    owner: owner ?? null,
    checkpoint: position === undefined ? null : { ...position, at: jsonTime(atMs) },
    drained: records,
    dead,
    lag: lagJson(lag),
    rate: rateJson(putRate, rate),
    ...(fault === undefined ? {} : { fault }),
  }
}

function rateJson(put: number, drained: number) {
  const rounded = (rate: number) => Math.round(rate * 100) / 100
  return { in: rounded(put), out: rounded(drained) }
}

function lagJson({ records, isEstimate, bytes, oldestMs }: Lag) {
  return { records, isEstimate, bytes, oldest: jsonTime(oldestMs) }
}
