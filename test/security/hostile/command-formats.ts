import type { Command } from 'commander'

/** The values of `-o` for a command, the default first. */
export function formatsOf(command: Command): readonly string[] {
  const parser: unknown = command.options.find(({ long }) => long === '--output')?.parseArg
  return typeof parser === 'function' && 'words' in parser && Array.isArray(parser.words)
    ? parser.words.map(String)
    : []
}
