import type { ChangeFlags, GlobalOptions } from '../../../cli/options.ts'
import type { PartitionFlags } from '../../../cli/partition.ts'

export interface DrainCommandOptions
  extends GlobalOptions,
    PartitionFlags,
    Pick<ChangeFlags, 'by' | 'reason' | 'leaseWait' | 'write'> {
  readonly inbox: string
  /** Path of a template, `-` for standard input. */
  readonly template?: string
  /** Name of the step. */
  readonly append?: string
  /** Name of the stream, with `{/pointer}`. */
  readonly name: string
  readonly inboxStore?: string
  readonly concurrency?: number
  /** Records a second. */
  readonly rate?: number
  readonly checkpointEvery?: number
  /** ms. */
  readonly checkpointInterval?: number
  /** ms. */
  readonly keep?: number
  readonly strictOrder?: boolean
  readonly once?: boolean
  readonly force?: boolean
}

export interface DeadOptions extends GlobalOptions {
  readonly inbox: string
}

export interface SomeDeadOptions extends DeadOptions {
  /** Names of dead letters, or ids of records. */
  readonly letters: readonly string[]
}

export interface SettleDeadOptions extends SomeDeadOptions {
  readonly all?: boolean
  readonly by?: string
}
