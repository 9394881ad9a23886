import type { Runtime, RuntimeStore } from './runtime.ts'

/** New values of flags. */
type Replacements = { readonly [flag: `--${string}`]: string }

/** How the program was started, and the store of its command lines. */
export interface Started extends Pick<Runtime, 'startedAs'> {
  readonly opened: Omit<RuntimeStore, 'store'> | undefined
}

/** A command line for users to copy. It starts the program in the same way and names the same store. */
export function commandLine(runtime: Started, words: readonly string[]): string {
  // words after -- belong to another program, or are not flags
  const end = words.includes('--') ? words.indexOf('--') : words.length
  const store = runtime.opened === undefined || namesStore(words.slice(0, end)) ? [] : storeWords(runtime.opened)
  return [runtime.startedAs, ...[...words.slice(0, end), ...store, ...words.slice(end)].map(shellWord)].join(' ')
}

/** The command line as typed, with other values for some flags. */
export function sameCommand(runtime: Runtime, replacements: Replacements = {}): string {
  const flags = Object.keys(replacements)
  const kept: string[] = []
  const end = runtime.argv.includes('--') ? runtime.argv.indexOf('--') : runtime.argv.length
  for (let at = 0; at < end; at++) {
    const word = runtime.argv[at] ?? ''
    if (flags.includes(word)) at++
    else if (!flags.some(flag => word.startsWith(`${flag}=`))) kept.push(word)
  }
  return commandLine(runtime, [...kept, ...Object.entries(replacements).flat(), ...runtime.argv.slice(end)])
}

/** The flag that names a store, whatever context or variables are set later; none for the default store. */
export function storeWords({ address, source, context }: Omit<RuntimeStore, 'store'>): readonly string[] {
  if (source === 'default') return []
  return context === undefined ? ['--store', address] : ['-c', context]
}

function namesStore(words: readonly string[]): boolean {
  return words.some(word => /^(--(store|container|context)(=|$)|-c)/.test(word))
}

/** A word quoted for a POSIX shell. Control characters become `$'\x1b'`, so that the line can be printed. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (!/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(word))
    return `'${word.replaceAll("'", `'\\''`)}'`
  return `$'${word.replace(/[\\']/g, '\\$&').replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped)}'`
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
