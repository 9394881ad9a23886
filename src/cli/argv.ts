/** Flags that stand everywhere and take the next word as their value; short ones may stand together, as in `-qc prod`. */
const TAKE_VALUE = /^(--(store|container|context|output|time|color)|-[qv]*[co])$/

/** What stands in front of `--`: the rest belongs to another program, or is no flag. */
export function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end < 0 ? argv : argv.slice(0, end)
}

/** The word that names the command: errors may stand in front of the parser, so the arguments are read as they are. */
export function commandIn(argv: readonly string[]): string | undefined {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ''
    if (!word.startsWith('-')) return word
    if (TAKE_VALUE.test(word)) at++
  }
  return undefined
}

/** What is given for a flag, in order: `-o json`, `-ojson`, `--output json`, `--output=json`. */
export function valuesIn(argv: readonly string[], short: string, long: string): readonly string[] {
  const words = ownWords(argv)
  return words.flatMap((word, at) => {
    if (word === short || word === long) return words[at + 1] ?? []
    if (word.startsWith(`${long}=`)) return word.slice(long.length + 1)
    return word.startsWith(short) && !word.startsWith('--') ? word.slice(short.length) : []
  })
}
