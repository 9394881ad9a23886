import { BadDocument } from '../../stream/errors.ts'
import { MAX_READ_BYTES } from '../../stream/limits.ts'
import { decodeDocument } from '../../stream/xml/decode.ts'

/** The text of a stored body in lines, read as documents are; one that is none of ours with what cannot be read replaced. */
export function storedLines(body: Uint8Array): readonly string[] {
  return textOf(body).split(/\r\n|\r|\n/)
}

function textOf(body: Uint8Array): string {
  try {
    return decodeDocument(body)
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error
    return new TextDecoder(encodingOf(body)).decode(body.subarray(0, MAX_READ_BYTES))
  }
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
