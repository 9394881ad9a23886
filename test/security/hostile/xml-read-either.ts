import { BadDocument } from '../../../src/stream/errors.ts'
import { decodeDocument } from '../../../src/stream/xml/decode.ts'
import { readDocument } from '../../../src/stream/xml/read.ts'

/** The reason why a reader refuses a document; `undefined` if it accepts it. */
export type Reader = (bytes: Uint8Array) => string | undefined

/** Ours. Any error but `BadDocument` is a bug and is rethrown. */
export const ourReader: Reader = bytes => {
  try {
    readDocument(decodeDocument(bytes))
    return undefined
  } catch (error) {
    if (!(error instanceof BadDocument)) throw error
    return error.message.replace(/^line \d+, column \d+: /, '')
  }
}
