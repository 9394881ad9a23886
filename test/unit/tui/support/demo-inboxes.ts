import type { PartitionState } from '../../../../src/inbox/lag.ts'
import { totalLag } from '../../../../src/inbox/lag.ts'
import type { InboxRow } from '../../../../src/tui/data/types.ts'
import { NOW_MS } from './world.ts'

function partition(number: number, owner: string | undefined, records: number, ageMs: number): PartitionState {
  const position = { segment: 3, offset: 4_096 }
  return {
    partition: number,
    checkpoint: {
      position: owner === undefined ? undefined : position,
      records: owner === undefined ? 0 : 120_400,
      dead: owner === undefined ? 0 : 1,
      rate: owner === undefined ? 0 : 310.4,
      atMs: owner === undefined ? undefined : NOW_MS - 1_000,
      owner,
    },
    extent: { first: { segment: 1, offset: 0 }, end: { segment: 9, offset: 0 }, bytes: records * 1_024 },
    lag: {
      records,
      isEstimate: records > 1_000,
      bytes: records * 1_024,
      oldestMs: records === 0 ? undefined : NOW_MS - ageMs,
    },
    putRate: records === 0 ? 0 : 1_250,
  }
}

function readable(name: string, partitions: readonly PartitionState[], open: number): InboxRow {
  const sum = (value: (one: PartitionState) => number) => partitions.reduce((total, one) => total + value(one), 0)
  const lag = totalLag(partitions)
  const lags = [0, 40, 900, 12_000, 61_000].map(records => ({ records, ageMs: records }))
  return {
    key: name,
    view: {
      kind: 'readable',
      faults: [],
      name,
      inbox: { name, partitions: partitions.length, createdMs: NOW_MS - 86_400_000, by: 'ann@ops' },
      partitions,
      lag,
      rate: { in: sum(({ putRate }) => putRate), out: sum(({ checkpoint }) => checkpoint.rate) },
      owned: sum(({ checkpoint }) => (checkpoint.owner === undefined ? 0 : 1)),
      drained: sum(({ checkpoint }) => checkpoint.records),
      dead: sum(({ checkpoint }) => checkpoint.dead),
      deadLetters: { open, end: undefined },
    },
    lags: lag.records === 0 ? [{ records: 0, ageMs: 0 }] : lags,
  }
}

/** One that two drains share but for a partition, an idle one, one that cannot be read. */
export const DEMO_INBOXES: readonly InboxRow[] = [
  readable(
    'deliveries',
    [
      partition(0, 'drain@aks-1', 12_431, 134_000),
      partition(1, 'drain@aks-1', 0, 0),
      partition(2, 'drain@aks-2', 48_600, 70_000),
      partition(3, undefined, 12, 3_600_000),
    ],
    2,
  ),
  readable('refunds', [partition(0, undefined, 0, 0)], 0),
  {
    key: 'stats',
    view: { kind: 'unreadable', name: 'stats', why: 'it is from a newer version of leasectl' },
    lags: [],
  },
]

export const DEMO_INBOX_KEYS: readonly string[] = [
  'deliveries',
  'refunds',
  'stats',
  'deliveries\n0',
  'deliveries\n1',
  'deliveries\n2',
  'deliveries\n3',
]
