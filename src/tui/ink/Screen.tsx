import { Box } from 'ink'
import { useSyncExternalStore } from 'react'
import type { Theme } from '../view/theme.ts'
import type { FrameSource } from './frame-source.ts'
import { RowView } from './RowView.tsx'

/** The whole screen. A row is known by its place: what moves is the text. */
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
