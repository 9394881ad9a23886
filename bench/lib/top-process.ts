import { readFile } from 'node:fs/promises'
import { spawn } from '@lydell/node-pty'
import { SIZE } from './top-app.ts'

const PATIENCE_MS = 60_000

/** The dashboard as users start it, on its own terminal. */
export class TopProcess {
  readonly pid: number
  readonly #pty: ReturnType<typeof spawn>
  #written = ''
  #hear: () => void = () => {}
  #exit: number | undefined

  /** @param program file that starts it, @param args arguments after `top` */
  constructor(program: string, args: readonly string[]) {
    const size = { cols: SIZE.columns, rows: SIZE.rows }
    const { CI, NO_COLOR, ...env } = process.env
    this.#pty = spawn(process.execPath, [program, 'top', ...args], { name: 'xterm-256color', ...size, env })
    this.pid = this.#pty.pid
    this.#pty.onData(text => {
      this.#written = (this.#written + text).slice(-100_000)
      this.#hear()
    })
    this.#pty.onExit(({ exitCode }) => {
      this.#exit = exitCode
      this.#hear()
    })
  }

  type(keys: string): void {
    this.#written = ''
    this.#pty.write(keys)
  }

  /** Waits until it has written this text since the last key. @throws if it exits first */
  async until(text: string): Promise<void> {
    const endMs = performance.now() + PATIENCE_MS
    while (!this.#written.includes(text)) {
      if (this.#exit !== undefined) throw new Error(`top ended with ${this.#exit}: ${this.#written.slice(-2_000)}`)
      if (performance.now() > endMs) throw new Error(`top has not shown ${text}`)
      await new Promise<void>(resolve => {
        this.#hear = resolve
        setTimeout(resolve, 1_000).unref()
      })
    }
  }

  /** Peak resident memory so far, MB. */
  async peakMb(): Promise<number> {
    const kib = /VmHWM:\s*(\d+)/.exec(await readFile(`/proc/${this.pid}/status`, 'utf8'))?.[1]
    return Number(kib) / 1024
  }

  kill(): void {
    if (this.#exit === undefined) this.#pty.kill('SIGKILL')
  }
}

/** Runs it while `use` runs. */
export async function withTop<T>(
  program: string,
  args: readonly string[],
  use: (top: TopProcess) => Promise<T>,
): Promise<T> {
  const top = new TopProcess(program, args)
  try {
    return await use(top)
  } finally {
    top.kill()
  }
}
