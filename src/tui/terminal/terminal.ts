import type { EventEmitter } from 'node:events'
import { writeSync } from 'node:fs'
import { errorCode } from '../../util/errors.ts'
import { RESTORE_TITLE, SAVE_TITLE } from './notification.ts'

/** The process as the terminal code sees it; replaced in tests. */
export interface TermHost {
  /** Signals, uncaught errors, and the exit. */
  readonly events: Pick<EventEmitter, 'on' | 'off'>
  /** Writes synchronously, before queued output: the process is ending. */
  writeNow(text: string): void
  /** Stops the job of this process, as Ctrl-Z does. */
  stopJob(): void
  /** Queries the size of the terminal again. */
  readSize(): void
}

export interface TermHandlers {
  /** A signal that ends the program; `SIGHUP` also if the terminal went away. */
  onStop(signal: NodeJS.Signals): void
  /** An uncaught error. */
  onFault(error: unknown): void
  /** The terminal is ours again, with unknown content and possibly another size. */
  onResume(): void
}

/**
 * The modes of the terminal: raw keys without echo, the alternate screen, no autowrap, bracketed paste, no cursor.
 * However the program ends, the terminal is restored.
 */
export class Term {
  readonly #stdin: NodeJS.ReadStream
  readonly #stdout: NodeJS.WriteStream
  readonly #host: TermHost
  readonly #handlers: TermHandlers
  #isOpen = false
  #isOnScreen = false
  /** Besides the usual ones: sequences that set and reset them. */
  #modes = { on: '', off: '' }
  /** Returned to the shell by Ctrl-Z. */
  #isSuspended = false

  constructor(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream, handlers: TermHandlers, host = hostOf(stdout)) {
    this.#stdin = stdin
    this.#stdout = stdout
    this.#handlers = handlers
    this.#host = host
  }

  /** The shell has the terminal: nothing may be written. */
  get isSuspended(): boolean {
    return this.#isSuspended
  }

  /** The screen is ours and may be drawn on. */
  get hasScreen(): boolean {
    return this.#isOnScreen && !this.#isSuspended
  }

  /** Sets raw mode, before anything slow: keys typed meanwhile would be echoed into the first frame. */
  open(): void {
    this.#isOpen = true
    this.#listen('on')
    this.#setRaw(true)
  }

  /** Enters the alternate screen. */
  enterScreen(): void {
    this.#isOnScreen = true
    this.#write(`${ENTER}${this.#modes.on}`)
  }

  /** Takes clicks and the wheel from now on. */
  takeMouse(): void {
    this.#addModes(MOUSE)
  }

  /** Keeps the title of the window, and restores it at the end; once. */
  saveTitle(): void {
    if (!this.#modes.on.includes(SAVE_TITLE)) this.#addModes({ on: SAVE_TITLE, off: RESTORE_TITLE })
  }

  #addModes({ on, off }: { readonly on: string; readonly off: string }): void {
    this.#modes = { on: this.#modes.on + on, off: off + this.#modes.off }
    if (this.hasScreen) this.#write(on)
  }

  /** Restores the terminal. May be called more than once. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#listen('off')
    if (this.hasScreen) this.#write(`${this.#modes.off}${LEAVE}`)
    this.#isOnScreen = false
    this.#setRaw(false)
  }

  /**
   * Suspends to the shell, as Ctrl-Z does. A process that nothing could resume is not stopped by the system: it
   * continues.
   */
  suspend(): void {
    if (!this.#isOpen || this.#isSuspended || process.platform === 'win32') return
    this.#isSuspended = true
    this.#setRaw(false)
    this.#host.writeNow(`${this.#modes.off}${LEAVE}`)
    // Without a listener the signal has its default effect.
    this.#host.events.off('SIGTSTP', this.#onStopKey)
    this.#host.stopJob()
    setTimeout(() => this.#resume(), NOT_STOPPED_MS)
  }

  readonly #onStopKey = (): void => this.suspend()

  #resume(): void {
    if (!this.#isOpen || !this.#isSuspended) return
    this.#isSuspended = false
    this.#host.events.on('SIGTSTP', this.#onStopKey)
    this.#refresh()
  }

  /** Another program may have used the terminal. */
  #refresh(): void {
    // Node skips setting a mode that it believes to be set.
    this.#setRaw(false)
    this.#setRaw(true)
    this.#host.readSize()
    if (this.#isOnScreen) this.#write(`${ENTER}${this.#modes.on}`)
    this.#handlers.onResume()
  }

  readonly #onContinue = (): void => (this.#isSuspended ? this.#resume() : this.#refresh())

  readonly #onExit = (): void => {
    if (this.hasScreen) this.#host.writeNow(`${this.#modes.off}${LEAVE}`)
    this.#isOnScreen = false
    this.#setRaw(false)
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => this.#handlers.onStop(signal)
  readonly #onFault = (error: unknown): void => {
    if (isGone(error)) this.#handlers.onStop('SIGHUP')
    else this.#handlers.onFault(error)
  }

  #listen(how: 'on' | 'off'): void {
    const { events } = this.#host
    for (const signal of ENDING) events[how](signal, this.#onSignal)
    for (const fault of ['uncaughtException', 'unhandledRejection']) events[how](fault, this.#onFault)
    events[how]('exit', this.#onExit)
    if (process.platform !== 'win32') {
      events[how]('SIGCONT', this.#onContinue)
      events[how]('SIGTSTP', this.#onStopKey)
    }
    this.#stdin[how]('error', this.#onFault)
    this.#stdout[how]('error', this.#onFault)
  }

  #setRaw(isRaw: boolean): void {
    try {
      this.#stdin.setRawMode(isRaw)
    } catch (error) {
      // The terminal is gone: it has no modes.
      if (!isGone(error)) throw error
    }
  }

  #write(text: string): void {
    if (!this.#stdout.destroyed) this.#stdout.write(text)
  }
}

/** SIGTERM and SIGINT abort the program's signal instead. */
const ENDING = ['SIGHUP', 'SIGQUIT'] as const
/** A stopped process notices the passing of time only when it resumes. */
const NOT_STOPPED_MS = 100

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[H'
/** The order matters: colours and a synchronised frame are ended first. */
const LEAVE = '\x1b[?2026l\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?1049l\x1b[?25h'

/** Presses and the wheel, in the form that has no limit of columns. */
const MOUSE = { on: '\x1b[?1000h\x1b[?1006h', off: '\x1b[?1006l\x1b[?1000l' }

/** Error codes of a closed terminal. */
function isGone(error: unknown): boolean {
  const code = errorCode(error)
  return code === 'EIO' || code === 'EPIPE' || code === 'ENOTTY' || code === 'EBADF' || code === 'ENXIO'
}

function hostOf(stdout: NodeJS.WriteStream): TermHost {
  return {
    events: process,
    writeNow(text) {
      try {
        writeSync('fd' in stdout && typeof stdout.fd === 'number' ? stdout.fd : 1, text)
      } catch {
        // The terminal is gone.
      }
    },
    // The whole job: `npx` and the shells that started us stop too.
    stopJob: () => void process.kill(0, 'SIGTSTP'),
    // Node queries the size on this signal.
    readSize: () => void process.emit('SIGWINCH'),
  }
}

/** Terminals accept no more; some drop the connection. Bytes of the text. */
const MOST_BYTES = 50_000

/**
 * The escape sequence (OSC 52) that copies a text to the terminal's clipboard, also over SSH. tmux forwards it if
 * `set-clipboard` is on, and wrapped if `allow-passthrough` is: it gets both forms.
 *
 * @returns `undefined` for texts of more than 50 000 bytes
 */
export function clipboardSequence(text: string, isInTmux: boolean): string | undefined {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length > MOST_BYTES) return undefined
  const plain = `\x1b]52;c;${bytes.toString('base64')}\x07`
  return isInTmux ? `${plain}\x1bPtmux;${plain.replaceAll('\x1b', '\x1b\x1b')}\x1b\\` : plain
}
