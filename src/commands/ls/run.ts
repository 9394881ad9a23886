import { type ListingCount, nothingText } from '../../cli/counter.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import type { StreamStore } from '../../store/store.ts'
import { listedBy } from './group-selection.ts'
import { momentOf, NOTHING_THEN, storeAt } from './moment.ts'
import type { LsOptions } from './options.ts'
import { type ListFormat, withListFormat } from './output.ts'
import { BY_NAME, listsInOrder, pagesOf, truncatedText, writeAsListed, writeSorted } from './pages.ts'

const TERMINAL_LIMIT = 200
/** Rows of a page: a browser on a telephone has to show it. */
const PAGE_LIMIT = 2_000

/** Lists streams, groups them, or watches either. */
export async function listStreams(options: LsOptions, runtime: Runtime): Promise<Problem | undefined> {
  checkOptions(options, runtime)
  const output = await openOutput(options, runtime, options.output === 'html' ? 'utc' : 'relative')
  if (options.contexts !== undefined) {
    const { listSeveral } = await import('./several.ts')
    return listSeveral({ ...options, contexts: options.contexts }, limitOf(options, runtime), output, runtime)
  }
  const store = await storeAt(options, await openStoreFor(options, runtime, output), runtime)
  if (options.watch) {
    const { watchStreams } = await import('./watch.ts')
    await watchStreams(options, store, output, runtime)
  } else if (options.groupBy !== undefined) {
    const { groupStreams } = await import('./groups.ts')
    await groupStreams(options, options.groupBy, limitOf(options, runtime), store, output, runtime)
  } else await list(options, store, output, runtime)
  return undefined
}

/** Lists the streams of an open store. */
export async function list(options: LsOptions, store: StreamStore, output: Output, runtime: Runtime): Promise<void> {
  const filter = filterOf(options, momentOf(options, runtime))
  const format = options.output ?? 'table'
  const page = { store: store.address, nowMs: store.nowMs(), command: listedBy(options, runtime.argv), notes: () => [] }
  const listed = { format, store, page, ...(options.fields === undefined ? {} : { fields: options.fields }) }
  const tally = await withListFormat(listed, output, async list => {
    const counts = await deliver(options, filter ?? {}, store, list, runtime)
    await list.end(counts)
    return counts
  })
  if (options.quiet) return
  if (tally.seen === 0 && options.at !== undefined) await output.say(NOTHING_THEN)
  else if (tally.seen === 0) await output.say(await nothingText(store, filter !== undefined, runtime))
  else if (tally.seen > tally.shown)
    await output.say(truncatedText(tally, format === 'name' || format === 'ndjson' || format === 'csv'))
}

function deliver<Row>(
  options: LsOptions,
  filter: StreamFilter,
  store: StreamStore,
  list: ListFormat<Row>,
  runtime: Runtime,
): Promise<ListingCount> {
  const { sort = BY_NAME } = options
  const limit = limitOf(options, runtime)
  if (listsInOrder(store, sort, filter) && (options.at === undefined || sort.field === 'name')) {
    const pages = pagesOf(store, filter, sort.field === 'due' ? 'due' : 'name')
    return writeAsListed(pages, limit, list, runtime)
  }
  const progress = openProgressLine(options, runtime)
  return writeSorted(pagesOf(store, filter, 'name'), sort, limit, list, progress, runtime)
}

function limitOf({ limit, output = 'table' }: LsOptions, { stdout }: Runtime): number {
  if (limit !== undefined) return limit
  if (output === 'html') return PAGE_LIMIT
  return stdout.isTty && (output === 'table' || output === 'wide') ? TERMINAL_LIMIT : Number.POSITIVE_INFINITY
}

/** @throws UsageError if flags contradict each other */
function checkOptions(options: LsOptions, runtime: Runtime): void {
  const { output = 'table', fields, groupBy, sort, interval, watch, contexts, at } = options
  if (at !== undefined && watch) throw new UsageError('-w does not go with --at: past versions do not change')
  if (contexts !== undefined) checkSeveral(options)
  if (interval !== undefined && !watch) throw new UsageError('--interval needs -w')
  if (fields !== undefined && (output === 'name' || output === 'wide')) {
    throw new UsageError(`--fields does not go with -o ${output}`, {
      hint: 'It takes -o table, json, ndjson, yaml, csv or html.',
    })
  }
  if (groupBy !== undefined) checkGroups(output, fields !== undefined, sort !== undefined)
  if (watch) checkWatch(output, runtime)
}

function checkSeveral({ output, watch }: LsOptions): void {
  if (watch) throw new UsageError('-w does not go with several contexts', { hint: 'Name one.' })
  if (output !== 'name') return
  throw new UsageError('-o name does not go with several contexts', {
    hint: 'Names of different stores can be equal; -o ndjson has both.',
  })
}

function checkGroups(output: string, fields: boolean, sort: boolean): void {
  if (output === 'name' || output === 'wide') {
    throw new UsageError(`--group-by does not go with -o ${output}`, {
      hint: 'It takes -o table, json, ndjson, yaml, csv or html.',
    })
  }
  const other = fields ? '--fields' : sort ? '--sort' : undefined
  if (other !== undefined) {
    throw new UsageError(`--group-by does not go with ${other}`, { hint: 'Groups are sorted by number of streams.' })
  }
}

function checkWatch(output: string, { stdout, env }: Runtime): void {
  if (output !== 'table' && output !== 'wide') {
    throw new UsageError(`-w does not go with -o ${output}`, {
      hint: 'tail -f -o ndjson prints each change as it happens; or run ls in a loop.',
    })
  }
  if (!stdout.isTty || env.TERM === 'dumb') {
    throw new UsageError('-w redraws the screen, and standard output is not a terminal that can', {
      hint: 'tail -f prints each change as it happens; or run ls in a loop.',
    })
  }
}
