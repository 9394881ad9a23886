import type { KeyPress, TextField } from './state.ts'

/** Greatest length of a field, UTF-16 units. */
export const FIELD_LIMIT = 1_000

export const EMPTY_FIELD: TextField = { text: '', at: 0 }

/** A field with a text and the cursor at its end. */
export function fieldWith(text: string): TextField {
  return { text, at: text.length }
}

/** The field after a key. `undefined`: not an editing key. */
export function editField(field: TextField, press: KeyPress): TextField | undefined {
  const edit = EDITS.get(press.key)
  if (edit !== undefined) return edit(field)
  return press.text === undefined || press.text === '' || NOT_TYPED.test(press.text)
    ? undefined
    : insertText(field, press.text)
}

/** The field with a pasted text. Line breaks and tabs become blanks; other control characters are dropped. */
export function pasteText(field: TextField, text: string): TextField {
  // Skip text that cannot fit: a paste may be as long as a book.
  const some = text.slice(0, 4 * FIELD_LIMIT).replace(/\r\n|[\t\n\v\f\r\u0085\u2028\u2029]/g, ' ')
  return insertText(field, some.replace(ALL_NOT_TYPED, ''))
}

const NOT_TYPED = /[\u0000-\u001f\u007f-\u009f]/
const ALL_NOT_TYPED = new RegExp(NOT_TYPED, 'g')

const EDITS: ReadonlyMap<string, (field: TextField) => TextField> = new Map([
  ['left', ({ text, at }) => ({ text, at: before(text, at) })],
  ['right', ({ text, at }) => ({ text, at: after(text, at) })],
  ['home', toStart],
  ['ctrl-a', toStart],
  ['end', toEnd],
  ['ctrl-e', toEnd],
  ['backspace', ({ text, at }) => without(text, before(text, at), at)],
  ['delete', ({ text, at }) => without(text, at, after(text, at))],
  ['ctrl-u', ({ text, at }) => without(text, 0, at)],
  ['ctrl-w', ({ text, at }) => without(text, wordBefore(text, at), at)],
])

function toStart({ text }: TextField): TextField {
  return { text, at: 0 }
}

function toEnd({ text }: TextField): TextField {
  return fieldWith(text)
}

function insertText({ text, at }: TextField, more: string): TextField {
  const fitting = firstCharacters(more, FIELD_LIMIT - text.length)
  return fieldAt(text.slice(0, at) + fitting + text.slice(at), at + fitting.length)
}

function without(text: string, from: number, to: number): TextField {
  return fieldAt(text.slice(0, from) + text.slice(to), from)
}

/** Characters may combine where texts meet: the cursor is then after the combined one. */
function fieldAt(text: string, at: number): TextField {
  const behind = bounds(text).find(bound => bound >= at)
  return { text, at: behind ?? text.length }
}

function wordBefore(text: string, at: number): number {
  return text.slice(0, at).replace(/\S*\s*$/u, '').length
}

function before(text: string, at: number): number {
  return bounds(text).findLast(bound => bound < at) ?? 0
}

function after(text: string, at: number): number {
  return bounds(text).find(bound => bound > at) ?? text.length
}

function firstCharacters(text: string, room: number): string {
  if (text.length <= room) return text
  return text.slice(0, bounds(text).findLast(bound => bound <= room) ?? 0)
}

let segmenter: Intl.Segmenter | undefined

/** Start offsets of grapheme clusters, and the end. */
function bounds(text: string): number[] {
  segmenter ??= new Intl.Segmenter()
  return [...Array.from(segmenter.segment(text), ({ index }) => index), text.length]
}
