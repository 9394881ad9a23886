/** Control characters that are keys of their own, or a letter with Ctrl. */
export const CONTROL_KEYS: ReadonlyMap<string, string> = new Map([
  ...Array.from(
    { length: 26 },
    (_, at) => [String.fromCharCode(at + 1), `ctrl-${String.fromCharCode(97 + at)}`] as const,
  ),
  ['\x00', 'ctrl-space'],
  ['\x1c', 'ctrl-\\'],
  ['\x1d', 'ctrl-]'],
  ['\x1e', 'ctrl-^'],
  ['\x1f', 'ctrl-_'],
  ['\r', 'enter'],
  ['\n', 'enter'],
  ['\t', 'tab'],
  ['\x08', 'backspace'],
  ['\x7f', 'backspace'],
])

/**
 * The name of the key that a terminal sends as this escape sequence, with `ctrl-`, `alt-` and `shift-` in front where these
 * were held: `ctrl-left`. `undefined`: it is no key, such as an answer or a mouse report, or none that we know.
 */
export function keyOfSequence(sequence: string): string | undefined {
  const [, introducer, first, held, end] = PARTS.exec(sequence) ?? []
  if (introducer === undefined || end === undefined) return undefined
  if (end === 'Z') return 'shift-tab'
  if (introducer === 'O' && end === 'M') return 'enter'
  const name = end === '~' ? BY_NUMBER.get(Number(first)) : nameByLetter(introducer, end)
  return name === undefined ? undefined : `${modifiers(Number(held || 1) - 1)}${name}`
}

/** `ESC [ 1 ; 5 A`, `ESC [ 5 ~`, `ESC O P`, `ESC [[ A`. */
const PARTS = /^\x1b(\[\[?|O)(\d*)(?:;(\d+))?([A-Za-z~])$/

const BY_LETTER: ReadonlyMap<string, string> = new Map([
  ['A', 'up'],
  ['B', 'down'],
  ['C', 'right'],
  ['D', 'left'],
  ['F', 'end'],
  ['H', 'home'],
  ['P', 'f1'],
  ['Q', 'f2'],
  ['R', 'f3'],
  ['S', 'f4'],
])

const BY_NUMBER: ReadonlyMap<number, string> = new Map([
  [1, 'home'],
  [2, 'insert'],
  [3, 'delete'],
  [4, 'end'],
  [5, 'pageup'],
  [6, 'pagedown'],
  [7, 'home'],
  [8, 'end'],
  ...[11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24].map((code, at) => [code, `f${at + 1}`] as const),
])

/** The Linux console sends F1 to F5 as `ESC [[ A` to `ESC [[ E`. */
function nameByLetter(introducer: string, letter: string): string | undefined {
  if (introducer !== '[[') return BY_LETTER.get(letter)
  const at = 'ABCDE'.indexOf(letter)
  return at < 0 ? undefined : `f${at + 1}`
}

function modifiers(bits: number): string {
  return `${bits & 4 ? 'ctrl-' : ''}${bits & 2 ? 'alt-' : ''}${bits & 1 ? 'shift-' : ''}`
}
