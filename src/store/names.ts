import { InvalidValue } from '../stream/errors.ts'
import { BadName } from './errors.ts'

/** Prefix of leasectl's own small documents. Listings leave them out, and commands do not accept them. */
export const RESERVED_PREFIX = '.leasectl/'

/** The longest name that Azure accepts, in UTF-16 code units. */
const MAX_NAME_LENGTH = 1024

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const DOT_SEGMENT = /(?:^|\/)\.{1,2}(?:\/|$)/

/** Whether the name belongs to leasectl itself. */
export function isReservedName(name: string): boolean {
  return name.startsWith(RESERVED_PREFIX)
}

/** Checks the name of a stream that a user or program gives. Throws `InvalidValue` with a hint. */
export function checkStreamName(name: string): void {
  checkStoredName(name)
  if (isReservedName(name)) {
    throw new InvalidValue(`names under ${RESERVED_PREFIX} are reserved`, { hint: 'Choose another name.' })
  }
}

/** Whether the name is valid in every store, reserved or not. Other programs may have written blobs with other names. */
export function isStoredName(name: string): boolean {
  return faultOf(name) === undefined
}

/**
 * Checks that the name is valid in every store; reserved names are. Throws `InvalidValue` with a hint.
 * The rules are Azure's. Dot segments are rejected because URLs collapse them: `../x` would be a blob of another container.
 */
export function checkStoredName(name: string): void {
  const fault = faultOf(name)
  if (fault === undefined) return
  throw new InvalidValue(`${JSON.stringify(shortened(name))} is not a valid stream name: ${fault.what}`, {
    hint: fault.hint,
  })
}

/** Checks the name of a blob, perhaps from a listing, before it is read or changed. @throws BadName */
export function checkReadableName(name: string): void {
  const fault = faultOf(name)
  if (fault !== undefined) throw new BadName(name, fault.what)
}

function faultOf(name: string): { what: string; hint: string } | undefined {
  if (name === '') return { what: 'it is empty', hint: 'Give a name such as orders/42.' }
  if (name.length > MAX_NAME_LENGTH) {
    return { what: `it has ${name.length} characters`, hint: `Use at most ${MAX_NAME_LENGTH} characters.` }
  }
  if (name.includes('\\')) {
    return {
      what: 'it has a backslash',
      hint: 'Azure replaces it by "/", which is another name: use "/" or leave it out.',
    }
  }
  if (CONTROL.test(name)) return { what: 'it has a control character', hint: 'Use printable characters.' }
  if (!name.isWellFormed()) return { what: 'it has half a surrogate pair', hint: 'Pass the name as valid UTF-8.' }
  if (DOT_SEGMENT.test(name)) return { what: 'it has a "." or ".." segment', hint: 'Leave the dot segments out.' }
  if (name.endsWith('.') || name.endsWith('/')) {
    return { what: `it ends with "${name.at(-1)}"`, hint: 'Azure drops a "." or "/" at the end: leave it out.' }
  }
  return undefined
}

function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}

/** Compares names by code points, which is the order of their UTF-8 bytes; `<` on strings differs above U+FFFF. */
export function compareNames(a: string, b: string): number {
  const common = Math.min(a.length, b.length)
  for (let i = 0; i < common; i += 1) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

/** Surrogates encode code points above U+FFFF, so they sort after U+E000–U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** Exclusive upper bound of all names that begin with `prefix`; `undefined` if there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, character => character.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const last = points.pop() ?? 0
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}

/** The message for a claim whose stream is `missing`. */
export function missingStreamText(stream: string, isReplaced: boolean | undefined): string {
  if (isReplaced) return `the stream ${stream} of this claim was removed, and another has its name now`
  return `the stream ${stream} is gone`
}

/** The name of a folder of leasectl's own documents. */
const FOLDER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

/** @throws InvalidValue unless it can be the name of a subscription, an inbox or another folder of documents */
export function checkFolderName(name: string, of: string): void {
  if (FOLDER.test(name)) return
  throw new InvalidValue(`${JSON.stringify(name)} cannot be the name of ${of}`, {
    hint: 'Use at most 63 letters, digits, dots, dashes and underscores; the first is a letter or digit.',
  })
}
