import { API_VERSION, jsonLine, jsonText } from '../formats/json.ts'
import { listingColumns, listingJson, listingRow } from '../formats/listing.ts'
import { tableHeader, tableRows, tableWidths } from '../formats/table.ts'
import type { SummarizedStream } from '../ops/summaries.ts'
import type { EventStore } from '../store/store.ts'
import { visibleText } from '../stream/texts.ts'
import type { Output } from './output.ts'

/** Where the rows of a listing go, part by part. */
export interface ListOutput {
  add(rows: readonly SummarizedStream[]): Promise<void>
  /** `shown`: how many rows there were; `truncated`: there are more. */
  end(shown: number, truncated: boolean): Promise<void>
}

/** The output that `-o` names. */
export function openList(format: string | undefined, output: Output, store: EventStore): ListOutput {
  switch (format) {
    case 'json':
      return jsonList(output)
    case 'ndjson':
      return lineList(output, item => jsonLine(listingJson(item)))
    case 'name':
      return lineList(output, item => `${visibleText(item.listed.name)}\n`)
    default:
      return tableList(output, store)
  }
}

/** A page of Azure's has 5 000 rows: as one text it would take megabytes. */
const ROWS_AT_ONCE = 100

function lineList(output: Output, line: (item: SummarizedStream) => string): ListOutput {
  return {
    async add(rows) {
      for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
        await output.text(
          rows
            .slice(at, at + ROWS_AT_ONCE)
            .map(line)
            .join(''),
        )
      }
    },
    end: async () => {},
  }
}

/** One document, written as the rows come. */
function jsonList(output: Output): ListOutput {
  let first = true
  return {
    async add(rows) {
      const items = rows.map(row => jsonText(listingJson(row), 0))
      await output.text(`${first ? head() : ',\n'}${items.join(',\n')}`)
      first = false
    },
    async end(shown, truncated) {
      const total = truncated ? 'null' : String(shown)
      await output.text(`${first ? head().trimEnd() : '\n'}],"total":${total},"truncated":${truncated}}\n`)
    },
  }
}

function head(): string {
  return `{"apiVersion":${JSON.stringify(API_VERSION)},"items":[\n`
}

/** Columns are as wide as the rows so far need: later parts of a long table may widen them. */
function tableList(output: Output, store: EventStore): ListOutput {
  const columns = listingColumns(output.time)
  let widths: readonly number[] | undefined
  const write = async (rows: readonly SummarizedStream[]) => {
    const cells = rows.map(row => listingRow(row, store.nowMs(), output.time))
    const limits = {
      ...(output.width === undefined ? {} : { width: output.width }),
      ...(widths === undefined ? {} : { atLeast: widths }),
    }
    const fitted = tableWidths(columns, cells, limits)
    const header = widths === undefined ? [tableHeader(columns, fitted, output.paint)] : []
    widths = fitted
    await output.lines([...header, ...tableRows(columns, cells, fitted, output.paint)])
  }
  return {
    add: write,
    end: async shown => {
      if (shown === 0) await write([])
    },
  }
}
