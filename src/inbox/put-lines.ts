import { InvalidValue } from '../stream/errors.ts'
import { type InputLine, linesIn } from './lines.ts'
import { MAX_RECORD_BYTES, type NewRecord, type RecordFields, recordIn } from './record.ts'
import type { RecordWriter } from './writer.ts'

/** A line that is not put, and why. */
export interface RejectedLine {
  readonly line: InputLine
  readonly why: string
}

export interface PutLinesOptions {
  readonly fields: RecordFields
  /** Called in order, before later lines are put. */
  readonly rejected: (rejected: RejectedLine) => Promise<void>
  /** Called after each chunk of the input. */
  readonly progressed: () => Promise<void>
  /** What was put before of the input, and is not in the source. */
  readonly from?: { readonly lines: number; readonly bytes: number }
}

/** Up to where all lines of an input are durable or rejected, and how many of them. */
export interface AcknowledgedLines {
  readonly lines: number
  readonly bytes: number
  /** Without those of runs before. */
  readonly put: number
  readonly rejected: number
}

/** Of a line: its record has the limit of its own. */
const MOST_LINE_BYTES = MAX_RECORD_BYTES + 1024

interface WaitingLine {
  readonly line: number
  /** Where the next line begins, bytes. */
  readonly end: number
  /** What became of it; a line without a record is nothing. */
  became?: 'put' | 'rejected' | 'nothing'
}

/** Puts the lines of an input, and keeps how far all of them are acknowledged. */
export class LinesPut {
  readonly #writer: RecordWriter
  readonly #options: PutLinesOptions
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** Lines that are not done, and those behind them. */
  #waiting: WaitingLine[] = []
  #at = 0
  /** Records that are not acknowledged yet, those of a block together. */
  readonly #inFlight = new Map<Promise<unknown>, WaitingLine[]>()
  #idle = Promise.withResolvers<void>()
  #acknowledged: AcknowledgedLines
  #fault: { readonly error: unknown } | undefined
  /** Records that were put durably. */
  put = 0
  /** Lines that are no records. */
  rejected = 0

  constructor(writer: RecordWriter, options: PutLinesOptions) {
    this.#writer = writer
    this.#options = options
    this.#acknowledged = { ...(options.from ?? { lines: 0, bytes: 0 }), put: 0, rejected: 0 }
  }

  get acknowledged(): AcknowledgedLines {
    this.#advance()
    return this.#acknowledged
  }

  /**
   * Puts all lines, and waits for their acknowledgements, also if the source fails.
   * @throws the errors of the source and of the writer; what was acknowledged before stays
   */
  async run(source: AsyncIterable<Uint8Array>): Promise<void> {
    let ended: { readonly error: unknown } | undefined
    try {
      await this.#putAll(source)
    } catch (error) {
      ended = { error }
    }
    if (this.#inFlight.size > 0) await this.#idle.promise
    await this.#options.progressed()
    const fault = this.#fault ?? ended
    if (fault !== undefined) throw fault.error
  }

  async #putAll(source: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const lines of linesIn(source, MOST_LINE_BYTES, this.#acknowledged)) {
      for (const line of lines) {
        if (this.#fault !== undefined) return
        const waits = this.#putLine(line)
        if (waits !== undefined) await waits
      }
      this.#advance()
      await this.#options.progressed()
    }
  }

  /** A promise if later lines have to wait. */
  #putLine(line: InputLine): Promise<void> | undefined {
    const entry: WaitingLine = { line: line.number, end: line.end }
    this.#waiting.push(entry)
    try {
      const record = this.#recordOf(line)
      if (record === undefined) entry.became = 'nothing'
      else if (this.#writer.isFull) return this.#putOnceRoom(record, entry)
      else this.#putRecord(record, entry)
      return undefined
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error
      return this.#reject({ line, why: error.message }, entry)
    }
  }

  async #putOnceRoom(record: NewRecord, entry: WaitingLine): Promise<void> {
    await this.#writer.room()
    // It must not overtake those of its key that failed.
    if (this.#fault === undefined) this.#putRecord(record, entry)
  }

  #putRecord(record: NewRecord, entry: WaitingLine): void {
    const durable = this.#writer.put(record)
    const others = this.#inFlight.get(durable)
    if (others !== undefined) {
      others.push(entry)
      return
    }
    const together = [entry]
    this.#inFlight.set(durable, together)
    durable.then(
      () => {
        this.put += together.length
        for (const one of together) one.became = 'put'
        this.#landed(durable)
      },
      error => {
        this.#fault ??= { error }
        this.#landed(durable)
      },
    )
  }

  async #reject(rejected: RejectedLine, entry: WaitingLine): Promise<void> {
    this.rejected += 1
    await this.#options.rejected(rejected)
    entry.became = 'rejected'
  }

  #landed(durable: Promise<unknown>): void {
    this.#inFlight.delete(durable)
    if (this.#inFlight.size > 0) return
    this.#idle.resolve()
    this.#idle = Promise.withResolvers()
  }

  /** `undefined` for an empty line. @throws InvalidValue */
  #recordOf({ bytes, isTooLong }: InputLine): NewRecord | undefined {
    if (isTooLong) throw new InvalidValue(`the record is longer than ${MAX_RECORD_BYTES} bytes`)
    const utf8 = withoutBlanks(bytes)
    return utf8.length === 0 ? undefined : recordIn({ json: this.#textOf(utf8), utf8 }, this.#options.fields)
  }

  #textOf(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes)
    } catch {
      throw new InvalidValue('the record is not UTF-8')
    }
  }

  /** Goes on to the first line that is not done, and forgets those before it. */
  #advance(): void {
    let { lines, bytes, put, rejected } = this.#acknowledged
    for (let entry = this.#waiting[this.#at]; entry?.became !== undefined; entry = this.#waiting[this.#at]) {
      ;[lines, bytes] = [entry.line, entry.end]
      if (entry.became === 'put') put += 1
      else if (entry.became === 'rejected') rejected += 1
      this.#at += 1
    }
    this.#acknowledged = { lines, bytes, put, rejected }
    if (this.#at < 10_000) return
    this.#waiting = this.#waiting.slice(this.#at)
    this.#at = 0
  }
}

const BLANKS = new Set(Buffer.from(' \t\r'))
const BYTE_ORDER_MARK = Buffer.from('\ufeff')

/** Blanks around a record, and byte order marks before it, are no part of it: a line of CRLF ends with a blank. */
function withoutBlanks(bytes: Uint8Array): Uint8Array {
  let start = 0
  let end = bytes.length
  for (;;) {
    if (BLANKS.has(bytes[start] ?? 0)) start += 1
    else if (BYTE_ORDER_MARK.every((byte, at) => bytes[start + at] === byte)) start += BYTE_ORDER_MARK.length
    else break
  }
  while (end > start && BLANKS.has(bytes[end - 1] ?? 0)) end -= 1
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end)
}
