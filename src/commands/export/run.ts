import type { GlobalOptions } from '../../cli/options.ts'
import { openOutput } from '../../cli/output.ts'
import type { Problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { SelectionOptions } from '../../cli/selection/flags.ts'
import { requireSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import type { TransferFlags } from '../transfer/flags.ts'
import { exportToFolder } from './folder.ts'
import type { ExportRequest } from './request.ts'
import { selectNames } from './selected-names.ts'
import { exportToStdout } from './stdout.ts'
import { exportToStore } from './store.ts'
import { type ExportTarget, exportTarget } from './target.ts'
import { exportTraces } from './traces.ts'

export interface ExportOptions extends GlobalOptions, SelectionOptions, TransferFlags {
  /** A folder, a file or the address of a store. */
  readonly to?: string
  readonly endpoint?: string
  readonly skipMissing?: boolean
}

/** Takes streams out of a store. What goes to files or another store goes on when the reader of stdout is gone. */
export async function exportStreams(options: ExportOptions, runtime: Runtime): Promise<Problem | undefined> {
  const target = exportTarget(options)
  const selection = await requireSelection(options, runtime)
  const { output: _, ...talk } = options
  const output = await openOutput(talk, runtime)
  const store = await openStoreFor(options, runtime, output)
  const names = await selectNames(store, selection, options, output, runtime)
  if (names.kind === 'missing') return names.problem
  const request: ExportRequest = { store, names: names.names, options, output, runtime }
  if (!isStdout(target)) runtime.begin('writes')
  return perform(target, request)
}

function isStdout(target: ExportTarget): boolean {
  return target.kind === 'stdout' || (target.kind === 'traces' && target.to === undefined)
}

function perform(target: ExportTarget, request: ExportRequest): Promise<Problem | undefined> {
  switch (target.kind) {
    case 'stdout':
      return exportToStdout(target.format, request)
    case 'folder':
      return exportToFolder(target.path, target.format, request)
    case 'store':
      return exportToStore(target.address, request)
    case 'traces':
      return exportTraces(target, request)
    default:
      return target satisfies never
  }
}
