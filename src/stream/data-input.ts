import { dataOf, type EventData } from './data.ts'
import { inField, isObject, type Read, wrong } from './values.ts'

/** Data for an event: a text, bytes, or what `newData` returns. The media type of texts and bytes is guessed. */
export type DataInput = string | Uint8Array | EventData

const TYPES = 'a text, a Uint8Array or newData(…)'

/** Reads data that a program gives. */
export const readDataInput: Read<EventData> = (given, field) => {
  if (typeof given === 'string') return inField(field, () => dataOf(Buffer.from(given)))
  if (given instanceof Uint8Array) return inField(field, () => dataOf(given))
  if (!isObject(given)) throw wrong(field, given, TYPES)
  const { type, size, sha256, text, base64, bytes } = given
  const isData = typeof type === 'string' && typeof size === 'number' && typeof sha256 === 'string'
  if (!isData) throw wrong(field, given, TYPES, 'newData(JSON.stringify(value)) makes data of any value.')
  return {
    ...{ type, size, sha256 },
    ...(typeof text === 'string' ? { text } : {}),
    ...(typeof base64 === 'string' ? { base64 } : {}),
    ...(bytes instanceof Uint8Array ? { bytes } : {}),
  }
}
