import { csvWriter, itemsWriter, type Output, writeTexts } from '../../cli/output.ts'
import { LOG_COLUMNS, LOG_FIELDS, logCells, logJson, logRow } from '../../formats/journal.ts'
import { jsonLine, jsonText } from '../../formats/json.ts'
import { FittingColumns, tableHeader, tableRows, tableWidths } from '../../formats/terminal/table.ts'
import type { LogEntry } from '../../ops/log.ts'
import { Latest } from '../../util/top-n.ts'

/** Receives the transactions, stream by stream. */
export interface LogOutput {
  /** Transactions before this time are no longer shown, epoch ms. */
  readonly floorMs: number
  add(entries: readonly LogEntry[]): Promise<void>
  end(): Promise<{ readonly shown: number; readonly truncated: boolean }>
}

/** Prints each transaction at once, in the order in which streams are read, and keeps none. */
export function streamedLog(output: Output): LogOutput {
  let shown = 0
  return {
    floorMs: Number.NEGATIVE_INFINITY,
    async add(entries) {
      shown += entries.length
      if (entries.length > 0) await output.text(entries.map(entry => jsonLine(logJson(entry))).join(''))
    },
    end: async () => ({ shown, truncated: false }),
  }
}

/** Cells contain no control characters. */
const SEPARATOR = '\u0000'
/** Table rows per write. */
const ROWS_AT_ONCE = 1_000

/**
 * Keeps the latest transactions and prints them sorted by time. It keeps each as its printed text, as an entry would
 * keep the document in memory that it was read from.
 */
export function sortedLog(format: string | undefined, keep: number, nowMs: () => number, output: Output): LogOutput {
  const latest = new Latest<string>(keep)
  const { write, text } = writerFor(format, nowMs, output)
  return {
    get floorMs() {
      return latest.floorMs
    },
    async add(entries) {
      for (const entry of entries) latest.add(entry.atMs, text(entry))
    },
    async end() {
      const truncated = latest.dropped > 0
      const items = latest.items()
      await write(items, truncated)
      return { shown: items.length, truncated }
    },
  }
}

interface Writer {
  text(entry: LogEntry): string
  write(items: readonly string[], truncated: boolean): Promise<void>
}

function writerFor(format: string | undefined, nowMs: () => number, output: Output): Writer {
  switch (format) {
    case 'json':
      return { text: entry => jsonText(logJson(entry), 0), write: (items, truncated) => json(items, truncated, output) }
    case 'csv': {
      const { record, write } = csvWriter(LOG_FIELDS, output)
      return { text: entry => record(logJson(entry)), write: items => write(items) }
    }
    case 'ndjson':
      return { text: entry => jsonLine(logJson(entry)), write: items => writeTexts(items, output) }
    default:
      return {
        text: entry => logRow(entry, nowMs(), output.time).join(SEPARATOR),
        write: items => table(items, output),
      }
  }
}

async function json(items: readonly string[], truncated: boolean, output: Output): Promise<void> {
  const writer = itemsWriter(output)
  await writer.write(items)
  await writer.end({ total: truncated ? null : items.length, truncated })
}

async function table(items: readonly string[], output: Output): Promise<void> {
  let atLeast: readonly number[] = []
  for (const part of parts(items))
    atLeast = tableWidths(
      LOG_COLUMNS,
      part.map(item => item.split(SEPARATOR)),
      { atLeast },
    )
  const width = output.width === undefined ? {} : { width: output.width }
  const fitting = new FittingColumns(LOG_COLUMNS, [], { atLeast, ...width })
  const widths = tableWidths(fitting.columns, [], { atLeast: fitting.cells(atLeast), ...width })
  await output.lines([tableHeader(fitting.columns, widths, output.paint)])
  for (const part of parts(items)) {
    const rows = part.map(item => fitting.cells(logCells(item.split(SEPARATOR))))
    await output.lines(tableRows(fitting.columns, rows, widths, output.paint))
  }
}

function* parts(items: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < items.length; at += ROWS_AT_ONCE) yield items.slice(at, at + ROWS_AT_ONCE)
}
