import { openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { readSelection } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import { guardSearches, keepHeapSmall } from '../../cli/v8-flags.ts'
import type { Selection } from '../../ops/selection.ts'
import { tailMany } from './many.ts'
import { tailOne } from './one.ts'
import type { TailOptions } from './options.ts'

/** The last transactions of one stream or many, and with `-f` those to come. */
export async function tailStreams(options: TailOptions, runtime: Runtime): Promise<Problem | undefined> {
  if (options.interval !== undefined && !options.follow) throw new UsageError('--interval needs -f')
  const selection = await selectionOf(options, runtime)
  const only = selection.kind === 'names' && selection.names.length === 1 ? selection.names[0] : undefined
  if (only === undefined && options.fromVersion !== undefined) {
    throw new UsageError('--from-version is for one stream: each counts by itself', {
      hint: 'Name one stream, or use --since.',
    })
  }
  if (options.include ?? options.exclude ?? options.highlight) await guardSearches()
  const output = await openOutput(options, runtime, 'local')
  const store = await openStoreFor(options, runtime, output)
  if (only !== undefined) return tailOne(only, options, store, output, runtime)
  await keepHeapSmall()
  return tailMany(selection, options, store, output, runtime)
}

/** Without a name or filter all streams are meant, if something else keeps the output within bounds. */
async function selectionOf(options: TailOptions, runtime: Runtime): Promise<Selection> {
  const { since, stream, names = stream === undefined ? [] : [stream], ...which } = options
  const selection = await readSelection({ ...which, names }, runtime)
  if (selection !== undefined) return selection
  if (options.follow || since !== undefined) return { kind: 'filter', filter: {} }
  throw new UsageError('the tail of which streams?', {
    hint: 'Name them, or follow all with -f, or say --since 1h, or use a filter such as --match.',
  })
}
