import { EventEmitter } from 'node:events'

/**
 * The terminal as Ink sees it. Its size changes together with the frame of the new size: otherwise Ink would first draw
 * the old frame in the new size. Text that must be written together with the next frame is kept here.
 */
export class InkStdout extends EventEmitter {
  readonly isTTY = true
  readonly writable = true
  readonly #stdout: NodeJS.WriteStream
  #size: { readonly columns: number; readonly rows: number }
  #prefix = ''
  readonly #mayWrite: () => boolean
  #isMuted = false

  /** @param mayWrite while false, output is dropped: the screen is not ours */
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

  /** Takes the current size of the terminal. */
  resize({ columns, rows }: { readonly columns: number; readonly rows: number }): void {
    this.#size = { columns, rows }
  }

  /** Written in one piece with the next output. */
  before(text: string): void {
    this.#prefix = text
  }

  /** Drops whatever `run` writes. */
  muted(run: () => void): void {
    this.#isMuted = true
    try {
      run()
    } finally {
      this.#isMuted = false
    }
  }
}
