import type { Glob } from '../ops/glob.ts'
import type { Ports } from './ports.ts'
import type { Size, State, Writes } from './state/state.ts'

/** What the dashboard is started with. */
export interface AppOptions {
  readonly ports: Ports
  /** The stream it opens with, which may not exist yet; without it the list of streams. */
  readonly stream?: string
  /** From one look to the next, ms; more where the store is slow. */
  readonly intervalMs: number
  /** Only streams of these names. */
  readonly match?: Glob
  /** `never`: nothing can be changed, whatever is typed. */
  readonly writes: Writes['kind']
  readonly time: State['time']
  readonly isAscii: boolean
  readonly size: Size
  /** Of the program. */
  readonly version: string
}

/** What only the terminal can do. */
export interface TerminalRequests {
  copy(text: string): void
  suspend(): void
  repaint(): void
}
