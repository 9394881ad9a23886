/** Global flags that take the next word as their value. Short flags can be combined: `-qc prod`. */
const TAKE_VALUE = /^(--(store|container|context|output|time|color)|-[qv]*[co])$/

/** The words before `--`. The rest belongs to another program, or is not a flag. */
export function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end < 0 ? argv : argv.slice(0, end)
}

/** The word that names the command, from the raw arguments: an error can occur before they are parsed. */
export function commandIn(argv: readonly string[]): string | undefined {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ''
    if (!word.startsWith('-')) return word
    if (TAKE_VALUE.test(word)) at++
  }
  return undefined
}

/** The values of a flag, in order: `-o json`, `-ojson`, `--output json`, `--output=json`. */
export function valuesIn(argv: readonly string[], short: string, long: string): readonly string[] {
  const words = ownWords(argv)
  return words.flatMap((word, at) => {
    if (word === short || word === long) return words[at + 1] ?? []
    if (word.startsWith(`${long}=`)) return word.slice(long.length + 1)
    return word.startsWith(short) && !word.startsWith('--') ? word.slice(short.length) : []
  })
}
