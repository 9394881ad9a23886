import { type Cell, type Column, tableHeader, tableRows, tableWidths } from '../formats/terminal/table.ts'
import type { Output } from './output.ts'

/** A long table, written part by part. */
export interface TableWriter {
  write(rows: readonly (readonly Cell[])[]): Promise<void>
  /** Prints the header if nothing was written. */
  end(): Promise<void>
}

/** Columns are as wide as the rows so far need: later parts of a long table may widen them. */
export function tableWriter(columns: readonly Column[], output: Output): TableWriter {
  let widths: readonly number[] | undefined
  const write = async (rows: readonly (readonly Cell[])[]) => {
    const limits = {
      ...(output.width === undefined ? {} : { width: output.width }),
      ...(widths === undefined ? {} : { atLeast: widths }),
    }
    const fitted = tableWidths(columns, rows, limits)
    const header = widths === undefined ? [tableHeader(columns, fitted, output.paint)] : []
    widths = fitted
    await output.lines([...header, ...tableRows(columns, rows, fitted, output.paint)])
  }
  return {
    write,
    end: async () => {
      if (widths === undefined) await write([])
    },
  }
}
