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
  /** Lines and bytes that were put before and are not in the source. */
  readonly from?: { readonly lines: number; readonly bytes: number }
}

/** Blanks around a record are no part of it; a line of CRLF ends with one. */
const BLANKS = /^[\ufeff \t\r]+|[ \t\r]+$/g
/** Of a line: its record has the limit of its own. */
const MOST_LINE_BYTES = MAX_RECORD_BYTES + 1024

/** Puts the lines of an input, and keeps how far all of them are acknowledged. */
export class LinesPut {
  readonly #writer: RecordWriter
  readonly #options: PutLinesOptions
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  /** Lines that are not done, and those behind them. */
  #waiting: { readonly line: number; readonly end: number; isDone: boolean }[] = []
  #at = 0
  #acknowledged: { readonly lines: number; readonly bytes: number }
  #fault: { readonly error: unknown } | undefined
  /** Records that were put durably. */
  put = 0
  /** Lines that are no records. */
  rejected = 0

  constructor(writer: RecordWriter, options: PutLinesOptions) {
    this.#writer = writer
    this.#options = options
    this.#acknowledged = options.from ?? { lines: 0, bytes: 0 }
  }

  /** Up to here all lines are durable, or rejected. */
  get acknowledged(): { readonly lines: number; readonly bytes: number } {
    return this.#acknowledged
  }

  /**
   * Puts all lines, and waits for their acknowledgements, also if the source fails.
   * @throws the errors of the source and of the writer; what was acknowledged before stays
   */
  async run(source: AsyncIterable<Uint8Array>): Promise<void> {
    const inFlight = new Set<Promise<void>>()
    let ended: { readonly error: unknown } | undefined
    try {
      await this.#putAll(source, inFlight)
    } catch (error) {
      ended = { error }
    }
    await Promise.all(inFlight)
    await this.#options.progressed()
    const fault = this.#fault ?? ended
    if (fault !== undefined) throw fault.error
  }

  async #putAll(source: AsyncIterable<Uint8Array>, inFlight: Set<Promise<void>>): Promise<void> {
    for await (const lines of linesIn(source, MOST_LINE_BYTES, this.#acknowledged)) {
      for (const line of lines) {
        if (this.#fault !== undefined) return
        await this.#putLine(line, inFlight)
      }
      await this.#options.progressed()
    }
  }

  async #putLine(line: InputLine, inFlight: Set<Promise<void>>): Promise<void> {
    const entry = { line: line.number, end: line.end, isDone: false }
    this.#waiting.push(entry)
    const done = () => {
      entry.isDone = true
      this.#advance()
    }
    let record: NewRecord | undefined
    try {
      record = this.#recordOf(line)
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error
      this.rejected += 1
      await this.#options.rejected({ line, why: error.message })
    }
    if (record === undefined) return done()
    if (this.#writer.isFull) await this.#writer.room()
    const putting = this.#writer.put(record).then(
      () => {
        this.put += 1
        inFlight.delete(putting)
        done()
      },
      error => {
        this.#fault ??= { error }
        inFlight.delete(putting)
      },
    )
    inFlight.add(putting)
  }

  /** `undefined` for an empty line. @throws InvalidValue */
  #recordOf({ bytes, isTooLong }: InputLine): NewRecord | undefined {
    if (isTooLong) throw new InvalidValue(`the record is longer than ${MAX_RECORD_BYTES} bytes`)
    const text = this.#textOf(bytes).replace(BLANKS, '')
    return text === '' ? undefined : recordIn(text, this.#options.fields)
  }

  #textOf(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes)
    } catch {
      throw new InvalidValue('the record is not UTF-8')
    }
  }

  #advance(): void {
    for (let entry = this.#waiting[this.#at]; entry?.isDone; entry = this.#waiting[this.#at]) {
      this.#acknowledged = { lines: entry.line, bytes: entry.end }
      this.#at += 1
    }
    if (this.#at < 10_000) return
    this.#waiting = this.#waiting.slice(this.#at)
    this.#at = 0
  }
}
