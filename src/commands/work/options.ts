import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import type { Partition } from '../../ops/shards/partition.ts'
import type { WriteMode } from '../../store/store.ts'
import type { ProgramFlags } from '../exec/options.ts'

export interface WorkCommandOptions
  extends GlobalOptions,
    Pick<ChangeFlags, 'by' | 'reason' | 'leaseWait'>,
    Pick<ProgramFlags, 'owner' | 'claim' | 'grace' | 'stdin' | 'next' | 'fork' | 'join'> {
  /** Names of the events to work on. */
  readonly name: readonly string[]
  /** Topic of the events to work on. */
  readonly topic?: string
  readonly match?: string
  readonly partition?: Partition
  /** Only what has been ready for so long, ms. */
  readonly defer?: number
  readonly concurrency?: number
  readonly maxAttempts?: number
  /** The first and the longest pause: `2s..1m`. */
  readonly backoff?: string
  readonly once?: boolean
  readonly untilEmpty?: boolean
  /** Longest pause between polls, ms. */
  readonly maxIdle?: number
  readonly write?: WriteMode
  readonly command: readonly [string, ...string[]]
}
