import { type Instance, render } from 'ink'
import { createElement } from 'react'
import type { Frame } from '../view/row.ts'
import type { Theme } from '../view/theme.ts'
import { FrameSource } from './frame-source.ts'
import { InkStdout } from './ink-stdout.ts'
import { Screen } from './Screen.tsx'

export interface PainterOptions {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly theme: Theme
  nowMs(): number
  /** True while the screen is ours. Ink also writes on its own: at process exit, and deferred frames. */
  readonly mayWrite?: () => boolean
  /** The time to draw a frame, ms. */
  onCost(costMs: number): void
  /** A component threw: no more frames can be drawn. */
  onFault(error: unknown): void
}

/** Draws frames with Ink, starting at the first cell. Terminal modes are not its concern: Ink leaves them alone. */
export class Painter {
  readonly #options: PainterOptions
  readonly #stdout: InkStdout
  readonly #source: FrameSource
  readonly #ink: Instance
  /** Start of the frame being drawn. */
  #startedMs: number | undefined
  /** Time spent on a frame that Ink has not written yet. */
  #spentMs: number | undefined

  constructor(first: Frame, options: PainterOptions) {
    const { stdin, stdout, theme } = options
    this.#options = options
    this.#stdout = new InkStdout(stdout, options.mayWrite ?? (() => true))
    this.#stdout.before(ANEW)
    this.#source = new FrameSource(first)
    this.#ink = render(createElement(Screen, { source: this.#source, theme }), {
      stdin,
      stdout: this.#stdout as unknown as NodeJS.WriteStream,
      incrementalRendering: true,
      maxFps: 120,
      exitOnCtrlC: false,
      patchConsole: false,
      interactive: true,
      isScreenReaderEnabled: false,
      onRender: ({ renderTime }) => this.#onRendered(renderTime),
    })
    this.#ink.waitUntilExit().catch(error => options.onFault(error))
  }

  /** Draws a frame unless it looks like the current one. */
  draw(make: () => Frame): void {
    this.#render(() => this.#source.set(make()))
  }

  /** Redraws the whole screen in its current size, whatever the terminal shows. */
  repaint(make: () => Frame, size: { readonly columns: number; readonly rows: number }): void {
    this.#render(() => {
      this.#stdout.resize(size)
      this.#stdout.muted(() => this.#ink.clear())
      this.#stdout.before(ANEW)
      this.#source.set(make())
      this.#ink.rerender(createElement(Screen, { source: this.#source, theme: this.#options.theme }))
      return true
    })
  }

  /** Resolves when all drawn frames have been written. */
  written(): Promise<void> {
    return this.#ink.waitUntilRenderFlush()
  }

  /** Stops drawing and leaves the screen as it is: Ink would draw its last frame again. */
  close(): void {
    this.#stdout.muted(() => this.#ink.unmount())
  }

  #render(change: () => boolean): void {
    const begunMs = this.#options.nowMs()
    this.#startedMs = begunMs
    if (change()) {
      // React has finished before this; Ink writes in the same task, unless it has written just before.
      queueMicrotask(() => this.#onCommitted())
      return
    }
    this.#startedMs = undefined
    this.#options.onCost(this.#options.nowMs() - begunMs)
  }

  #onCommitted(): void {
    if (this.#startedMs === undefined) return
    this.#spentMs = this.#options.nowMs() - this.#startedMs
    this.#startedMs = undefined
  }

  #onRendered(renderMs: number): void {
    const { nowMs, onCost } = this.#options
    if (this.#startedMs !== undefined) onCost(nowMs() - this.#startedMs)
    else if (this.#spentMs !== undefined) onCost(this.#spentMs + renderMs)
    this.#startedMs = undefined
    this.#spentMs = undefined
  }
}

/** Written in one piece with the frame that follows: autowrap off, cursor to the first cell, erase below. */
const ANEW = '\x1b[?2026h\x1b[?7l\x1b[H\x1b[J'
