import type { Glob } from '../ops/glob.ts'
import type { Ports } from './ports.ts'
import type { Size, State, Writes } from './state/state.ts'
import type { StderrSource } from './terminal/stderr-buffer.ts'
import type { TermHost } from './terminal/terminal.ts'
import type { Theme } from './view/theme.ts'

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

/** What the dashboard is opened with. */
export interface DashboardOptions extends Omit<AppOptions, 'size'> {
  readonly theme: Theme
}

/** What of the process the dashboard runs on. */
export interface DashboardHost {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborted: stop, after what is in flight. */
  readonly signal: AbortSignal
  /** For tests. */
  readonly process?: TermHost
  readonly talk?: StderrSource
}

/**
 * How it ended: somebody quit, or the input ended; the signal was aborted; or a signal that is not the program's own:
 * `SIGHUP` when the terminal went away, `SIGQUIT`.
 */
export type DashboardEnd =
  | { readonly kind: 'quit' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'stopped'; readonly signal: NodeJS.Signals }
