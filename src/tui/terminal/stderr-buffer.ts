import type { EventEmitter } from 'node:events'
import { writeSync } from 'node:fs'

/** Output of the process besides the dashboard. */
export interface StderrSource {
  readonly stderr: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>
  /** Warnings, and the exit. */
  readonly events: Pick<EventEmitter, 'on' | 'off' | 'listeners'>
}

type Listener = (...values: unknown[]) => void

/** More would not be read. UTF-16 units. */
const MOST_HELD = 64_000

/**
 * Holds back writes to a standard error on the terminal, and Node's warnings: they would scroll the dashboard and be
 * lost with it. They are written when the screen is closed, or at process exit.
 */
export class StderrBuffer {
  readonly #source: StderrSource
  readonly #write: StderrSource['stderr']['write']
  readonly #listeners: readonly Listener[]
  readonly #warnings: unknown[] = []
  #text = ''
  #isHolding: boolean

  constructor(talker: StderrSource) {
    this.#source = talker
    this.#write = talker.stderr.write
    this.#listeners = talker.events.listeners('warning') as Listener[]
    this.#isHolding = talker.stderr.isTTY
    if (!this.#isHolding) return
    for (const listener of this.#listeners) talker.events.off('warning', listener)
    talker.events.on('warning', this.#onWarning)
    talker.events.on('exit', this.#onExit)
    talker.stderr.write = (chunk: unknown, ...rest: readonly unknown[]) => this.#hold(chunk, rest)
  }

  /** Writes the held text and stops holding. */
  release(): void {
    const text = this.#restore()
    if (text !== '') this.#source.stderr.write(text)
    for (const warning of this.#warnings.splice(0)) for (const listener of this.#listeners) listener(warning)
  }

  readonly #onWarning = (warning: unknown): void => {
    if (this.#warnings.length < MOST_WARNINGS) this.#warnings.push(warning)
  }

  /** Queued writes would be lost now. */
  readonly #onExit = (): void => {
    const text = this.#restore()
    try {
      if (text !== '') writeSync(2, text)
    } catch {
      // The terminal is gone.
    }
  }

  #hold(chunk: unknown, rest: readonly unknown[]): boolean {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString('utf8')
    this.#text = (this.#text + text).slice(0, MOST_HELD)
    const done = rest.find(one => typeof one === 'function')
    if (done !== undefined) queueMicrotask(done as () => void)
    return true
  }

  #restore(): string {
    if (!this.#isHolding) return ''
    this.#isHolding = false
    const { stderr } = this.#source
    stderr.write = this.#write
    this.#source.events.off('warning', this.#onWarning)
    this.#source.events.off('exit', this.#onExit)
    for (const listener of this.#listeners) this.#source.events.on('warning', listener)
    const text = this.#text
    this.#text = ''
    return text
  }
}

const MOST_WARNINGS = 20
