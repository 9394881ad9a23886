import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import type { WriteMode } from '../../store/store.ts'
import type { AttributeFlags } from '../event/flags.ts'

/** How `exec` and `work` run their program. */
export interface ProgramFlags extends AttributeFlags {
  readonly owner?: string
  /** How long the claim lasts without a heartbeat, ms. */
  readonly claim?: number
  /** Time between the request to terminate and the kill, ms. */
  readonly grace?: number
  readonly stdin?: 'json'
  readonly next?: string
  readonly fork?: readonly string[]
  readonly join?: string
}

export interface ExecOptions extends GlobalOptions, Pick<ChangeFlags, 'by' | 'reason' | 'leaseWait'>, ProgramFlags {
  readonly stream: string
  readonly event: string
  readonly command: readonly [string, ...string[]]
  readonly takeOver?: boolean
  readonly write?: WriteMode
}
