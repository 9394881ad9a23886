import { DATA_KINDS, type DataKind, type EventData } from '../../stream/data.ts'
import type { EventStream } from '../../stream/event-stream.ts'
import type { UpstreamResult } from '../../stream/upstream-results.ts'
import { visibleText } from '../../util/visible-text.ts'
import { noPaint } from '../terminal/style.ts'
import { type Column, table } from '../terminal/table.ts'
import type { HeaderOptions } from './header.ts'
import type { ShownStream } from './view.ts'

/** Data in JSON: `text` and `base64` are `null` for content that is kept beside the document. */
export function dataJson({ type, size, sha256, text, base64 }: EventData) {
  return { type, size, sha256, text: text ?? null, base64: base64 ?? null }
}

/** The same, `null` for no data. */
export function dataJsonOrNull(data: EventData | undefined) {
  return data === undefined ? null : dataJson(data)
}

/** One line about data: whose, which kind, and what it is. */
export interface DataLine {
  readonly kind: DataKind | 'upstream'
  readonly event: string
  readonly name: string
  readonly data: EventData
}

/** The results of earlier events as lines. */
export function upstreamLines(results: readonly UpstreamResult[]): DataLine[] {
  return results.map(({ event, name, data }) => ({ kind: 'upstream', event, name, data }))
}

const COLUMNS: readonly Column[] = [
  { title: 'DATA' },
  { title: 'EVENT' },
  { title: 'NAME', min: 6, give: 2 },
  { title: 'TYPE', min: 10, give: 1 },
  { title: 'SIZE', align: 'right' },
  { title: 'SHA-256', spare: 1 },
]

/** A table of data. */
export function dataTable(lines: readonly DataLine[], { paint = noPaint, width }: HeaderOptions): string[] {
  const rows = lines.map(({ kind, event, name, data }) => [
    kind === 'upstream' ? 'result' : kind,
    visibleText(event),
    visibleText(name),
    visibleText(data.type),
    dataSizeText(data),
    data.sha256.slice(0, 12),
  ])
  return table(COLUMNS, rows, { paint, ...(width === undefined ? {} : { width }) })
}

const KIB = 1024

/** `812 B`, `4.1 KiB`, `16 MiB` */
export function dataSizeText({ size }: Pick<EventData, 'size'>): string {
  if (size < KIB) return `${size} B`
  const [value, unit] = size < KIB * KIB ? [size / KIB, 'KiB'] : [size / KIB / KIB, 'MiB']
  return `${Number(value.toFixed(value < 10 ? 1 : 0))} ${unit}`
}

const MOST_LINES = 20

/** The inputs and results of a stream, in the order of its events. */
export function dataOfStream({ events }: EventStream): DataLine[] {
  return events.flatMap(event =>
    DATA_KINDS.flatMap((kind): DataLine[] => {
      const data = event[kind]
      return data === undefined ? [] : [{ kind, event: event.id, name: event.name, data }]
    }),
  )
}

/** The data of a stream below its events; empty without any. */
export function dataLines({ stream }: ShownStream, options: HeaderOptions): string[] {
  const all = dataOfStream(stream)
  if (all.length === 0) return []
  const more = all.length > MOST_LINES ? [`and ${all.length - MOST_LINES} more (-o json lists all)`] : []
  return ['', ...dataTable(all.slice(0, MOST_LINES), options), ...more]
}
