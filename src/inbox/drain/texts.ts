import { checkStreamName } from '../../store/names.ts'
import { InvalidValue } from '../../stream/errors.ts'
import { type InboxRecord, type Pointer, parsePointer, valueAt } from '../record.ts'

/** A text with the values of a record in place of its `{/pointer}`. @throws InvalidValue if a value is missing or does not fit */
export type RecordText = (record: InboxRecord) => string

/** The fields of a record that pointers begin with. */
const FIELDS: readonly (string | undefined)[] = ['id', 'key', 'at', 'seq', 'data']
const PLACE = /\{(\/[^{}]*)\}/g
/** The longest value that is taken into a text, characters. */
const LONGEST = 1_000
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** Whether the text takes values of the record. */
export function takesValues(text: string): boolean {
  return text.search(PLACE) >= 0
}

/** @throws InvalidValue for a pointer that is not one, or that points outside a record */
export function recordText(text: string): RecordText {
  // Texts and pointers in turns.
  const parts = text.split(PLACE).map((part, at) => (at % 2 === 0 ? part : pointerIn(part)))
  return record => parts.map(part => (typeof part === 'string' ? part : valueText(record, part))).join('')
}

function pointerIn(text: string): Pointer {
  const pointer = parsePointer(text)
  if (FIELDS.includes(pointer[0])) return pointer
  throw new InvalidValue(`{${text}} is not in a record, which has /id /key /at /seq and /data`, {
    hint: `Did you mean {/data${text}}?`,
  })
}

function valueText(record: InboxRecord, pointer: Pointer): string {
  const value = valueAt(record, pointer)
  const field = `/${pointer.join('/')}`
  if (value === undefined) throw new InvalidValue(`the record has no ${field}`)
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw new InvalidValue(`${field} of the record is not a text, a number, true or false`)
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new InvalidValue(`${field} of the record is a number that loses digits: put it as a text`)
  const text = String(value)
  if (text === '') throw new InvalidValue(`${field} of the record is empty`)
  if (text.length > LONGEST)
    throw new InvalidValue(`${field} of the record has ${text.length} characters; the limit is ${LONGEST}`)
  if (CONTROL.test(text)) throw new InvalidValue(`${field} of the record has a control character`)
  return text
}

/**
 * A name of a stream; values may not add levels that are empty, so that it stays in its folder.
 * @throws InvalidValue if no values make it the name of a stream
 */
export function recordName(text: string): RecordText {
  const fill = recordText(text)
  const example = text.replace(PLACE, 'x')
  checkStreamName(example)
  checkLevels(example)
  return record => {
    const name = fill(record)
    checkLevels(name)
    return name
  }
}

function checkLevels(name: string): void {
  if (/^\/|\/\/|\/$/.test(name)) throw new InvalidValue(`the name ${JSON.stringify(name)} has an empty part`)
}
