import { type Command, Option } from 'commander'
import { type Partition, parsePartition, partitionOfHost } from '../ops/shards/partition.ts'
import { UsageError } from './problem.ts'
import type { Runtime } from './runtime.ts'
import { count, inFlag } from './values.ts'

/** The flags of a command that works on a fixed part of the streams. */
export interface PartitionFlags {
  readonly partition?: Partition
  readonly partitionFromHostname?: boolean
  readonly partitionCount?: number
}

const STREAMS =
  'only the streams whose names hash to part I of N, from 0: 0/4 to 3/4; a stream is then always worked on by one process'

/** Adds `--partition`, `--partition-from-hostname` and `--partition-count`. */
export function partitionFlags(command: Command, what = STREAMS): Command {
  return command
    .addOption(
      new Option('--partition <i/n>', what).argParser(text => inFlag('--partition', () => parsePartition(text))),
    )
    .option('--partition-from-hostname', 'the partition is the last number of the host name: pod-3 is 3')
    .addOption(
      new Option('--partition-count <n>', 'number of partitions, with --partition-from-hostname').argParser(
        count('--partition-count', 1),
      ),
    )
}

/** The partition that the flags name, if any. @throws UsageError */
export function partitionIn(
  { partition, partitionFromHostname, partitionCount }: PartitionFlags,
  { host }: Pick<Runtime, 'host'>,
): Partition | undefined {
  if (partition !== undefined && (partitionFromHostname || partitionCount !== undefined)) {
    throw new UsageError('--partition names the partition: it takes no other flag of partitions', {
      hint: 'Leave --partition-from-hostname and --partition-count out.',
    })
  }
  if (!partitionFromHostname && partitionCount !== undefined) {
    throw new UsageError('--partition-count goes with --partition-from-hostname', {
      hint: '--partition 3/8 has both numbers',
    })
  }
  if (!partitionFromHostname) return partition
  if (partitionCount === undefined) {
    throw new UsageError('--partition-from-hostname needs --partition-count: how many partitions there are', {
      hint: '--partition-from-hostname --partition-count 8',
    })
  }
  return inFlag('--partition-from-hostname', () => partitionOfHost(host, partitionCount))
}
