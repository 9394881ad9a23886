import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import unicode11 from '@xterm/addon-unicode11'
import headless, { type IBufferCell, type Terminal } from '@xterm/headless'
import { CursorTrack } from './touched-rows.ts'

/** A terminal emulated in memory: output to `stdout` is on its screen, typed text comes out of `stdin`. */
export interface EmulatedTerminal {
  readonly stdout: NodeJS.WriteStream
  readonly stdin: NodeJS.ReadStream
  /** Passes characters to the program in one chunk, unchanged: `\x1b[A` is the key up. */
  type(text: string): void
  /** The end of the input: the other side has hung up. */
  endInput(): void
  /** Earlier output is parsed first; then the program is notified. */
  resize(columns: number, rows: number): Promise<void>
  /** The text of the visible rows once all output is parsed, trailing blanks removed. */
  screen(): Promise<string[]>
  cells(): Promise<Cell[][]>
  /** The position of the cursor, from 0, and whether the alternate screen is shown. */
  state(): Promise<{ readonly row: number; readonly column: number; readonly isAlternate: boolean }>
  /** All output so far. */
  readonly written: string
  /** All arguments of `setRawMode`. */
  readonly rawModes: readonly boolean[]
  /** The number of times the whole screen was cleared: `ESC[2J` and `ESC[3J`. */
  readonly clears: number
  /** One for each write that printed or erased cells. Complete after `screen()`. */
  readonly paints: readonly Paint[]
}

/** One character on the screen. A wide one has width 2 and is followed by a cell of width 0 and no text. */
export interface Cell {
  readonly text: string
  readonly width: number
  readonly foreground: Colour
  readonly background: Colour
  readonly bold: boolean
  readonly dim: boolean
  readonly inverse: boolean
}

/** `undefined`: the terminal's own; a number from 0 to 255: of the palette, 0 to 15 of the theme; otherwise `#rrggbb`. */
export type Colour = number | string | undefined

/** The rows, from 0, on which one write printed or erased. */
export interface Paint {
  readonly touched: readonly number[]
  /** Those of them that look the same as before. */
  readonly unchanged: readonly number[]
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export function openTerminal(size: TerminalSize): EmulatedTerminal {
  // Like the terminal driver for programs in raw mode: a line feed moves to the first column too.
  const options = { convertEol: true, allowProposedApi: true, scrollback: 0 }
  const terminal = new headless.Terminal({ cols: size.columns, rows: size.rows, ...options })
  terminal.loadAddon(new unicode11.Unicode11Addon())
  terminal.unicode.activeVersion = '11'
  const written: string[] = []
  const rawModes: boolean[] = []
  const watch = new PaintWatch(terminal)
  const stdout = new EmulatedStdout(size, text => {
    written.push(text)
    watch.write(text)
  })
  const stdin = emulatedStdin(rawModes)
  const settled = () => new Promise<void>(resolve => terminal.write('', resolve))
  return {
    stdout: stdout as unknown as NodeJS.WriteStream,
    stdin: stdin as unknown as NodeJS.ReadStream,
    type: text => void stdin.write(text),
    endInput: () => void stdin.end(),
    async resize(columns, rows) {
      await settled()
      terminal.resize(columns, rows)
      stdout.resize({ columns, rows })
    },
    async screen() {
      await settled()
      return visibleRows(terminal).map(
        row => terminal.buffer.active.getLine(row)?.translateToString(true, 0, terminal.cols).trimEnd() ?? '',
      )
    },
    async cells() {
      await settled()
      return visibleRows(terminal).map(row => cellsOf(terminal, row))
    },
    async state() {
      await settled()
      const { cursorY, cursorX, type } = terminal.buffer.active
      return { row: cursorY, column: cursorX, isAlternate: type === 'alternate' }
    },
    get written() {
      return written.join('')
    },
    rawModes,
    get clears() {
      return (written.join('').match(/\x1b\[[23]J/g) ?? []).length
    },
    paints: watch.paints,
  }
}

/** The parts of a terminal's stdout that Ink and Node use. */
class EmulatedStdout extends EventEmitter {
  readonly isTTY = true
  readonly fd = -1
  columns: number
  rows: number
  readonly #onText: (text: string) => void

  constructor({ columns, rows }: TerminalSize, onText: (text: string) => void) {
    super()
    this.columns = columns
    this.rows = rows
    this.#onText = onText
  }

  write(text: string | Uint8Array, ...rest: readonly unknown[]): boolean {
    if (text.length > 0) this.#onText(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'))
    const done = rest.at(-1)
    if (typeof done === 'function') queueMicrotask(() => done())
    return true
  }

  resize({ columns, rows }: TerminalSize): void {
    this.columns = columns
    this.rows = rows
    this.emit('resize')
  }
}

function emulatedStdin(rawModes: boolean[]): PassThrough {
  const stdin = new PassThrough()
  return Object.assign(stdin, {
    isTTY: true,
    isRaw: false,
    fd: -1,
    ref: () => stdin,
    unref: () => stdin,
    setRawMode(isRaw: boolean) {
      rawModes.push(isRaw)
      Object.assign(stdin, { isRaw })
      return stdin
    },
  })
}

/** Parses output and records the rows that each write touched, and whether they look different now. */
class PaintWatch {
  readonly paints: Paint[] = []
  readonly #terminal: Terminal
  readonly #track = new CursorTrack()
  readonly #cell: IBufferCell
  /** The look of the rows, kept from write to write; empty if any of them may have moved. */
  #looks: string[] = []

  constructor(terminal: Terminal) {
    this.#terminal = terminal
    this.#cell = terminal.buffer.active.getNullCell()
    const forget = () => {
      this.#looks = []
    }
    terminal.onResize(forget)
    terminal.onScroll(forget)
    terminal.buffer.onBufferChange(forget)
  }

  write(text: string): void {
    this.#terminal.write('', () => {
      if (this.#looks.length === 0) this.#looks = visibleRows(this.#terminal).map(row => this.#look(row))
    })
    this.#terminal.write(text, () => {
      const touched = [...this.#track.follow(text, this.#terminal.rows)].sort((a, b) => a - b)
      const unchanged = touched.filter(row => {
        const before = this.#looks[row]
        this.#looks[row] = this.#look(row)
        return this.#looks[row] === before
      })
      if (touched.length > 0) this.paints.push({ touched, unchanged })
    })
  }

  /** Text and colors of a row. It runs for many rows: no objects are created for their cells. */
  #look(row: number): string {
    const line = this.#terminal.buffer.active.getLine(row)
    let look = ''
    for (let column = 0; column < this.#terminal.cols; column += 1) {
      const cell = line?.getCell(column, this.#cell)
      if (cell === undefined) continue
      const flags = cell.isBold() | cell.isDim() | cell.isInverse()
      look += `${cell.getChars()}\0${cell.getFgColor()},${cell.getFgColorMode()},${cell.getBgColor()},${flags};`
    }
    return look
  }
}

function visibleRows(terminal: Terminal): number[] {
  return Array.from({ length: terminal.rows }, (_, row) => terminal.buffer.active.viewportY + row)
}

function cellsOf(terminal: Terminal, row: number): Cell[] {
  const line = terminal.buffer.active.getLine(row)
  return Array.from({ length: terminal.cols }, (_, column) => cellOf(line?.getCell(column)))
}

function cellOf(cell: IBufferCell | undefined): Cell {
  if (cell === undefined) throw new Error('there is no such cell')
  return {
    text: cell.getChars(),
    width: cell.getWidth(),
    foreground: cell.isFgDefault() ? undefined : colour(cell.getFgColor(), cell.isFgRGB()),
    background: cell.isBgDefault() ? undefined : colour(cell.getBgColor(), cell.isBgRGB()),
    bold: cell.isBold() !== 0,
    dim: cell.isDim() !== 0,
    inverse: cell.isInverse() !== 0,
  }
}

function colour(value: number, isRgb: boolean): Colour {
  return isRgb ? `#${value.toString(16).padStart(6, '0')}` : value
}
