import { type IPty, spawn } from '@lydell/node-pty'
import unicode11 from '@xterm/addon-unicode11'
import headless, { type Terminal } from '@xterm/headless'
import { expect } from 'vitest'
import type { User } from './program.ts'

/** The modes that a program has set on a terminal. */
export interface Modes {
  readonly isAlternate: boolean
  readonly isCursorShown: boolean
  readonly wraps: boolean
  readonly marksPastes: boolean
}

/** A terminal as the shell has it. */
export const AT_REST: Modes = { isAlternate: false, isCursorShown: true, wraps: true, marksPastes: false }

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** A program in a pseudo-terminal, and the screen that it draws. */
export interface PtyProgram {
  readonly pid: number
  /** The text of the rows, once all that has arrived is drawn. */
  screen(): Promise<readonly string[]>
  /** Resolves with the screen as soon as it matches; otherwise rejects with the screen. */
  until(wanted: Wanted, what?: string): Promise<readonly string[]>
  /** Keys by name (`enter`, `ctrl-c`), or characters. All of them arrive at once. */
  press(...keys: readonly string[]): void
  type(text: string): void
  /** In the form in which terminals send a paste. */
  paste(text: string): void
  resize(size: Size): Promise<void>
  /** Overwrites the screen, like another program that uses the same terminal. */
  scribble(): Promise<void>
  modes(): Promise<Modes>
  kill(signal: NodeJS.Signals): void
  /** The window is closed. */
  hangUp(): void
  /** The exit code, when it has ended and all its output is drawn; after a signal 128 plus its number. */
  readonly ended: Promise<number>
  /** All its output, including sequences for other programs of the terminal. */
  readonly written: string
}

/** The expected screen: a pattern over its rows, joined by line feeds, or a predicate. */
export type Wanted = RegExp | ((rows: readonly string[]) => boolean)

export interface PtyOptions extends Partial<Size> {
  readonly env?: Readonly<Record<string, string>>
}

const PATIENCE_MS = 25_000
const SCRIBBLE = '#'

const NAMED: Readonly<Record<string, string>> = {
  enter: '\r',
  esc: '\x1b',
  tab: '\t',
  space: ' ',
  backspace: '\x7f',
  up: '\x1b[A',
  down: '\x1b[B',
  right: '\x1b[C',
  left: '\x1b[D',
}

/** Programs in terminals of one user; all are ended by `leave`. */
export class Terminals {
  readonly #user: User
  readonly #open = new Set<Pseudo>()

  constructor(user: User) {
    this.#user = user
  }

  /** `leasectl top` with these words. */
  top(argv: readonly string[], options?: PtyOptions): PtyProgram {
    return this.leasectl(['top', ...argv], options)
  }

  leasectl(argv: readonly string[], options?: PtyOptions): PtyProgram {
    const [file, ...first] = this.#user.command
    return this.#spawn(file, [...first, ...argv], options)
  }

  /** A script in which `leasectl` is a command. */
  shell(script: string, options?: PtyOptions): PtyProgram {
    return this.#spawn('bash', ['--noprofile', '--norc', '-c', script], options)
  }

  /** A shell for typed commands. */
  interactive(options?: PtyOptions): PtyProgram {
    return this.#spawn('bash', ['--noprofile', '--norc', '-i'], options)
  }

  async leave(): Promise<void> {
    await Promise.all([...this.#open].map(open => open.leave()))
  }

  #spawn(file: string, args: readonly string[], { columns = 100, rows = 24, env }: PtyOptions = {}): PtyProgram {
    const all = { ...this.#user.env, TERM: 'xterm-256color', PS1: '$ ', ...env }
    const pty = spawn(file, [...args], { cols: columns, rows, cwd: this.#user.home, env: all })
    const open = new Pseudo(pty as DestroyablePty, { columns, rows })
    this.#open.add(open)
    void open.ended.then(() => this.#open.delete(open))
    return open
  }
}

/** The type definitions omit it. */
type DestroyablePty = IPty & { destroy(): void }

class Pseudo implements PtyProgram {
  readonly ended: Promise<number>
  readonly #pty: DestroyablePty
  readonly #terminal: Terminal
  readonly #chunks: string[] = []
  readonly #waiting = new Set<() => void>()
  #isCursorShown = true
  /** Half of a frame has arrived: terminals do not show it yet. */
  #isInFrame = false
  #isGone = false

  constructor(pty: DestroyablePty, { columns, rows }: Size) {
    this.#pty = pty
    this.#terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 })
    this.#terminal.loadAddon(new unicode11.Unicode11Addon())
    this.#terminal.unicode.activeVersion = '11'
    for (const final of ['h', 'l'])
      this.#terminal.parser.registerCsiHandler({ prefix: '?', final }, params => {
        if (params.includes(25)) this.#isCursorShown = final === 'h'
        if (params.includes(2026)) this.#isInFrame = final === 'h'
        return false
      })
    this.#terminal.onData(answer => this.type(answer))
    pty.onData(text => {
      this.#chunks.push(text)
      this.#terminal.write(text, () => this.#look())
    })
    this.ended = new Promise(resolve =>
      pty.onExit(({ exitCode, signal = 0 }) =>
        this.#terminal.write('', () => {
          this.#isGone = true
          this.#look()
          resolve(signal > 0 ? 128 + signal : exitCode)
        }),
      ),
    )
  }

  get pid(): number {
    return this.#pty.pid
  }

  get written(): string {
    return this.#chunks.join('')
  }

  async screen(): Promise<readonly string[]> {
    await this.#drawn()
    return this.#rows()
  }

  until(wanted: Wanted, what = String(wanted)): Promise<readonly string[]> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        this.#waiting.delete(look)
        clearTimeout(timer)
        settle()
      }
      const fail = (why: string) =>
        end(() => reject(new Error(`${why}: ${what}\n${this.#rows().join('\n').trimEnd()}`)))
      const look = () => {
        if (this.#isInFrame && !this.#isGone) return
        const rows = this.#rows()
        if (wanted instanceof RegExp ? wanted.test(rows.join('\n')) : wanted(rows)) end(() => resolve(rows))
        else if (this.#isGone) fail('it ended before it showed')
      }
      const timer = setTimeout(() => fail('it never showed'), PATIENCE_MS)
      this.#waiting.add(look)
      look()
    })
  }

  press(...keys: readonly string[]): void {
    this.type(keys.map(sequenceOf).join(''))
  }

  type(text: string): void {
    if (!this.#isGone) this.#pty.write(text)
  }

  paste(text: string): void {
    this.type(`\x1b[200~${text}\x1b[201~`)
  }

  async resize({ columns, rows }: Size): Promise<void> {
    await this.#drawn()
    this.#terminal.resize(columns, rows)
    this.#pty.resize(columns, rows)
  }

  async scribble(): Promise<void> {
    const { rows, cols } = this.#terminal
    const lines = Array.from({ length: rows }, (_, row) => `\x1b[${row + 1};1H${SCRIBBLE.repeat(cols)}`)
    this.#terminal.write(lines.join(''))
    await this.#drawn()
  }

  async modes(): Promise<Modes> {
    await this.#drawn()
    const { wraparoundMode, bracketedPasteMode } = this.#terminal.modes
    return {
      isAlternate: this.#terminal.buffer.active.type === 'alternate',
      isCursorShown: this.#isCursorShown,
      wraps: wraparoundMode,
      marksPastes: bracketedPasteMode,
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#pty.kill(signal)
  }

  hangUp(): void {
    this.#pty.destroy()
  }

  async leave(): Promise<void> {
    if (this.#isGone) return
    this.kill('SIGKILL')
    this.hangUp()
    await this.ended
  }

  #drawn(): Promise<void> {
    return new Promise(resolve => this.#terminal.write('', resolve))
  }

  #rows(): readonly string[] {
    const { buffer, rows, cols } = this.#terminal
    const { active } = buffer
    // The alternate screen of this terminal keeps the cells of a wider one, out of sight.
    return Array.from({ length: rows }, (_, row) =>
      (active.getLine(active.viewportY + row)?.translateToString(true, 0, cols) ?? '').trimEnd(),
    )
  }

  #look(): void {
    for (const look of [...this.#waiting]) look()
  }
}

function sequenceOf(key: string): string {
  if (key.startsWith('ctrl-')) return String.fromCharCode(key.charCodeAt(5) & 0x1f)
  return NAMED[key] ?? key
}

/** Quits the dashboard. */
export async function quit(program: PtyProgram): Promise<void> {
  program.press('q')
  expect(await program.ended).toBe(0)
}
