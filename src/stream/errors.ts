/**
 * Faults of the domain. Expected outcomes (refused, missing, held) are values, never errors.
 * Every class has a stable `code` that the command line prints and scripts compare.
 */
export abstract class LeasectlError extends Error {
  abstract readonly code: string
  /** What the reader can do about it, a sentence, or `undefined`. */
  readonly hint: string | undefined

  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.name = new.target.name
    this.hint = options.hint
  }
}

/**
 * A fault of one stream: its document, its blob or its name keeps it from being read or changed. The store and all other
 * streams work, so whoever goes through many streams reports this one and goes on.
 */
export abstract class StreamFault extends LeasectlError {
  /** The stream it belongs to, where that is known. */
  abstract readonly stream: string | undefined

  /** The message without the name of the stream, for whoever says that beside it. */
  get what(): string {
    const head = `${this.stream}: `
    return this.message.startsWith(head) ? this.message.slice(head.length) : this.message
  }
}

/** A text that cannot be read as an event stream. Nothing may be written over it. */
export class BadDocument extends StreamFault {
  readonly code = 'bad-document'
  /** 1-based, 0 when the fault has no place in the text. */
  readonly line: number
  /** 1-based, in UTF-16 code units. */
  readonly column: number
  readonly stream: string | undefined
  readonly #what: string

  constructor(
    message: string,
    place: { line: number; column: number } = { line: 0, column: 0 },
    hint?: string,
    stream?: string,
  ) {
    const where = place.line > 0 ? `line ${place.line}, column ${place.column}: ` : ''
    super(`${stream === undefined ? '' : `${stream}: `}${where}${message}`, hint ? { hint } : {})
    this.line = place.line
    this.column = place.column
    this.stream = stream
    this.#what = message
  }

  /** The same fault, told with the name of the stream. */
  in(stream: string): BadDocument {
    return new BadDocument(this.#what, this, this.hint, stream)
  }
}

/**
 * A value given by a person or program that can never be right: a field that does not exist, a wrong type or id, a text too
 * long or with characters that XML cannot hold. Nothing was sent.
 */
export class InvalidValue extends LeasectlError {
  readonly code = 'invalid-value'
}
