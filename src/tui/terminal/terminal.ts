import type { EventEmitter } from 'node:events'
import { writeSync } from 'node:fs'
import { errorCode } from '../../util/errors.ts'

/** What of the process a terminal has to do with; tests hand in their own. */
export interface TermHost {
  /** Signals, errors nobody caught, and the exit. */
  readonly events: Pick<EventEmitter, 'on' | 'off'>
  /** Past everything that is queued: the process ends. */
  writeNow(text: string): void
  /** Stops the job that this process is part of, as Ctrl-Z does. */
  stopJob(): void
  /** Asks for the size of the terminal again. */
  readSize(): void
}

export interface TermHandlers {
  /** A signal that ends the program, or the terminal went away: `SIGHUP`. */
  onStop(signal: NodeJS.Signals): void
  /** An error that nobody caught. */
  onFault(error: unknown): void
  /** The terminal is ours again and may show anything; its size may be another one. */
  onResume(): void
}

/**
 * The modes of the terminal: keys as they come, no echo, the alternate screen, lines that do not wrap, marked pastes, no
 * cursor. Whatever way the program ends, the terminal is left as it was.
 */
export class Term {
  readonly #stdin: NodeJS.ReadStream
  readonly #stdout: NodeJS.WriteStream
  readonly #host: TermHost
  readonly #handlers: TermHandlers
  #isOpen = false
  #isOnScreen = false
  /** Given back to the shell by Ctrl-Z. */
  #isLent = false

  constructor(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream, handlers: TermHandlers, host = hostOf(stdout)) {
    this.#stdin = stdin
    this.#stdout = stdout
    this.#handlers = handlers
    this.#host = host
  }

  /** The shell has it: nothing may be written. */
  get isLent(): boolean {
    return this.#isLent
  }

  /** The screen is ours, and may be drawn on. */
  get hasScreen(): boolean {
    return this.#isOnScreen && !this.#isLent
  }

  /** Takes the keys, before anything slow: what is typed meanwhile would be echoed into the first frame. */
  open(): void {
    this.#isOpen = true
    this.#listen('on')
    this.#setRaw(true)
  }

  /** Takes the screen. */
  enterScreen(): void {
    this.#isOnScreen = true
    this.#write(ENTER)
  }

  /** Gives everything back. More than once does no harm. */
  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#listen('off')
    if (this.hasScreen) this.#write(LEAVE)
    this.#isOnScreen = false
    this.#setRaw(false)
  }

  /** To the shell, as Ctrl-Z does. Where nobody could bring the program back the system does not stop it: it goes on. */
  suspend(): void {
    if (!this.#isOpen || this.#isLent || process.platform === 'win32') return
    this.#isLent = true
    this.#setRaw(false)
    this.#host.writeNow(LEAVE)
    // Without a listener the signal does what it always does.
    this.#host.events.off('SIGTSTP', this.#onStopKey)
    this.#host.stopJob()
    setTimeout(() => this.#takeBack(), NOT_STOPPED_MS)
  }

  readonly #onStopKey = (): void => this.suspend()

  #takeBack(): void {
    if (!this.#isOpen || !this.#isLent) return
    this.#isLent = false
    this.#host.events.on('SIGTSTP', this.#onStopKey)
    this.#refresh()
  }

  /** Somebody else may have had the terminal. */
  #refresh(): void {
    // Node sets no mode that it believes to be set.
    this.#setRaw(false)
    this.#setRaw(true)
    this.#host.readSize()
    if (this.#isOnScreen) this.#write(ENTER)
    this.#handlers.onResume()
  }

  readonly #onContinue = (): void => (this.#isLent ? this.#takeBack() : this.#refresh())

  readonly #onExit = (): void => {
    if (this.hasScreen) this.#host.writeNow(LEAVE)
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
      // A terminal that is gone has no modes to set.
      if (!isGone(error)) throw error
    }
  }

  #write(text: string): void {
    if (!this.#stdout.destroyed) this.#stdout.write(text)
  }
}

/** SIGTERM and SIGINT abort the program's signal: that is the program's own doing. */
const ENDING = ['SIGHUP', 'SIGQUIT'] as const
/** A process that was stopped hears of time passing only when it goes on. */
const NOT_STOPPED_MS = 100

const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[H'
/** In this order; colours and a frame that was begun are ended first. */
const LEAVE = '\x1b[?2026l\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?1049l\x1b[?25h'

/** What a terminal that was closed answers with. */
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
        // Nobody is there to read it.
      }
    },
    // Of the whole job: `npx` and shells that started us stop with us.
    stopJob: () => void process.kill(0, 'SIGTSTP'),
    // Node asks for the size when it hears of another one.
    readSize: () => void process.emit('SIGWINCH'),
  }
}

/** Terminals take no more; some drop the connection at longer ones. Bytes of the text. */
const MOST_BYTES = 50_000

/**
 * The escape sequence (OSC 52) that asks the terminal to take a text into its clipboard, here and over SSH. tmux hands it
 * on by itself where `set-clipboard` is on, and wrapped where `allow-passthrough` is: it gets both.
 *
 * @returns `undefined` for texts of more than 50 000 bytes
 */
export function clipboardSequence(text: string, isInTmux: boolean): string | undefined {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length > MOST_BYTES) return undefined
  const plain = `\x1b]52;c;${bytes.toString('base64')}\x07`
  return isInTmux ? `${plain}\x1bPtmux;${plain.replaceAll('\x1b', '\x1b\x1b')}\x1b\\` : plain
}
