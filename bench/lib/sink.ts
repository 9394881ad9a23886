import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import type { Painter } from '../../src/tui/ink/painter.ts'
import type { Frame } from '../../src/tui/view/row.ts'
import { SIZE } from './top-app.ts'

/** A terminal that accepts everything and shows nothing. */
export class Sink extends EventEmitter {
  readonly isTTY = true
  readonly fd = -1
  readonly columns = SIZE.columns
  readonly rows = SIZE.rows
  readonly #onWrite: (length: number) => void

  constructor(onWrite: (length: number) => void) {
    super()
    this.#onWrite = onWrite
  }

  write(text: string, ...rest: readonly unknown[]): boolean {
    if (text !== '') this.#onWrite(text.length)
    const done = rest.at(-1)
    if (typeof done === 'function') queueMicrotask(() => done())
    return true
  }
}

/** Ink on this terminal, loaded only here, so that a measurement without Ink does not pay for it. */
export async function inkOn(sink: Sink, first: Frame, onCost: (costMs: number) => void): Promise<Painter> {
  const { Painter } = await import('../../src/tui/ink/painter.ts')
  const stdin = new PassThrough()
  const keys = Object.assign(stdin, { isTTY: true, ref: () => stdin, unref: () => stdin, setRawMode: () => stdin })
  return new Painter(first, {
    stdin: keys as unknown as NodeJS.ReadStream,
    stdout: sink as unknown as NodeJS.WriteStream,
    theme: 'dark',
    nowMs: () => performance.now(),
    onCost,
    onFault: error => {
      throw error
    },
  })
}
