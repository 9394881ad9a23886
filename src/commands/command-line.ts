import type { Runtime } from './runtime.ts'

/** Flags that stand alone: they take no value with them when one is replaced. */
type Replacements = { readonly [flag: `--${string}`]: string }

/** A command for people to copy, started the way this one was and pointing to the same store. */
export function commandLine(runtime: Runtime, words: readonly string[]): string {
  return [runtime.startedAs, ...words.map(shellWord), ...storeWords(words, runtime)].join(' ')
}

/** The command line as it was typed, with some flags set to other values. */
export function sameCommand(runtime: Runtime, replacements: Replacements = {}): string {
  const flags = Object.keys(replacements)
  const kept: string[] = []
  for (let at = 0; at < runtime.argv.length; at++) {
    const word = runtime.argv[at] ?? ''
    if (flags.includes(word)) at++
    else if (!flags.some(flag => word.startsWith(`${flag}=`))) kept.push(word)
  }
  return commandLine(runtime, [...kept, ...Object.entries(replacements).flat()])
}

/** `--store ADDRESS` unless the line names one already or the default is meant. */
function storeWords(words: readonly string[], { opened }: Runtime): string[] {
  const named = words.some(word => /^--(store|container)(=|$)/.test(word))
  return named || opened === undefined || opened.source === 'default' ? [] : ['--store', shellWord(opened.address)]
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
