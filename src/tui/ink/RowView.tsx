import { Text } from 'ink'
import { memo } from 'react'
import type { Row } from '../view/row.ts'
import type { Theme } from '../view/theme.ts'
import { sameRow } from './ansi-row.ts'
import { rowText } from './row-text.ts'

interface RowProps {
  readonly row: Row
  readonly columns: number
  readonly theme: Theme
}

/**
 * One row, as one text with its colours in it: Ink's time goes by nodes, and a `Text` for each colour would be five times as
 * many. The text is fitted: `truncate` only keeps one that the layout measures otherwise from taking a second row.
 */
export const RowView = memo(
  function RowView({ row, columns, theme }: RowProps) {
    return <Text wrap="truncate">{rowText(row, columns, theme) || ' '}</Text>
  },
  (a, b) => a.columns === b.columns && a.theme === b.theme && sameRow(a.row, b.row),
)
