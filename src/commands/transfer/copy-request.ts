import type { GlobalOptions } from '../../cli/options.ts'
import type { Copies } from './copies.ts'
import type { TransferFlags } from './flags.ts'
import type { Item } from './item.ts'

/** Documents to be put into a store. */
export interface CopyRequest {
  readonly items: AsyncIterable<Item>
  readonly copies: Copies
  readonly flags: TransferFlags
  readonly options: GlobalOptions
  /** Of the store that is written to. */
  readonly isProtected: boolean
  readonly address: string
}
