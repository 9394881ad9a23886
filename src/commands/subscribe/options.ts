import type { GlobalOptions } from '../../cli/options.ts'
import type { PointInTime } from '../../cli/values.ts'
import type { Partition } from '../../ops/shards/partition.ts'
import type { OnPoison } from '../../subscriptions/types.ts'

/** Where a new subscription begins. */
export type StartPoint = 'start' | 'now' | PointInTime

export interface SubscribeOptions extends GlobalOptions {
  /** Name of the subscription. */
  readonly as: string
  readonly match?: readonly string[]
  readonly notMatch?: readonly string[]
  /** Only these operations. */
  readonly op?: readonly string[]
  /** Only transactions that changed an event of one of these names. */
  readonly name?: readonly string[]
  readonly doneOnly?: boolean
  /** Default `now`. */
  readonly from?: StartPoint
  readonly concurrency?: number
  readonly tries?: number
  readonly onPoison?: OnPoison
  /** Time between two polls, ms. */
  readonly interval?: number
  readonly shards?: number
  readonly partition?: Partition
  /** How long the command may run for a transaction, ms. */
  readonly timeout?: number
  /** Time from SIGTERM to SIGKILL, ms. */
  readonly grace?: number
  readonly by?: string
  /** How long commands wait for a lease held by another, ms. */
  readonly leaseWait?: number
  readonly command: readonly [string, ...string[]]
}
