/**
 * Base class of the errors of leasectl. Expected outcomes (refused, missing, held) are values, never errors. Every
 * class has a stable `code` that the command line prints and scripts compare.
 */
export abstract class LeasectlError extends Error {
  abstract readonly code: string
  /** A sentence that says how to fix it, or `undefined`. */
  readonly hint: string | undefined

  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : {})
    this.name = new.target.name
    this.hint = options.hint
  }
}

/**
 * A fault of one stream: its document, blob or name prevents reading or changing it. The store and the other streams
 * work, so a caller with many streams reports this one and continues.
 */
export abstract class StreamFault extends LeasectlError {
  /** Name of the stream, where it is known. */
  abstract readonly stream: string | undefined

  /** The message without the name of the stream, for output that shows the name beside it. */
  get what(): string {
    const head = `${this.stream}: `
    return this.message.startsWith(head) ? this.message.slice(head.length) : this.message
  }
}

/** A text that cannot be read as an event stream. It must not be overwritten. */
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

  /** The same fault with the name of the stream in its message. */
  in(stream: string): BadDocument {
    return new BadDocument(this.#what, this, this.hint, stream)
  }
}

/**
 * A value from a person or program that is never valid: an unknown field, a wrong type or id, a text that is too long
 * or has characters that XML cannot hold. Nothing was sent.
 */
export class InvalidValue extends LeasectlError {
  readonly code = 'invalid-value'
}
