import { type ListingCount, shownOf } from '../../cli/counter.ts'
import { csvWriter, itemsWriter, type Output, tableWriter, writeTexts } from '../../cli/output.ts'
import { API_VERSION, jsonLine, jsonText } from '../../formats/json.ts'
import {
  fieldColumns,
  type ListingColumn,
  listingRow,
  usualColumns,
  wideColumns,
} from '../../formats/listing/columns.ts'
import { LISTING_FIELDS, type ListingChoice, type ListingField } from '../../formats/listing/fields.ts'
import { fieldOf, listingJson, pickedJson } from '../../formats/listing/json.ts'
import type { Cell, Column } from '../../formats/terminal/table.ts'
import type { SummarizedStream } from '../../ops/summaries.ts'
import type { StreamStore } from '../../store/store.ts'
import { visibleText } from '../../util/visible-text.ts'

/** Writes a listing. `Row` is what is kept of each stream until then; it is small, as a sorted listing keeps all rows. */
export interface ListFormat<Row> {
  /** The output includes the total, so streams beyond the limit are counted too. */
  readonly hasTotal: boolean
  /** @param place the store of the stream, in a listing of several */
  row(item: SummarizedStream, place?: ListedStore): Row
  write(rows: readonly Row[]): Promise<void>
  end(tally: ListingCount): Promise<void>
}

/** One of several stores in a listing. */
export interface ListedStore {
  /** The context. */
  readonly name: string
  readonly store: StreamStore
}

export interface ListFormatOptions {
  /** As `-o` names it. */
  readonly format: string
  readonly fields?: readonly ListingChoice[]
  /** `undefined`: every row names its own. */
  readonly store: StreamStore | undefined
  readonly page: ListPage
}

/** What a page of a listing says about itself. */
export interface ListPage {
  /** The address of the store, or the contexts. */
  readonly store: string
  /** The command that lists the same. */
  readonly command: string
  readonly nowMs: number
  /** Stores that were not listed: sentences. */
  notes(): readonly string[]
}

/** Calls `use` with the format that `-o` selects. */
export async function withListFormat<Result>(
  { format, fields, store, page }: ListFormatOptions,
  output: Output,
  use: <Row>(list: ListFormat<Row>) => Promise<Result>,
): Promise<Result> {
  const json = (item: SummarizedStream, place?: ListedStore) => {
    const nowMs = (place?.store ?? store)?.nowMs() ?? Date.now()
    const own = fields === undefined ? listingJson(item, nowMs) : pickedJson(item, fields, nowMs)
    return place === undefined ? own : { context: place.name, store: place.store.address, ...own }
  }
  switch (format) {
    case 'json':
      return use(jsonList(json, output))
    case 'yaml':
      return use(await yamlList(json, output))
    case 'ndjson':
      return use(lineList((item, place) => jsonLine(json(item, place)), output))
    case 'csv':
      return use(csvList(csvFields(fields, store === undefined), json, output))
    case 'name':
      return use(lineList(item => `${visibleText(item.listed.name)}\n`, output))
    case 'html':
      return use(pageList(columnsOf(format, fields, output), store, page, output))
    default:
      return use(tableList(columnsOf(format, fields, output), store, output))
  }
}

export function columnsOf(
  format: string,
  fields: readonly ListingChoice[] | undefined,
  { time }: Pick<Output, 'time'>,
): ListingColumn[] {
  if (fields !== undefined) return fieldColumns(fields, time)
  return format === 'wide' ? wideColumns(time) : usualColumns(time)
}

function lineList(row: (item: SummarizedStream, place?: ListedStore) => string, output: Output): ListFormat<string> {
  return { hasTotal: false, row, write: rows => writeTexts(rows, output), end: async () => {} }
}

type ItemJson = (item: SummarizedStream, place?: ListedStore) => object

function jsonList(json: ItemJson, output: Output): ListFormat<string> {
  const items = itemsWriter(output)
  return {
    hasTotal: true,
    row: (item, place) => jsonText(json(item, place), 0),
    write: rows => items.write(rows),
    end: tally => items.end(totals(tally)),
  }
}

type ItemField = ListingField | 'context' | 'store'

function csvFields(fields: readonly ListingChoice[] | undefined, several: boolean): readonly ItemField[] {
  const own = fields === undefined ? LISTING_FIELDS : fields.map(fieldOf)
  return several ? ['context', 'store', ...own] : own
}

function csvList(fields: readonly ItemField[], json: ItemJson, output: Output): ListFormat<string> {
  const { record, write, end } = csvWriter(fields, output)
  return { hasTotal: false, row: (item, place) => record(json(item, place)), write, end }
}

/** The document of `jsonList` as YAML. */
async function yamlList(json: ItemJson, output: Output): Promise<ListFormat<string>> {
  const { yamlItem } = await import('../../formats/yaml.ts')
  let any = false
  const head = async (items: string) => {
    if (!any) await output.text(`apiVersion: ${API_VERSION}\nitems:${items}\n`)
    any = true
  }
  return {
    hasTotal: true,
    row: (item, place) => yamlItem(json(item, place)),
    async write(rows) {
      await head('')
      await writeTexts(rows, output)
    },
    async end(tally) {
      await head(' []')
      const { total, truncated } = totals(tally)
      await output.text(`total: ${total}\ntruncated: ${truncated}\n`)
    },
  }
}

function totals({ shown, seen, exact }: ListingCount) {
  return { total: exact ? seen : null, truncated: seen > shown }
}

function tableList(
  columns: readonly ListingColumn[],
  store: StreamStore | undefined,
  output: Output,
): ListFormat<readonly Cell[]> {
  const table = tableWriter(store === undefined ? [STORE_COLUMN, ...columns] : columns, output)
  return {
    hasTotal: true,
    row(item, place) {
      const nowMs = (place?.store ?? store)?.nowMs() ?? 0
      const row = listingRow(columns, item, nowMs, output.time)
      return place === undefined ? row : [visibleText(place.name), ...row]
    },
    write: rows => table.write(rows),
    end: () => table.end(),
  }
}

const STORE_COLUMN: Column = { title: 'STORE', give: 4, min: 8, cut: 'middle' }

interface PageRow {
  readonly item: SummarizedStream
  readonly cells: readonly Cell[]
}

/** A listing as a page. Its totals stand above the rows, so all rows are kept; their number has a limit. */
function pageList(
  columns: readonly ListingColumn[],
  store: StreamStore | undefined,
  page: ListPage,
  output: Output,
): ListFormat<PageRow> {
  const kept: PageRow[] = []
  return {
    hasTotal: true,
    row(item, place) {
      const nowMs = (place?.store ?? store)?.nowMs() ?? page.nowMs
      const cells = listingRow(columns, item, nowMs, output.time)
      return { item, cells: place === undefined ? cells : [visibleText(place.name), ...cells] }
    },
    async write(rows) {
      kept.push(...rows)
    },
    async end(tally) {
      const { listingPage } = await import('../../formats/html/listing.ts')
      const cut = tally.seen > tally.shown ? [`showing ${shownOf(tally)} (--limit N shows more)`] : []
      const nothing = tally.seen === 0 ? ['No stream matches.'] : []
      const table = {
        columns: store === undefined ? [STORE_COLUMN, ...columns] : columns,
        rows: kept.map(({ cells }) => cells),
      }
      const origin = { ...page, notes: [...nothing, ...cut, ...page.notes()] }
      const items = kept.map(({ item }) => item)
      await output.text(listingPage(table, items, origin, output.time))
    },
  }
}
