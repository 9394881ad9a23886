/** The words of a command about streams and events. Names that begin as flags do stand behind `--`. */
export function commandWords(
  verb: readonly string[],
  names: readonly string[],
  flags: readonly string[] = [],
): readonly string[] {
  return names.some(name => name.startsWith('-')) ? [...verb, ...flags, '--', ...names] : [...verb, ...names, ...flags]
}
