import type { GlobalOptions } from '../../cli/options.ts'
import type { Output } from '../../cli/output.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { EventStore } from '../../store/store.ts'
import type { TransferFlags } from '../transfer/flags.ts'

/** What every kind of export works with. */
export interface ExportRequest {
  readonly store: EventStore
  readonly names: AsyncIterable<string>
  readonly options: GlobalOptions & TransferFlags
  readonly output: Output
  readonly runtime: Runtime
}
