import { type ReadStore, type StoreReading, watch } from '../../cli/output/redraw.ts'
import type { Output } from '../../cli/output.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { usualIntervalMs } from '../../cli/store.ts'
import { listingRow } from '../../formats/listing/columns.ts'
import { groupColumns, groupRow, groupsText } from '../../formats/listing/groups.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import { table } from '../../formats/terminal/table.ts'
import { type GroupBy, groupsOf } from '../../ops/groups.ts'
import { summaries } from '../../ops/summaries.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'
import { needsLists } from './groups.ts'
import type { LsOptions } from './options.ts'
import { columnsOf } from './output.ts'
import { rankingOf } from './ranking.ts'

/** Redraws the listing, or its groups, in place until Ctrl-C (`ls -w`). */
export async function watchStreams(
  options: LsOptions,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const { groupBy } = options
  const read =
    groupBy === undefined
      ? streamReader(options, store, output, runtime)
      : groupReader(options, groupBy, store, output, runtime)
  const intervalMs = options.interval ?? usualIntervalMs(store)
  await watch(read, {
    title: visibleText(store.address),
    intervalMs,
    output,
    runtime,
  })
}

/** Rows kept: more than any screen has. */
const MAX_ROWS = 500

function streamReader(options: LsOptions, store: StreamStore, output: Output, runtime: Runtime): ReadStore {
  const columns = columnsOf(options.output ?? 'table', options.fields, output)
  const key = options.sort ?? { field: 'name', descending: false }
  const limit = Math.min(options.limit ?? MAX_ROWS, MAX_ROWS)
  return async (): Promise<StoreReading> => {
    const ranking = rankingOf(key, limit, item => item)
    for await (const page of pagesNow(options, store, runtime)) ranking.add(page)
    const items = ranking.rows()
    return {
      text: counted(ranking.seen, 'stream'),
      total: ranking.seen,
      drawable: items.length,
      lines(rows, sizes) {
        const cells = items.slice(0, rows).map(item => listingRow(columns, item, store.nowMs(), output.time))
        return table(columns, cells, { ...sizes, paint: output.paint })
      },
    }
  }
}

function groupReader(options: LsOptions, by: GroupBy, store: StreamStore, output: Output, runtime: Runtime): ReadStore {
  return async (): Promise<StoreReading> => {
    const filter = filterOf(options, runtime.nowMs()) ?? {}
    const groups = groupsOf(by, filter)
    const query = { signal: runtime.signal, wholeLists: needsLists(by) }
    for await (const page of summaries(store, filter, query)) groups.add(page, store.nowMs())
    const all = groups.sorted()
    const shown = all.slice(0, Math.min(options.limit ?? MAX_ROWS, MAX_ROWS))
    const columns = groupColumns(by, shown)
    return {
      text: groupsText(by, groups.counts),
      total: all.length,
      drawable: shown.length,
      lines(rows, sizes) {
        const cells = shown.slice(0, rows).map(group => groupRow(columns, group, store.nowMs(), output.time))
        return table(columns, cells, { ...sizes, paint: output.paint })
      },
    }
  }
}

/** `--since 30m` is relative to each listing. */
function pagesNow(options: LsOptions, store: StreamStore, runtime: Runtime) {
  return summaries(store, filterOf(options, runtime.nowMs()) ?? {}, { signal: runtime.signal })
}
