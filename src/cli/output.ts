import { csvRecord, fieldOf } from '../formats/csv.ts'
import { API_VERSION, jsonLine, jsonText } from '../formats/json.ts'
import type { TimeStyle } from '../formats/terminal/numbers.ts'
import { hasColour, noPaint, type Paint, paintFor } from '../formats/terminal/style.ts'
import {
  type Cell,
  type Column,
  FittingColumns,
  tableHeader,
  tableRows,
  tableWidths,
} from '../formats/terminal/table.ts'
import { defined } from '../util/defined.ts'
import type { GlobalOptions } from './options.ts'
import type { Runtime } from './runtime.ts'

/** The output of a command: data to stdout, messages to stderr. Commands write nowhere else. */
export interface Output {
  readonly paint: Paint
  /** Columns if stdout is a terminal; otherwise `undefined`, and nothing is cut. */
  readonly width: number | undefined
  readonly time: TimeStyle
  lines(lines: readonly string[]): Promise<void>
  text(text: string | Uint8Array): Promise<void>
  /** A sentence on stderr, unless `-q`. */
  say(sentence: string): Promise<void>
  /** A sentence on stderr with `-v`. */
  detail(sentence: string): Promise<void>
}

export async function openOutput(
  options: GlobalOptions,
  runtime: Runtime,
  usualTime: TimeStyle = 'relative',
): Promise<Output> {
  const human = !FOR_PROGRAMS.has(options.output ?? '')
  const coloured = human && hasColour(options.color ?? 'auto', runtime.env, runtime.stdout.isTty)
  const { stdout, stderr } = runtime
  await warnOfTimeZone(options, human ? (options.time ?? usualTime) : 'iso', runtime)
  return {
    paint: coloured ? await paintFor(true) : noPaint,
    width: stdout.isTty ? stdout.columns : undefined,
    time: options.time ?? usualTime,
    lines: async lines => {
      if (lines.length > 0) await stdout.write(`${lines.join('\n')}\n`)
    },
    text: text => stdout.write(text),
    say: async sentence => {
      if (!options.quiet) await stderr.write(`${sentence}\n`)
    },
    detail: async sentence => {
      if (options.verbose) await stderr.write(`${sentence}\n`)
    },
  }
}

const FOR_PROGRAMS: ReadonlySet<string> = new Set(['json', 'ndjson', 'yaml', 'csv'])

/** Warns if local times are printed or read, and `TZ` names no time zone. */
async function warnOfTimeZone(options: GlobalOptions, time: TimeStyle, { env, stderr }: Runtime): Promise<void> {
  const isLocal = time === 'local' || 'since' in options || 'until' in options || 'at' in options
  if (!env.TZ || !isLocal || options.quiet) return
  const { timeZoneWarning } = await import('./time-zone.ts')
  const warning = timeZoneWarning(env.TZ)
  if (warning !== undefined) await stderr.write(`warning: ${warning}\n`)
}

/** Writes one document with a list, item by item: memory does not grow with the number of items. */
export interface ItemsWriter {
  /** Writes items, each as JSON on one line. */
  write(items: readonly string[]): Promise<void>
  /** Writes the fields after the items. */
  end(fields: { readonly [name: string]: unknown }): Promise<void>
}

/** Items per write. A page of Azure has 5 000 rows: as one text it would take megabytes. */
const ITEMS_AT_ONCE = 100

/** `{"apiVersion":…,"items":[…],…}` */
export function itemsWriter(output: Output): ItemsWriter {
  let first = true
  return {
    async write(items) {
      for (const part of parts(items)) {
        await output.text(`${first ? HEAD : ',\n'}${part.join(',\n')}`)
        first = false
      }
    },
    async end(fields) {
      const tail = Object.entries(fields).map(([name, value]) => `,${JSON.stringify(name)}:${jsonText(value, 0)}`)
      await output.text(`${first ? HEAD.trimEnd() : '\n'}]${tail.join('')}}\n`)
    },
  }
}

const HEAD = `{"apiVersion":${JSON.stringify(API_VERSION)},"items":[\n`

/** Writes CSV with a header, which is the fields of the JSON. */
export interface CsvWriter<Field extends string> {
  record(item: { readonly [Name in Field]?: unknown }): string
  /** Writes records, the header before the first. */
  write(records: readonly string[]): Promise<void>
  /** Writes the header if nothing was written. */
  end(): Promise<void>
}

export function csvWriter<Field extends string>(fields: readonly Field[], output: Output): CsvWriter<Field> {
  let head = [csvRecord(fields)]
  const write = async (records: readonly string[]) => {
    await writeTexts([...head, ...records], output)
    head = []
  }
  return { record: item => csvRecord(fields.map(field => item[field])), write, end: () => write([]) }
}

/** Writes CSV of items that are all known. */
export async function writeCsv<Field extends string>(
  fields: readonly Field[],
  items: readonly { readonly [Name in Field]?: unknown }[],
  output: Output,
): Promise<void> {
  const csv = csvWriter(fields, output)
  await csv.write(items.map(csv.record))
}

/** How a list is written for programs. */
export interface ListWriting {
  /** The header of CSV: the fields of an item in their order, those of an object in it as `lag.records`. */
  readonly fields: readonly string[]
  /** What the JSON document has behind the items. */
  readonly rest?: { readonly [name: string]: unknown }
}

/** Writes a list that is all known as JSON, as lines of JSON or as CSV. */
export async function writeList(
  format: 'json' | 'ndjson' | 'csv',
  items: readonly object[],
  { fields, rest = {} }: ListWriting,
  output: Output,
): Promise<void> {
  if (format === 'csv') {
    const records = items.map(item => csvRecord(fields.map(field => fieldOf(item, field))))
    return writeTexts([csvRecord(fields), ...records], output)
  }
  if (format === 'ndjson') return writeTexts(items.map(jsonLine), output)
  const writer = itemsWriter(output)
  await writer.write(items.map(item => jsonText(item, 0)))
  await writer.end(rest)
}

/** Whether a list is for programs in this format. */
export function isListFormat(format: string | undefined): format is 'json' | 'ndjson' | 'csv' {
  return format === 'json' || format === 'ndjson' || format === 'csv'
}

/** Writes texts that end with a newline, part by part. */
export async function writeTexts(texts: readonly string[], output: Output): Promise<void> {
  for (const part of parts(texts)) await output.text(part.join(''))
}

function* parts(texts: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < texts.length; at += ITEMS_AT_ONCE) yield texts.slice(at, at + ITEMS_AT_ONCE)
}

/** Writes a long table part by part. */
export interface TableWriter {
  write(rows: readonly (readonly Cell[])[]): Promise<void>
  /** Prints the header if nothing was written. */
  end(): Promise<void>
}

/** The first part decides which columns fit. Columns fit the rows so far; later parts can widen them. */
export function tableWriter(columns: readonly Column[], output: Output): TableWriter {
  let fitting: FittingColumns | undefined
  let widths: readonly number[] | undefined
  const write = async (rows: readonly (readonly Cell[])[]) => {
    const { width, paint } = output
    fitting ??= new FittingColumns(columns, rows, defined({ width }))
    const { columns: shown } = fitting
    const cells = rows.map(row => fitting?.cells(row) ?? row)
    const fitted = tableWidths(shown, cells, defined({ width, atLeast: widths }))
    const header = widths === undefined ? [tableHeader(shown, fitted, paint)] : []
    widths = fitted
    await output.lines([...header, ...tableRows(shown, cells, fitted, paint)])
  }
  return {
    write,
    end: async () => {
      if (widths === undefined) await write([])
    },
  }
}
