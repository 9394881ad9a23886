import type { Frame } from '../view/row.ts'
import { sameRow } from './ansi-row.ts'

/** The one value that React subscribes to: the current frame. */
export class FrameSource {
  #frame: Frame
  #notify: () => void = () => {}

  constructor(first: Frame) {
    this.#frame = first
  }

  readonly get = (): Frame => this.#frame

  /** For the one component that draws the frame. */
  readonly subscribe = (tell: () => void): (() => void) => {
    this.#notify = tell
    return () => {
      this.#notify = () => {}
    }
  }

  /** Sets the frame. @returns false if it looks like the current one */
  set(frame: Frame): boolean {
    if (sameFrame(frame, this.#frame)) return false
    this.#frame = frame
    this.#notify()
    return true
  }
}

function sameFrame(a: Frame, b: Frame): boolean {
  if (a === b) return true
  if (a.columns !== b.columns || a.rows.length !== b.rows.length) return false
  return a.rows.every((row, at) => {
    const other = b.rows[at]
    return other !== undefined && sameRow(row, other)
  })
}
