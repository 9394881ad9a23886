import { BadDocument } from '../../../src/stream/errors.ts'
import { decodeDocument } from '../../../src/stream/xml/decode.ts'
import { readDocument } from '../../../src/stream/xml/read.ts'

/** Why a reader refuses a document; `undefined` if it takes it. */
export type Reader = (bytes: Uint8Array) => string | undefined

/** Ours. Whatever it throws but `BadDocument` is a bug and goes on. */
export const ourReader: Reader = bytes => {
  try {
    readDocument(decodeDocument(bytes))
    return undefined
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error
    return error.message.replace(/^line \d+, column \d+: /, '')
  }
}
