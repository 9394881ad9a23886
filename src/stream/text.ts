import { visibleText } from '../util/visible-text.ts'
import { InvalidValue } from './errors.ts'

/** Maximum bytes of UTF-8 of a message, a reason and any other text. */
export const TEXT_LIMITS = { msg: 4096, reason: 1024, other: 1024 } as const

/** All characters that XML 1.0 excludes (https://www.w3.org/TR/xml/#charsets), lone surrogates included. */
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u
const ALL_NOT_XML = new RegExp(NOT_XML, 'gu')

/** ECMA-48: control strings (OSC ends with its line at the latest), CSI, other escapes; each also unfinished. */
const ESCAPES = new RegExp(
  [
    String.raw`(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?`,
    String.raw`(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])(?:[^\x1b\x9c]*(?:\x1b\\|\x9c)|[^\x1b\x9c\n]*)`,
    String.raw`(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?`,
    String.raw`\x1b[ -/]*[0-~]?`,
  ].join('|'),
  'g',
)

const NOT_COMMAND_ID = /[^A-Za-z0-9._:/@+%-]/gu
/** Maximum length of a command id. */
export const COMMAND_ID_LENGTH = 200

/**
 * Checks a text given by a person or program before it goes into a document.
 * @param kind the kind of text, for the error message; `msg` and `reason` have their own limits
 * @throws InvalidValue for characters XML cannot hold and for texts that are too long
 */
export function checkText(kind: string, text: string): void {
  const bad = NOT_XML.exec(text)
  if (bad !== null) {
    throw new InvalidValue(`${kind}: character ${bad.index + 1} is ${codePoint(bad[0])}, which XML cannot hold`)
  }
  const limit = kind === 'msg' || kind === 'reason' ? TEXT_LIMITS[kind] : TEXT_LIMITS.other
  if (!fits(text, limit)) throw new InvalidValue(`${kind}: longer than ${limit} bytes`)
}

/**
 * Cleans a text from a program (stderr, an error message) for a document: removes terminal escape sequences, replaces
 * characters that XML cannot hold by U+FFFD, and cuts at a whole character to `limitBytes` of UTF-8. Never fails.
 */
export function cleanProgramText(text: string, limitBytes: number): string {
  return cutBytes(text.replace(ESCAPES, '').replace(ALL_NOT_XML, '\ufffd'), limitBytes)
}

/** The longest prefix of at most `limitBytes` of UTF-8, cut between characters. */
export function cutBytes(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += utf8Length(character.codePointAt(0) ?? 0)
    if (bytes > limitBytes) return text.slice(0, end)
    end += character.length
  }
  return text
}

/** A message as the reason of a journal entry. */
export function reasonOf(msg: string | undefined): string {
  return cutBytes(msg ?? '', TEXT_LIMITS.reason)
}

/** @throws InvalidValue unless it is, with its ending, 1–200 characters of `A–Z a–z 0–9 . _ : / @ + % -` */
export function checkCommandId(text: string, ending = ''): void {
  if (text === '') throw new InvalidValue('a command id cannot be empty')
  const most = COMMAND_ID_LENGTH - ending.length
  if (text.length > most) throw new InvalidValue(`a command id has at most ${most} characters, this one ${text.length}`)
  const bad = text.match(NOT_COMMAND_ID)?.[0]
  if (bad !== undefined) {
    throw new InvalidValue(`command id: ${visibleText(bad)} is not one of A-Z a-z 0-9 . _ : / @ + % -`)
  }
}

/**
 * The command id for any text: characters outside the set are percent-encoded, so a valid command id stays the same.
 * @throws InvalidValue if the result is empty or longer than 200 characters
 */
export function encodeCommandId(text: string): string {
  const id = encodeForCommandId(text)
  checkCommandId(id)
  return id
}

/** Percent-encodes the characters that a command id cannot have, in a text of any length: a part of an id. */
export function encodeForCommandId(text: string): string {
  return text.toWellFormed().replace(NOT_COMMAND_ID, percentEncode)
}

/** `encodeURIComponent` does not encode a few characters outside the set. */
function percentEncode(character: string): string {
  const encoded = encodeURIComponent(character)
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded
}

function fits(text: string, limitBytes: number): boolean {
  return cutBytes(text, limitBytes).length === text.length
}

function utf8Length(code: number): number {
  if (code < 0x80) return 1
  if (code < 0x800) return 2
  return code < 0x10000 ? 3 : 4
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
