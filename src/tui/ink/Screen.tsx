import { Box, Text } from 'ink'
import { memo, useSyncExternalStore } from 'react'
import type { ScreenRow } from '../view/row.ts'
import type { Theme } from '../view/theme.ts'
import { rowText, sameRow } from './ansi-row.ts'
import type { FrameSource } from './frame-source.ts'

/** The whole screen. A row's key is its position: only the text moves. */
export function Screen({ source, theme }: { readonly source: FrameSource; readonly theme: Theme }) {
  const { rows, columns } = useSyncExternalStore(source.subscribe, source.get)
  return (
    <Box flexDirection="column">
      {rows.map((row, at) => (
        <RowView key={at} row={row} columns={columns} theme={theme} />
      ))}
    </Box>
  )
}

interface RowProps {
  readonly row: ScreenRow
  readonly columns: number
  readonly theme: Theme
}

/**
 * One row as one text with its colours inside: Ink's cost grows with nodes, and a `Text` per colour would be five times
 * as many. The text fits; `truncate` only keeps one that the layout measures differently from wrapping.
 */
const RowView = memo(
  function RowView({ row, columns, theme }: RowProps) {
    return <Text wrap="truncate">{rowText(row, columns, theme) || ' '}</Text>
  },
  (a, b) => a.columns === b.columns && a.theme === b.theme && sameRow(a.row, b.row),
)
