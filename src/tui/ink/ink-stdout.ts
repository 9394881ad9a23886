import { EventEmitter } from 'node:events'

/**
 * The terminal as Ink is to see it. Its size changes when the frame of the new size is there, not before: Ink would draw the
 * old frame into the new size first. What has to be written together with the next frame waits for it here.
 */
export class InkStdout extends EventEmitter {
  readonly isTTY = true
  readonly writable = true
  readonly #stdout: NodeJS.WriteStream
  #size: { readonly columns: number; readonly rows: number }
  #prefix = ''
  readonly #mayWrite: () => boolean
  #isMuted = false

  /** @param mayWrite where it says no what is written is dropped: the screen is not ours, or not any more */
  constructor(stdout: NodeJS.WriteStream, mayWrite: () => boolean) {
    super()
    this.#stdout = stdout
    this.#mayWrite = mayWrite
    this.#size = stdout
  }

  get columns(): number {
    return this.#size.columns
  }

  get rows(): number {
    return this.#size.rows
  }

  get destroyed(): boolean {
    return this.#stdout.destroyed
  }

  get writableEnded(): boolean {
    return this.#stdout.writableEnded
  }

  write(text: string, ...rest: readonly unknown[]): boolean {
    const done = rest.find(argument => typeof argument === 'function') as (() => void) | undefined
    const whole = this.#isMuted || !this.#mayWrite() ? '' : text
    if (whole === '' && done === undefined) return true
    const prefix = whole === '' ? '' : this.#prefix
    if (prefix !== '') this.#prefix = ''
    return this.#stdout.write(prefix + whole, done)
  }

  /** Takes the size the terminal has now. */
  resize({ columns, rows }: { readonly columns: number; readonly rows: number }): void {
    this.#size = { columns, rows }
  }

  /** Goes out in one piece with whatever is written next. */
  before(text: string): void {
    this.#prefix = text
  }

  /** Whatever `run` writes is dropped. */
  muted(run: () => void): void {
    this.#isMuted = true
    try {
      run()
    } finally {
      this.#isMuted = false
    }
  }
}
