import type { SummarizedStream } from '../../ops/summaries.ts'
import { compareNames } from '../../store/names.ts'
import type { SortKey } from './options.ts'

/** The first `limit` rows of a listing in a given order. Rows beyond the limit are dropped. */
export interface Ranking<Row> {
  /**
   * @param row replaces that of the ranking for these items
   * @param place position of their store among several: the order of equal names
   */
  add(items: readonly SummarizedStream[], row?: (item: SummarizedStream) => Row, place?: number): void
  /** Number of streams added. */
  readonly seen: number
  /** The rows in order, at most `limit`. */
  rows(): Row[]
}

interface Ranked<Row> {
  readonly value: string | number | undefined
  readonly name: string
  readonly place: number
  readonly row: Row
}

/** Rows that may exceed the limit before the last ones are dropped. */
const SLACK = 1_000

/** @param row makes what is kept of a stream; it should be small, as without a limit all rows are kept */
export function rankingOf<Row>(key: SortKey, limit: number, row: (item: SummarizedStream) => Row): Ranking<Row> {
  const compare = comparing<Row>(key)
  let kept: Ranked<Row>[] = []
  let seen = 0
  return {
    add(items, rowOf = row, place = 0) {
      seen += items.length
      for (const item of items)
        kept.push({ value: sortValue(item, key.field), name: item.listed.name, place, row: rowOf(item) })
      if (kept.length > limit + SLACK) kept = kept.sort(compare).slice(0, limit)
    },
    get seen() {
      return seen
    },
    rows: () =>
      kept
        .sort(compare)
        .slice(0, limit)
        .map(entry => entry.row),
  }
}

/** Streams without the value come last in either order; equal values are sorted by name. */
function comparing<Row>({ field, descending }: SortKey): (a: Ranked<Row>, b: Ranked<Row>) => number {
  const turned = (field === 'age') !== descending ? -1 : 1
  const byName = (a: Ranked<Row>, b: Ranked<Row>) => compareNames(a.name, b.name) || a.place - b.place
  if (field === 'name') return (a, b) => turned * byName(a, b)
  return (a, b) => {
    if (a.value === b.value) return byName(a, b)
    if (a.value === undefined || b.value === undefined) return a.value === undefined ? 1 : -1
    return a.value < b.value ? -turned : turned
  }
}

function sortValue({ listed, summary }: SummarizedStream, field: SortKey['field']): string | number | undefined {
  switch (field) {
    case 'name':
      return undefined
    case 'modified':
      return listed.modifiedMs
    case 'age':
    case 'created':
      return summary?.createdMs
    case 'due':
      return summary?.dueMs
    case 'readySince':
      return summary?.readySinceMs
    case 'failedAt':
      return summary?.failedAtMs
    default:
      // An empty text counts as no value, 0 as a value.
      return summary?.[field] === '' ? undefined : summary?.[field]
  }
}
