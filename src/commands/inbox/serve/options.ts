import type { GlobalOptions } from '../../../cli/options.ts'
import type { ListenAddress } from '../../../http/listen.ts'
import type { AlsoFlags } from '../also.ts'
import type { RecordFlags } from '../record-flags.ts'

export interface ServeInboxOptions extends GlobalOptions, RecordFlags, AlsoFlags {
  readonly names: readonly string[]
  readonly listen?: ListenAddress
  readonly listenName?: readonly string[]
  readonly tokenFile?: string
}
