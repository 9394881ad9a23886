import type { Action } from '../state/state.ts'
import { KeyReader } from './key-reader.ts'

export interface KeyboardHandlers {
  onAction(action: Action): void
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

  /** Reads no more; what was not read yet is left to whoever reads next. */
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

  #hand(actions: readonly Action[]): void {
    for (const action of actions) this.#handlers.onAction(action)
  }
}
