import type { Runtime, RuntimeStore } from './runtime.ts'

/** Flags that stand alone: they take no value with them when one is replaced. */
type Replacements = { readonly [flag: `--${string}`]: string }

/** A command for people to copy, started the way this one was and pointing to the same store. */
export function commandLine(runtime: Runtime, words: readonly string[]): string {
  // what stands behind -- belongs to another program, or is no flag
  const end = words.includes('--') ? words.indexOf('--') : words.length
  const store = runtime.opened === undefined || namesStore(words.slice(0, end)) ? [] : storeWords(runtime.opened)
  return [runtime.startedAs, ...[...words.slice(0, end), ...store, ...words.slice(end)].map(shellWord)].join(' ')
}

/** The command line as it was typed, with some flags set to other values. */
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

/** The flag that leads to a store, whatever is current or set by then; none for the default. */
export function storeWords({ address, source, context }: Omit<RuntimeStore, 'store'>): readonly string[] {
  if (source === 'default') return []
  return context === undefined ? ['--store', address] : ['-c', context]
}

function namesStore(words: readonly string[]): boolean {
  return words.some(word => /^(--(store|container|context)(=|$)|-c)/.test(word))
}

/** Quoted for a POSIX shell; control characters become `$'\x1b'`, so that the line can be printed. */
export function shellWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  if (!/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(word))
    return `'${word.replaceAll("'", `'\\''`)}'`
  return `$'${word.replace(/[\\']/g, '\\$&').replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped)}'`
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
