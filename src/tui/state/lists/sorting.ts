/** The value by which a row is sorted, lowest first; rows without one are last in both directions. */
export type RowKey<Row> = (row: Row, nowMs: number) => number | string | undefined

/** The keys of a list by the name of the order. */
export type RowKeys<Row> = { readonly [By in string]: RowKey<Row> }

/** Rows in their order; those with equal keys stay as they are. Without a key the rows are as given, or reversed. */
export function sortedRows<Row>(
  rows: readonly Row[],
  keyOf: RowKey<Row> | undefined,
  isDescending: boolean,
  nowMs: number,
): readonly Row[] {
  if (keyOf === undefined) return isDescending ? rows.toReversed() : rows
  const direction = isDescending ? -1 : 1
  return rows
    .map(row => ({ row, key: keyOf(row, nowMs) }))
    .sort((a, b) => compareKeys(a.key, b.key, direction))
    .map(({ row }) => row)
}

/** @param direction -1 for the highest first */
export function compareKeys(a: number | string | undefined, b: number | string | undefined, direction: 1 | -1): number {
  if (a === b) return 0
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a < b ? -direction : direction
}
