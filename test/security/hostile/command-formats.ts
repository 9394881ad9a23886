import type { Command } from 'commander'

/** What `-o` takes of a command, the default first. */
export function formatsOf(command: Command): readonly string[] {
  const parser: unknown = command.options.find(({ long }) => long === '--output')?.parseArg
  return typeof parser === 'function' && 'words' in parser && Array.isArray(parser.words)
    ? parser.words.map(String)
    : []
}
