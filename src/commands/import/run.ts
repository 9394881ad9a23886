import type { GlobalOptions } from '../../cli/options.ts'
import { openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { globOf } from '../../ops/glob.ts'
import { copyItems, openCopies } from '../transfer/copy.ts'
import type { TransferFlags } from '../transfer/flags.ts'
import { openReport, type ReportFormat } from '../transfer/report.ts'
import { allItems, openSources } from './sources.ts'

export interface ImportOptions extends GlobalOptions, TransferFlags {
  readonly sources: readonly string[]
  readonly name?: string
  readonly prefix?: string
  readonly match?: string
}

/** Imports streams from files and other stores. */
export async function importStreams(options: ImportOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (options.replace && options.skipExisting) throw new UsageError('--replace and --skip-existing are opposites')
  if (options.leaseId !== undefined && !options.replace)
    throw new UsageError('--lease-id needs --replace: a stream that does not exist has no lease')
  const output = await openOutput(options, runtime)
  const sources = await openSources(options.sources, options.name, runtime)
  if (options.leaseId !== undefined && (sources.length > 1 || sources[0]?.kind !== 'file'))
    throw new UsageError('--lease-id is for a single file', { hint: 'A lease is that of one stream.' })
  const store = await openStoreFor(options, runtime, output)
  const { isProtected = false, address = '' } = runtime.opened ?? {}
  if (sources.some(source => source.kind === 'store' && source.store.address === store.address)) {
    throw new UsageError('a source is also the target store', { hint: 'Give another source.' })
  }
  const naming = {
    ...(options.prefix === undefined ? {} : { prefix: options.prefix }),
    ...(options.match === undefined ? {} : { match: globOf(options.match) }),
  }
  return copyItems(
    {
      items: allItems(sources, naming, output, runtime),
      copies: openCopies(store, options, 'import', runtime),
      source: sourceText(options.sources),
      flags: options,
      options,
      isProtected,
      address,
    },
    openReport(formatOf(options), options, output, runtime),
    sentence => void output.say(sentence),
    runtime,
  )
}

/** Files and stores as given; the address of a store has no secrets. */
function sourceText(sources: readonly string[]): string {
  return sources.join(' ')
}

function formatOf({ output }: GlobalOptions): ReportFormat {
  return output === 'json' || output === 'ndjson' ? output : 'text'
}
