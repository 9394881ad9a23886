import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import type { Terminal } from '../../cli/runtime.ts'
import { countText } from '../../formats/terminal/count-text.ts'
import { visibleText } from '../../stream/text.ts'

/** What is beyond nobody reads in a dialog. */
const MOST_LINES = 2_000
const MOST_COLUMNS = 2_000

/** What a command writes, as safe lines without colours, up to a bound. */
export class CapturedLines {
  readonly #onFull: () => void
  readonly #lines: string[] = []
  #dropped = 0

  /** @param onFull called once, when more comes than is kept */
  constructor(onFull: () => void) {
    this.#onFull = onFull
  }

  get isFull(): boolean {
    return this.#dropped > 0
  }

  /** A stream to write to. What is written to it stands in lines of its own. */
  terminal(columns: number | undefined): Terminal & { end(): void } {
    const decoder = new StringDecoder('utf8')
    let open = ''
    const add = (text: string) => {
      const lines = (open + text).split('\n')
      open = (lines.pop() ?? '').slice(0, MOST_COLUMNS)
      for (const line of lines) this.#add(line)
    }
    return {
      isTty: columns !== undefined,
      columns,
      write: async chunk => add(typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk))),
      end: () => {
        if (open !== '') this.#add(open)
        open = ''
      },
    }
  }

  /** All lines, with a last one that tells how many are missing. */
  end(): readonly string[] {
    if (this.#dropped === 0) return this.#lines
    return [...this.#lines, `… more than ${countText(MOST_LINES)} lines; the rest is left out`]
  }

  #add(line: string): void {
    if (this.#lines.length < MOST_LINES) {
      const plain = stripVTControlCharacters(line.slice(0, MOST_COLUMNS)).replace(/\r$/, '').replaceAll('\t', '  ')
      this.#lines.push(visibleText(plain))
      return
    }
    this.#dropped++
    if (this.#dropped === 1) this.#onFull()
  }
}
