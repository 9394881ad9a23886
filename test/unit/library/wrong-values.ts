/** Values that an untyped program may pass, and the fields for which they are wrong. */
export type Kind =
  | 'text'
  | 'id'
  | 'plain'
  | 'texts'
  | 'timeout'
  | 'number'
  | 'flag'
  | 'function'
  | 'signal'
  | 'event'
  | 'events'
  | 'object'
  | 'word'
  | 'wordOrNone'
  | 'uuid'

const NOT_TEXT = [null, 5, Number.NaN, true, {}, [], () => {}, 10n, Symbol('s')]
const NOT_NUMBER = [null, '2h', '7200000', '', Number.NaN, -5, 1e300 * -1e300, true, {}, new Date(0), 10n]

/** Values that are always wrong for a kind of field. */
export const NEVER: Readonly<Record<Kind, readonly unknown[]>> = {
  text: [...NOT_TEXT, '\u0000', '\ud800', 'x'.repeat(5_000)],
  id: [...NOT_TEXT, ''],
  plain: NOT_TEXT,
  texts: [null, 5, {}, [], [''], ['a', 5], '', '\u0000'],
  timeout: [
    null,
    5,
    7_200_000,
    true,
    {},
    [],
    'soon',
    '5',
    '24:00:00',
    '-2h',
    '2026-02-30T00:00:00Z',
    new Date(Number.NaN),
  ],
  number: NOT_NUMBER,
  flag: [null, 'yes', 'false', 0, 1, {}],
  function: [null, 5, 'f', {}, []],
  signal: [null, 5, true, {}, new AbortController()],
  event: [
    null,
    5,
    true,
    [],
    '',
    '\u0000',
    {},
    { name: '' },
    { name: 5 },
    { name: 'A', nmae: 'B' },
    { name: 'A', timeout: 5 },
  ],
  events: [null, 'A', {}, new Set(['A']), [null], ['A', ''], [{ name: 'A', timeout: 'soon' }], [['A']]],
  object: [
    null,
    5,
    'text',
    true,
    [],
    () => {},
    new Date(0),
    new Map(),
    Promise.resolve({}),
    new AbortController().signal,
  ],
  word: [null, 5, '', 'other', {}, []],
  wordOrNone: [null, 5, 'other', {}, []],
  uuid: [null, 5, '', 'mine', {}],
}

/** A misspelled name. */
export function mistyped(name: string): string {
  return name.length > 4 ? `${name.slice(0, 2)}${name.slice(3)}` : `${name}s`
}
