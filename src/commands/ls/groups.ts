import { shellWord } from '../../cli/command-line.ts'
import { nothingText, showCount } from '../../cli/counter.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import { type Output, writeCsv, writeTexts } from '../../cli/output.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { jsonDocument, jsonLine } from '../../formats/json.ts'
import {
  GROUP_FIELDS,
  groupColumns,
  groupJson,
  groupLines,
  groupRow,
  groupsHead,
  groupsText,
  SELECT_COLUMN,
} from '../../formats/listing/groups.ts'
import { type GroupBy, type Groups, groupsOf, type StreamGroup } from '../../ops/groups.ts'
import { summaries } from '../../ops/summaries.ts'
import type { StreamStore } from '../../store/store.ts'
import { type GroupSelection, groupSelection, listedBy } from './group-selection.ts'
import { NOTHING_THEN } from './moment.ts'
import type { LsOptions } from './options.ts'

/** Lists all streams and keeps only their groups (`ls --group-by`). */
export async function groupStreams(
  options: LsOptions,
  by: GroupBy,
  limit: number,
  store: StreamStore,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const filter = filterOf(options, store.nowMs())
  const progress = openProgressLine(options, runtime)
  const groups = groupsOf(by, filter)
  const startMs = runtime.nowMs()
  try {
    for await (const page of summaries(store, filter ?? {}, { signal: runtime.signal, wholeLists: needsLists(by) })) {
      groups.add(page, store.nowMs())
      await showCount(groups.counts.streams, startMs, progress, runtime)
    }
  } finally {
    await progress.clear()
  }
  const nothing = async () =>
    options.at === undefined ? nothingText(store, filter !== undefined, runtime) : NOTHING_THEN
  const page = { store: store.address, notes: [] }
  await writeGroups(options, { by, groups, limit, nowMs: store.nowMs(), ...page, nothing }, output, runtime)
}

/** The groups of one or more listings. */
export interface CollectedGroups {
  readonly by: GroupBy
  readonly groups: Groups
  /** Maximum number of groups to print. */
  readonly limit: number
  readonly nowMs: number
  /** The address of the store, or the contexts. */
  readonly store: string
  /** Stores that were not listed: sentences. */
  readonly notes: readonly string[]
  /** The sentence if nothing was listed. */
  nothing(): Promise<string>
}

export async function writeGroups(
  options: LsOptions,
  collected: CollectedGroups,
  output: Output,
  runtime: Runtime,
): Promise<void> {
  const { by, groups, limit, nowMs } = collected
  const all = groups.sorted()
  const shown = all.slice(0, limit)
  const select = groupSelection(by, options, runtime.argv)
  const found = { groups, all, shown, select }
  if (options.output === 'html') await writePage(found, collected, listedBy(options, runtime.argv), output)
  else await write(options.output, by, found, nowMs, output)
  if (options.quiet) return
  await output.say(groups.counts.streams === 0 ? await collected.nothing() : groupsText(by, groups.counts))
  if (shown.length < all.length) await output.say(`showing ${shown.length} of ${all.length} groups`)
}

/** Groups that are made of ready and running events, of which summaries may leave out some. */
export function needsLists(by: GroupBy): boolean {
  return by === 'waiting-on' || by === 'owner'
}

interface Found {
  readonly groups: Groups
  readonly all: readonly StreamGroup[]
  readonly shown: readonly StreamGroup[]
  readonly select: GroupSelection
}

async function write(
  format: string | undefined,
  by: GroupBy,
  { groups, all, shown, select }: Found,
  nowMs: number,
  output: Output,
): Promise<void> {
  const head = groupsHead(by)
  const json = (group: StreamGroup) => groupJson(group, select(group))
  const totals = { total: all.length, truncated: shown.length < all.length, streams: groups.counts.streams }
  switch (format) {
    case 'json':
      return output.text(jsonDocument({ ...head, items: shown.map(json), ...totals }))
    case 'yaml': {
      const { yamlDocuments } = await import('../../formats/yaml.ts')
      return output.text(yamlDocuments([{ ...head, items: shown.map(json), ...totals }]))
    }
    case 'csv':
      return writeCsv(
        GROUP_FIELDS,
        shown.map(group => ({ ...head, ...json(group) })),
        output,
      )
    case 'ndjson':
      return writeTexts(
        shown.map(group => jsonLine({ ...head, ...json(group) })),
        output,
      )
    default: {
      const { columns, rows } = tableOf(by, { shown, select }, nowMs, output)
      const { paint, width } = output
      return output.lines(groupLines(columns, rows, { paint, ...(width === undefined ? {} : { width }) }))
    }
  }
}

function tableOf(by: GroupBy, { shown, select }: Pick<Found, 'shown' | 'select'>, nowMs: number, { time }: Output) {
  const columns = groupColumns(by, shown)
  const selected = (group: StreamGroup) => select(group)?.map(shellWord).join(' ') ?? '-'
  const rows = shown.map(group => [...groupRow(columns, group, nowMs, time), selected(group)])
  return { columns: [...columns, SELECT_COLUMN], rows }
}

async function writePage(
  found: Found,
  { by, groups, nowMs, store, notes, nothing }: CollectedGroups,
  command: string,
  output: Output,
): Promise<void> {
  const { groupsPage } = await import('../../formats/html/listing.ts')
  const { shown, all } = found
  const cut = shown.length < all.length ? [`showing ${shown.length} of ${all.length} groups`] : []
  const summary = groups.counts.streams === 0 ? await nothing() : groupsText(by, groups.counts)
  const origin = { store, nowMs, command, notes: [...cut, ...notes] }
  await output.text(groupsPage(tableOf(by, found, nowMs, output), summary, origin))
}
