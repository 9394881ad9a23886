import type { Action } from '../state/state.ts'

/** A press of a button or a step of the wheel, at a cell counted from 0. */
export interface MouseReport {
  readonly button: 'left' | 'wheel-up' | 'wheel-down'
  readonly row: number
  readonly column: number
}

/** Input that is not a mouse report is an action as it is. */
type Input = Action | ({ readonly kind: 'mouse-report' } & MouseReport)

export interface KeyboardHandlers {
  onAction(action: Action): void
  onMouse?(report: MouseReport): void
  /** The input has ended. */
  onEnd(): void
}

/** Reads a terminal's input until it is closed. */
export class Keyboard {
  readonly #stdin: NodeJS.ReadStream
  readonly #handlers: KeyboardHandlers
  readonly #reader = new KeyReader()
  #timer: NodeJS.Timeout | undefined

  constructor(stdin: NodeJS.ReadStream, handlers: KeyboardHandlers) {
    this.#stdin = stdin
    this.#handlers = handlers
    stdin.setEncoding('utf8')
    stdin.on('data', this.#onData)
    stdin.on('end', this.#onEnd)
    stdin.ref()
    stdin.resume()
  }

  /** Stops reading; unread input is left to the next reader. */
  close(): void {
    clearTimeout(this.#timer)
    this.#stdin.off('data', this.#onData)
    this.#stdin.off('end', this.#onEnd)
    this.#stdin.pause()
    this.#stdin.unref()
  }

  readonly #onData = (chunk: string): void => {
    clearTimeout(this.#timer)
    this.#hand(this.#reader.push(chunk))
    const { waitMs } = this.#reader
    if (waitMs !== undefined) this.#timer = setTimeout(() => this.#hand(this.#reader.flush()), waitMs)
  }

  readonly #onEnd = (): void => {
    this.#hand(this.#reader.flush())
    this.#handlers.onEnd()
  }

  #hand(inputs: readonly Input[]): void {
    for (const input of inputs) {
      if (input.kind !== 'mouse-report') this.#handlers.onAction(input)
      else {
        const { kind: _, ...report } = input
        this.#handlers.onMouse?.(report)
      }
    }
  }
}

/**
 * Turns terminal input into keys and pastes. Sequences may arrive in parts; only time shows whether a lone escape is
 * the key or the start of a sequence: `flush` is called when nothing has arrived for `waitMs`.
 */
export class KeyReader {
  #pending = ''
  #paste: string | undefined

  /** How long to wait for the rest, ms; `undefined` if nothing is incomplete. */
  get waitMs(): number | undefined {
    if (this.#paste !== undefined) return PASTE_WAIT_MS
    return this.#pending === '' ? undefined : ESCAPE_WAIT_MS
  }

  push(chunk: string): readonly Input[] {
    const actions: Input[] = []
    let rest = this.#pending + chunk
    this.#pending = ''
    while (rest !== '') {
      if (this.#paste !== undefined) rest = this.#readPaste(rest, actions)
      else if (rest.startsWith('\x1b')) rest = this.#readEscape(rest, actions)
      else rest = readText(rest, actions)
    }
    return actions
  }

  /** Ends the wait: the rest will not come. */
  flush(): readonly Input[] {
    const pasted = (this.#paste ?? '') + (this.#paste === undefined ? '' : this.#pending)
    const pending = this.#paste === undefined ? this.#pending : ''
    this.#paste = undefined
    this.#pending = ''
    if (pasted !== '') return [{ kind: 'paste', text: pasted }]
    if (pending === '') return []
    // Two characters may be two keys at once; longer fragments are not keys.
    return pending.length > 2 ? [] : [ESCAPE, ...keysOf(pending.slice(1))]
  }

  #readEscape(text: string, actions: Input[]): string {
    if (START.startsWith(text) || UNFINISHED.test(text)) {
      this.#pending = text
      return ''
    }
    if (text.startsWith(START)) {
      this.#paste = ''
      return text.slice(START.length)
    }
    const sequence = SEQUENCE.exec(text)?.[0]
    if (sequence !== undefined) {
      const key = keyOfSequence(sequence)
      const report = mouseReport(sequence)
      if (report !== undefined) actions.push({ kind: 'mouse-report', ...report })
      else if (key !== undefined) actions.push(press(key))
      return text.slice(sequence.length)
    }
    // The escape key, and keys pressed right after it.
    actions.push(ESCAPE)
    return text.slice(1)
  }

  #readPaste(text: string, actions: Input[]): string {
    const end = text.indexOf(END)
    const cutAt = end < 0 ? text.length - beginningOfEnd(text) : end
    this.#paste = ((this.#paste ?? '') + text.slice(0, cutAt)).slice(0, MOST_PASTED)
    if (end < 0) {
      this.#pending = text.slice(cutAt)
      return ''
    }
    if (this.#paste !== '') actions.push({ kind: 'paste', text: this.#paste })
    this.#paste = undefined
    return text.slice(end + END.length)
  }
}

/** Slow connections spread the parts of one key; a person takes longer between two keys. */
const ESCAPE_WAIT_MS = 30
const PASTE_WAIT_MS = 500
/** Longer pastes are cut. UTF-16 units. */
const MOST_PASTED = 100_000
/** More at once than a held key can produce. UTF-16 units. */
const MOST_TYPED = 1_000
const START = '\x1b[200~'
const END = '\x1b[201~'
/** A CSI or SS3 sequence, or a string such as a terminal's response. */
const SEQUENCE = /^\x1b(?:\[\[?[0-?]*[ -/]*[@-~]|O[\d;]*[@-~]|[\]P_^X][^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\))/
const UNFINISHED = /^\x1b(?:\[\[?[0-?]*[ -/]*|O[\d;]*|[\]P_^X][^\x07\x1b\x9c]*\x1b?)?$/

const CONTROL_KEY = /[^\P{Control}\r\n\t]/u
const INNER_BREAK = /[^\r\n][\r\n]+[^\r\n]/

const ESCAPE: Action = { kind: 'key', press: { key: 'escape', text: undefined } }

/** Number of characters at the end of the text that may be the start of the end mark. */
function beginningOfEnd(text: string): number {
  for (let length = END.length - 1; length > 0; length -= 1) if (text.endsWith(END.slice(0, length))) return length
  return 0
}

/** Reads up to the next escape. */
function readText(text: string, actions: Input[]): string {
  const end = text.indexOf('\x1b')
  const run = end < 0 ? text : text.slice(0, end)
  // Line breaks between other characters in one chunk, or that many characters, are a paste of a terminal that does not
  // mark pastes.
  if ((run.length > MOST_TYPED || INNER_BREAK.test(run)) && !CONTROL_KEY.test(run))
    actions.push({ kind: 'paste', text: run })
  else actions.push(...keysOf(run))
  return text.slice(run.length)
}

let segmenter: Intl.Segmenter | undefined

function keysOf(text: string): Action[] {
  if (text === '') return []
  segmenter ??= new Intl.Segmenter()
  return [...segmenter.segment(text)].flatMap(({ segment }) => {
    if (segment === '\r\n') return [press('enter')]
    const control = CONTROL_KEYS.get(segment)
    if (control !== undefined) return [press(control)]
    if (segment === ' ') return [press('space', ' ')]
    return /^\p{Control}/u.test(segment) ? [] : [press(segment, segment)]
  })
}

function press(key: string, text?: string): Action {
  return { kind: 'key', press: { key, text } }
}

/** Control characters that are separate keys, or letters with Ctrl. */
const CONTROL_KEYS: ReadonlyMap<string, string> = new Map([
  ...Array.from(
    { length: 26 },
    (_, at) => [String.fromCharCode(at + 1), `ctrl-${String.fromCharCode(97 + at)}`] as const,
  ),
  ['\x00', 'ctrl-space'],
  ['\x1c', 'ctrl-\\'],
  ['\x1d', 'ctrl-]'],
  ['\x1e', 'ctrl-^'],
  ['\x1f', 'ctrl-_'],
  ['\r', 'enter'],
  ['\n', 'enter'],
  ['\t', 'tab'],
  ['\x08', 'backspace'],
  ['\x7f', 'backspace'],
])

/**
 * The key name of an escape sequence, prefixed with `ctrl-`, `alt-` and `shift-` for held modifiers: `ctrl-left`.
 * `undefined` for other sequences, such as responses and mouse reports, and for unknown keys.
 */
function keyOfSequence(sequence: string): string | undefined {
  const [, introducer, first, held, end] = PARTS.exec(sequence) ?? []
  if (introducer === undefined || end === undefined) return undefined
  if (end === 'Z') return 'shift-tab'
  if (introducer === 'O' && end === 'M') return 'enter'
  const name = end === '~' ? BY_NUMBER.get(Number(first)) : nameByLetter(introducer, end)
  return name === undefined ? undefined : `${modifiers(Number(held || 1) - 1)}${name}`
}

const BUTTONS: ReadonlyMap<number, MouseReport['button']> = new Map([
  [0, 'left'],
  [64, 'wheel-up'],
  [65, 'wheel-down'],
])

/** A press in the SGR form, `ESC [ < 0 ; 12 ; 5 M`; `undefined` for releases, other buttons and other sequences. */
function mouseReport(sequence: string): MouseReport | undefined {
  const [, code, column, row] = /^\x1b\[<(\d{1,3});(\d{1,5});(\d{1,5})M$/.exec(sequence) ?? []
  const button = BUTTONS.get(Number(code ?? Number.NaN))
  return button && { button, row: Math.max(0, Number(row) - 1), column: Math.max(0, Number(column) - 1) }
}

/** `ESC [ 1 ; 5 A`, `ESC [ 5 ~`, `ESC O P`, `ESC [[ A`. */
const PARTS = /^\x1b(\[\[?|O)(\d*)(?:;(\d+))?([A-Za-z~])$/

const BY_LETTER: ReadonlyMap<string, string> = new Map([
  ['A', 'up'],
  ['B', 'down'],
  ['C', 'right'],
  ['D', 'left'],
  ['F', 'end'],
  ['H', 'home'],
  ['P', 'f1'],
  ['Q', 'f2'],
  ['R', 'f3'],
  ['S', 'f4'],
])

const BY_NUMBER: ReadonlyMap<number, string> = new Map([
  [1, 'home'],
  [2, 'insert'],
  [3, 'delete'],
  [4, 'end'],
  [5, 'pageup'],
  [6, 'pagedown'],
  [7, 'home'],
  [8, 'end'],
  ...[11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 23, 24].map((code, at) => [code, `f${at + 1}`] as const),
])

/** The Linux console sends F1 to F5 as `ESC [[ A` to `ESC [[ E`. */
function nameByLetter(introducer: string, letter: string): string | undefined {
  if (introducer !== '[[') return BY_LETTER.get(letter)
  const at = 'ABCDE'.indexOf(letter)
  return at < 0 ? undefined : `f${at + 1}`
}

function modifiers(bits: number): string {
  return `${bits & 4 ? 'ctrl-' : ''}${bits & 2 ? 'alt-' : ''}${bits & 1 ? 'shift-' : ''}`
}
