import type { EventStore } from '../../store/store.ts'
import type { GlobalOptions } from '../options.ts'
import type { Output } from '../output.ts'
import type { Runtime } from '../runtime.ts'
import type { TransferFlags } from './flags.ts'

/** What every kind of export works with. */
export interface ExportRequest {
  readonly store: EventStore
  readonly names: AsyncIterable<string>
  readonly options: GlobalOptions & TransferFlags
  readonly output: Output
  readonly runtime: Runtime
}
