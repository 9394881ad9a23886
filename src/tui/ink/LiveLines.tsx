import { Box, Text } from 'ink'
import { memo } from 'react'

/** Finished lines of text, one row each. Pure code makes the rows; nothing is decided here. */
export function LiveLines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <Box flexDirection="column">
      {lines.map((line, row) => (
        <Line key={row} text={line} />
      ))}
    </Box>
  )
}

const Line = memo(function Line({ text }: { readonly text: string }) {
  return <Text wrap="truncate">{text === '' ? ' ' : text}</Text>
})
