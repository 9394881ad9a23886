import { InvalidValue } from '../stream/errors.ts'
import { BadName } from './errors.ts'

/** Names that begin with this are leasectl's own small documents: no listing shows them, no command takes them. */
export const RESERVED_PREFIX = '.leasectl/'

/** The longest name Azure takes, in UTF-16 code units. */
const MAX_NAME_LENGTH = 1024

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const DOT_SEGMENT = /(?:^|\/)\.{1,2}(?:\/|$)/

/** Whether the name belongs to leasectl itself. */
export function isReservedName(name: string): boolean {
  return name.startsWith(RESERVED_PREFIX)
}

/** Checks a name that a person or program gives for a stream. Throws `InvalidValue` with a hint. */
export function checkStreamName(name: string): void {
  checkStoredName(name)
  if (isReservedName(name)) {
    throw new InvalidValue(`names under ${RESERVED_PREFIX} are reserved`, { hint: 'Choose another name.' })
  }
}

/** Whether every driver can keep the name, reserved or not. A container may hold blobs of others under names that none can. */
export function isStoredName(name: string): boolean {
  return faultOf(name) === undefined
}

/**
 * Checks a name as every driver can keep it, reserved ones included. Throws `InvalidValue` with a hint.
 * The rules are Azure's; dot segments are refused because URLs collapse them: `../x` would be another container's blob.
 */
export function checkStoredName(name: string): void {
  const fault = faultOf(name)
  if (fault === undefined) return
  throw new InvalidValue(`${JSON.stringify(shortened(name))} cannot be the name of a stream: ${fault.what}`, {
    hint: fault.hint,
  })
}

/** Checks a name before its blob is read or changed, which a listing may have told. @throws BadName */
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
      hint: 'Azure takes it for "/" and means another name: use "/" or leave it out.',
    }
  }
  if (CONTROL.test(name)) return { what: 'it has a control character', hint: 'Use printable characters.' }
  if (!name.isWellFormed()) return { what: 'it has half a surrogate pair', hint: 'Pass the name as valid UTF-8.' }
  if (DOT_SEGMENT.test(name)) return { what: 'it has a "." or ".." segment', hint: 'Leave the dot segments out.' }
  if (name.endsWith('.') || name.endsWith('/')) {
    return { what: `it ends in "${name.at(-1)}"`, hint: 'Azure drops a "." or "/" at the end: leave it out.' }
  }
  return undefined
}

function shortened(name: string): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name
}

/** Orders names by code points, which is the order of their UTF-8 bytes; `<` on strings differs beyond U+FFFF. */
export function compareNames(a: string, b: string): number {
  const common = Math.min(a.length, b.length)
  for (let i = 0; i < common; i += 1) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return rank(left) - rank(right)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above U+FFFF, so they go behind U+E000–U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** The first name behind all that begin with `prefix`; `undefined` if there is none. */
export function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, character => character.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const last = points.pop() ?? 0
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}
