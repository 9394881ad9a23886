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
  /** Whether the screen is ours now. Ink writes by itself too: at the exit of the process, and what it had put off. */
  readonly mayWrite?: () => boolean
  /** What drawing a frame took, ms. */
  onCost(costMs: number): void
  /** A component threw: nothing will be drawn any more. */
  onFault(error: unknown): void
}

/** Draws frames with Ink, from the first cell on. The modes of the terminal are not its business: Ink leaves them alone. */
export class Painter {
  readonly #options: PainterOptions
  readonly #stdout: InkStdout
  readonly #source: FrameSource
  readonly #ink: Instance
  /** When the frame that is being drawn was begun. */
  #begunMs: number | undefined
  /** What was spent on a frame that Ink has still to write. */
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

  /** Draws a frame, unless it looks like the one that is shown. */
  draw(make: () => Frame): void {
    this.#begin(() => this.#source.set(make()))
  }

  /** Draws the whole screen anew, whatever the terminal shows, in the size it has now. */
  repaint(make: () => Frame, size: { readonly columns: number; readonly rows: number }): void {
    this.#begin(() => {
      this.#stdout.resize(size)
      this.#stdout.muted(() => this.#ink.clear())
      this.#stdout.before(ANEW)
      this.#source.set(make())
      this.#ink.rerender(createElement(Screen, { source: this.#source, theme: this.#options.theme }))
      return true
    })
  }

  /** Resolves when what was drawn has been written. */
  written(): Promise<void> {
    return this.#ink.waitUntilRenderFlush()
  }

  /** Draws nothing any more, and leaves the screen as it is: Ink would draw its last frame once more. */
  close(): void {
    this.#stdout.muted(() => this.#ink.unmount())
  }

  #begin(change: () => boolean): void {
    const begunMs = this.#options.nowMs()
    this.#begunMs = begunMs
    if (change()) {
      // React works before this; Ink writes in the same go, unless it has written just before.
      queueMicrotask(() => this.#onCommitted())
      return
    }
    this.#begunMs = undefined
    this.#options.onCost(this.#options.nowMs() - begunMs)
  }

  #onCommitted(): void {
    if (this.#begunMs === undefined) return
    this.#spentMs = this.#options.nowMs() - this.#begunMs
    this.#begunMs = undefined
  }

  #onRendered(renderMs: number): void {
    const { nowMs, onCost } = this.#options
    if (this.#begunMs !== undefined) onCost(nowMs() - this.#begunMs)
    else if (this.#spentMs !== undefined) onCost(this.#spentMs + renderMs)
    this.#begunMs = undefined
    this.#spentMs = undefined
  }
}

/** To be shown in one go with what follows: autowrap off, to the first cell, everything below it erased. */
const ANEW = '\x1b[?2026h\x1b[?7l\x1b[H\x1b[J'
