import { Box, Text } from 'ink'
import { memo } from 'react'

/** Lines of finished text, one row each. The rows are made by pure code; nothing is decided here. */
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
