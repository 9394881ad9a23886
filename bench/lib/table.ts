import { isWithin, type Row } from './bench.ts'

const HEAD = ['figure', 'ratio', 'limit', 'verdict', '']

/** The rows as aligned columns, one line each, a header first. */
export function tableOf(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cells(row: Row): string[] {
  if (row.limit === undefined) return [row.figure, row.ratio.toFixed(2), '-', 'told', row.note ?? '']
  const limit = `${row.bound === 'at least' ? '≥' : '≤'} ${row.limit}`
  return [row.figure, row.ratio.toFixed(2), limit, isWithin(row) ? 'ok' : 'MISSED', row.note ?? '']
}
