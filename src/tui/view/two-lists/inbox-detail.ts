import { dataSizeText } from '../../../formats/stream/data.ts'
import { rateText } from '../../../formats/subscription.ts'
import { calmSpan, spacedCount } from '../../../formats/terminal/numbers.ts'
import type { Lag, PartitionState } from '../../../inbox/lag.ts'
import type { InboxRow } from '../../data/types.ts'
import type { Scene } from '../../state/context.ts'
import { inboxItem, placeOfInbox } from '../../state/lists/inbox-list.ts'
import type { StyledText } from '../row.ts'
import { safeText } from '../safe-text.ts'
import { type RowTime, wholeTimeText } from '../times.ts'

type Lines = readonly (readonly StyledText[])[]

/** All about an inbox and each of its partitions, or about one partition. */
export function inboxLines({ data, nowMs, state }: Scene, key: string): Lines | undefined {
  const item = inboxItem(data, key)
  if (item === undefined) return undefined
  const moment = { nowMs, time: state.time }
  return item.partition === undefined ? ofInbox(item.row, moment) : ofPartition(item.partition, moment)
}

export function inboxTitle(key: string): string {
  const { inbox = '' } = placeOfInbox(key)
  const [, partition] = key.split('\n')
  return safeText(partition === undefined ? inbox : `${inbox}: partition ${partition}`)
}

function ofInbox({ view }: InboxRow, moment: RowTime): Lines {
  if (view.kind === 'unreadable') return [[[`! ${safeText(view.why)}`, 'bad']]]
  const { inbox, lag, rate, owned, partitions, drained, deadLetters } = view
  const name = safeText(view.name)
  return [
    fact('waits', lagText(lag, moment.nowMs)),
    fact('rate', `${rateText(rate.in)} in, ${rateText(rate.out)} out`),
    fact('drained', `${spacedCount(drained)} records; ${owned} of ${inbox.partitions} partitions are drained now`),
    fact('dead', spacedCount(deadLetters.open), deadLetters.open > 0 ? 'bad' : 'plain'),
    fact('created', `${wholeTimeText(inbox.createdMs, moment)} by ${safeText(inbox.by)}`),
    [],
    ...partitions.map((partition): readonly StyledText[] => [
      [`partition ${partition.partition} `, 'dim'],
      ownerOf(partition),
      [`  ${lagText(partition.lag, moment.nowMs)}`, 'plain'],
    ]),
    ...(deadLetters.open === 0
      ? []
      : [
          [],
          [[`leasectl inbox dead ls ${name}            lists what could not be done, and why`, 'dim']] as const,
          [[`leasectl inbox dead retry ${name} --all   puts it into the inbox again`, 'dim']] as const,
        ]),
  ]
}

function ofPartition(partition: PartitionState, moment: RowTime): Lines {
  const { checkpoint, lag, putRate, fault } = partition
  const { position, records, dead, rate, atMs } = checkpoint
  return [
    [['drained by ', 'dim'], ownerOf(partition)],
    fact('waits', lagText(lag, moment.nowMs)),
    fact('rate', `${rateText(putRate)} in, ${rateText(rate)} out`),
    fact('drained', `${spacedCount(records)} records, ${spacedCount(dead)} of them became dead letters`),
    fact(
      'checkpoint',
      position === undefined || atMs === undefined
        ? 'none'
        : `${position.segment}:${position.offset}, written ${wholeTimeText(atMs, moment)}`,
    ),
    ...(fault === undefined ? [] : [[[`cannot be drained: ${fault}`, 'bad']] as const]),
  ]
}

function ownerOf({ checkpoint: { owner }, lag }: PartitionState): StyledText {
  return owner === undefined ? ['nobody', lag.records > 0 ? 'warn' : 'dim'] : [safeText(owner), 'plain']
}

function lagText({ records, isEstimate, bytes, oldestMs }: Lag, nowMs: number): string {
  if (records === 0) return 'nothing'
  const oldest = oldestMs === undefined ? '' : `, the oldest for ${calmSpan(nowMs - oldestMs)}`
  return `${isEstimate ? '~' : ''}${spacedCount(records)} records, ${dataSizeText({ size: bytes })}${oldest}`
}

function fact(label: string, text: string, style: StyledText[1] = 'plain'): readonly StyledText[] {
  return [
    [`${label} `, 'dim'],
    [text, style],
  ]
}
