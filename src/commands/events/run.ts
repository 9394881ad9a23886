import { nothingText, showCount } from '../../cli/counter.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import { csvWriter, itemsWriter, type Output, openOutput, tableWriter, writeTexts } from '../../cli/output.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { EVENT_FIELDS, eventColumns, eventRow, listedEventJson } from '../../formats/listing/events.ts'
import { counted, countText } from '../../formats/terminal/numbers.ts'
import { type EventQuery, eventsOf, type ListedEvent } from '../../ops/events.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import type { StreamStore } from '../../store/store.ts'
import { defined } from '../../util/defined.ts'
import { Latest } from '../../util/top-n.ts'
import type { EventsOptions } from './options.ts'

/** Rows of a table on a terminal without `--limit`. */
const TERMINAL_ROWS = 200
/** Rows that `--sort` keeps without `--limit`: its memory must not grow with the store. */
const SORTED_ROWS = 100_000

/** Lists events of all streams, as they are found or, with `--sort`, when all are known. */
export async function listEvents(options: EventsOptions, runtime: Runtime): Promise<undefined> {
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  // Here --state is of events.
  const { state: _, ...selecting } = options
  const { owner: __, ...ofStreams } = selecting
  const given = filterOf(selecting, store.nowMs())
  const filter = { ...(asksForFailed(options) ? filterOf(ofStreams, store.nowMs()) : given), ...pruned(options) }
  const rows = writerOf(options, output, store)
  const list = new EventList(limitOf(options, runtime), options.sort, rows.write)
  await fill(list, store, filter, options, runtime)
  await list.end()
  const { total, streams, unreadable, isComplete } = list
  await rows.end({ total, truncated: !isComplete })
  if (options.quiet) return
  if (streams === 0) await output.say(await nothingText(store, Object.keys(filter).length > 0, runtime))
  else await output.say(totalText(list, options.sort))
  if (unreadable > 0) await output.say(`${counted(unreadable, 'stream')} cannot be read; ls shows why`)
}

async function fill(
  list: EventList,
  store: StreamStore,
  filter: StreamFilter,
  options: EventsOptions,
  runtime: Runtime,
): Promise<void> {
  const progress = openProgressLine(options, runtime)
  const startMs = runtime.nowMs()
  try {
    for await (const { events, isUnreadable } of eventsOf(store, filter, queryOf(options, list), runtime.signal)) {
      list.streams++
      if (isUnreadable) list.unreadable++
      await list.add(events)
      if (list.isFull) return
      if (list.streams % 500 === 0) await showCount(list.streams, startMs, progress, runtime)
    }
  } finally {
    await progress.clear()
  }
}

function queryOf({ name, state, owner, waitingFor, due, sort, output }: EventsOptions, list: EventList): EventQuery {
  const withLimits =
    due === true ||
    (sort === 'wake' && waitingFor === undefined) ||
    state?.includes('overdue') === true ||
    output === 'wide'
  return {
    ...defined({ names: name, states: state, owners: owner, waitingFor }),
    ...(due ? { hasLimit: true } : {}),
    withLimits,
    withTimes: sort === 'age',
    ...(sort === 'wake' && waitingFor === undefined ? { isTooLate: (dueMs: number) => list.isTooLate(dueMs) } : {}),
  }
}

function asksForFailed({ state }: EventsOptions): boolean {
  return state?.includes('failed') === true
}

/** Rules out streams by their summaries. */
function pruned({ state, name, waitingFor }: EventsOptions): StreamFilter {
  const states = state ?? []
  if (waitingFor !== undefined || states.includes('waiting')) return {}
  if (states.length > 0 && states.every(each => each === 'overdue')) return { overdue: true }
  if (states.length > 0 && states.every(each => each === 'failed')) return { failed: true, acknowledged: true }
  if (states.some(each => each === 'failed' || each === 'overdue' || each === 'held')) return {}
  return { ...(state === undefined ? {} : { eventState: state, ...defined({ waitingOn: name }) }) }
}

function limitOf({ limit, output = 'table', sort }: EventsOptions, { stdout }: Runtime): number {
  if (limit !== undefined) return limit
  if ((output === 'table' || output === 'wide') && stdout.isTty) return TERMINAL_ROWS
  return sort === undefined ? Number.POSITIVE_INFINITY : SORTED_ROWS
}

/** Passes events on as they come or, sorted, the first ones at the end. */
class EventList {
  total = 0
  streams = 0
  unreadable = 0
  #shown = 0
  #hasLeftOut = false
  readonly #limit: number
  readonly #sort: EventsOptions['sort']
  readonly #write: (events: readonly ListedEvent[]) => Promise<void>
  readonly #first: Latest<ListedEvent>

  constructor(limit: number, sort: EventsOptions['sort'], write: (events: readonly ListedEvent[]) => Promise<void>) {
    this.#limit = limit
    this.#sort = sort
    this.#write = write
    this.#first = new Latest(limit)
  }

  /** One event more than the limit is known: the rest is not listed. */
  get isFull(): boolean {
    return this.#sort === undefined && this.total > this.#limit
  }

  get isComplete(): boolean {
    return this.total <= this.#limit && !this.#hasLeftOut
  }

  /** Of `--sort wake`: as many earlier limits are known as are listed. */
  isTooLate(dueMs: number): boolean {
    const isLate = -dueMs <= this.#first.floorMs
    this.#hasLeftOut ||= isLate
    return isLate
  }

  async add(events: readonly ListedEvent[]): Promise<void> {
    this.total += events.length
    if (this.#sort === undefined) {
      const shown = events.slice(0, Math.max(0, this.#limit - this.#shown))
      this.#shown += shown.length
      if (shown.length > 0) await this.#write(shown)
      return
    }
    // The latest of the negated times are the first; events without the time come last.
    for (const event of events) {
      const ms = this.#sort === 'wake' ? wakeOf(event) : event.sinceMs
      this.#first.add(ms === undefined ? -Number.MAX_VALUE : -ms, event)
    }
  }

  async end(): Promise<void> {
    if (this.#sort !== undefined) await this.#write(this.#first.items().toReversed())
  }
}

/** When an event is due, or wakes. */
function wakeOf({ dueMs, waitsFor }: ListedEvent): number | undefined {
  return dueMs ?? (waitsFor?.kind === 'timer' ? waitsFor.wakeMs : undefined)
}

function totalText({ total, streams, isComplete, isFull }: EventList, sort: EventsOptions['sort']): string {
  const of = `of ${counted(streams, 'stream')}`
  if (isComplete) return `${counted(total, 'event')} ${of}`
  if (isFull || sort === 'wake') return 'more events match; --limit shows more'
  return `the first of ${countText(total)} events ${of}; --limit shows more`
}

interface RowWriter {
  write(events: readonly ListedEvent[]): Promise<void>
  end(fields: { readonly total: number; readonly truncated: boolean }): Promise<void>
}

function writerOf(options: EventsOptions, output: Output, store: StreamStore): RowWriter {
  if (options.output === 'json') {
    const items = itemsWriter(output)
    return { write: events => items.write(events.map(event => jsonText(listedEventJson(event), 0))), end: items.end }
  }
  if (options.output === 'csv') {
    const { record, write, end } = csvWriter(EVENT_FIELDS, output)
    return { write: events => write(events.map(event => record(listedEventJson(event)))), end }
  }
  if (options.output === 'ndjson') {
    return {
      write: events =>
        writeTexts(
          events.map(event => jsonLine(listedEventJson(event))),
          output,
        ),
      end: async () => {},
    }
  }
  const columns = eventColumns({
    wide: options.output === 'wide',
    due:
      options.due === true ||
      (options.sort === 'wake' && options.waitingFor === undefined) ||
      options.state?.includes('overdue') === true,
    failed: asksForFailed(options),
    waiting: options.waitingFor !== undefined || options.state?.includes('waiting') === true,
  })
  const table = tableWriter(columns, output)
  let rows: ReturnType<typeof eventRow>[] = []
  const flush = async () => {
    if (rows.length > 0) await table.write(rows)
    rows = []
  }
  return {
    write: async events => {
      rows.push(...events.map(event => eventRow(columns, event, store.nowMs(), output.time)))
      if (rows.length >= ROWS_TOGETHER) await flush()
    },
    end: async () => {
      await flush()
      await table.end()
    },
  }
}

/** Rows that are laid out together: a stream alone often has one. */
const ROWS_TOGETHER = 200
