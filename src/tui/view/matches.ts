import type { ParsedFilter, TextRange } from '../state/lists/filter.ts'
import type { ScreenRow, StyledText } from './row.ts'

/** The row with the words marked that the filter looks for. Titles and line numbers, which are dim, are not searched. */
export function withMatches(row: ScreenRow, filter: Pick<ParsedFilter<never>, 'matchesIn'>): ScreenRow {
  if (row.highlight === 'faint') return row
  const spans = row.spans.flatMap(span => (span[1] === 'dim' ? [span] : parts(span, filter.matchesIn(span[0]))))
  return { ...row, spans }
}

function parts(span: StyledText, ranges: readonly TextRange[]): readonly StyledText[] {
  if (ranges.length === 0) return [span]
  const [text, style] = span
  const found: StyledText[] = []
  let at = 0
  for (const [from, to] of ranges) {
    found.push([text.slice(at, from), style], [text.slice(from, to), 'mark'])
    at = to
  }
  return [...found, [text.slice(at), style] as const].filter(([part]) => part !== '')
}
