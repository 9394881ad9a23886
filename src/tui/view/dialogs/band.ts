import { type Area, rowOf, ruleRow, type ScreenRow, type StyledText } from '../row.ts'

/** A line of a dialog. Lines with a higher rank are dropped first if there is not enough room; 0 stays. */
export interface DialogLine {
  readonly spans: readonly StyledText[]
  readonly rank: number
}

/** Rules are dropped before the question and the answers. */
const RULE_RANK = 4

/** A band of full rows with a rule above and below, as high as its lines need and the area allows. */
export function band(title: string, lines: readonly DialogLine[], { columns, rows }: Area): ScreenRow[] {
  const margin: readonly StyledText[] = columns < 40 ? [] : [[' ', 'plain']]
  const all = [
    { row: ruleRow(title, columns), rank: RULE_RANK },
    ...lines.map(({ spans, rank }) => ({ row: rowOf([...margin, ...spans], columns), rank })),
    { row: ruleRow('', columns), rank: RULE_RANK },
  ]
  let kept = all
  while (kept.length > Math.max(0, rows)) {
    const most = Math.max(...kept.map(({ rank }) => rank))
    kept = kept.toSpliced(
      kept.findLastIndex(({ rank }) => rank === most),
      1,
    )
  }
  return kept.map(({ row }) => row)
}

/** The visible part of a text: from `top` as far as there is room, and its position. */
export interface Window<Item> {
  readonly items: readonly Item[]
  /** `3–12 of 40`, `''` if everything is visible. */
  readonly place: string
}

/**
 * At least one item is visible: the surroundings are dropped instead.
 * @param item makes the item at a position: only visible ones are made
 */
export function windowFrom<Item>(total: number, top: number, room: number, item: (at: number) => Item): Window<Item> {
  const height = Math.min(Math.max(1, room), total)
  const from = Math.max(0, Math.min(top, total - height))
  const items = Array.from({ length: height }, (_, at) => item(from + at))
  return { items, place: height < total ? `${from + 1}–${from + height} of ${total}` : '' }
}
