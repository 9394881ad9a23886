import type { StreamFilter } from '../ops/filter.ts'
import type { Ports } from './ports.ts'
import type { Size, Sort, State, Writes } from './state/state.ts'
import type { StderrSource } from './terminal/stderr-buffer.ts'
import type { TermHost } from './terminal/terminal.ts'
import type { Theme } from './view/theme.ts'

/** Settings of the dashboard. */
export interface AppOptions {
  readonly ports: Ports
  /** The stream to open, which need not exist yet; without it the list of streams. */
  readonly stream?: string
  /** Time between the starts of two polls, ms; longer if the store is slow. */
  readonly intervalMs: number
  /** The order of the list of streams at the start. */
  readonly sort?: Sort
  /** Only these streams. Its names hold for every screen, the rest for the lists of streams and of leases. */
  readonly filter?: StreamFilter
  /** The flags of the command line that select streams, as typed. */
  readonly selection?: string
  /** `never`: changes cannot be unlocked. */
  readonly writes: Writes['kind']
  readonly time: State['time']
  readonly isAscii: boolean
  /** Ring when something fails. */
  readonly bell?: boolean
  readonly size: Size
  /** Of the program. */
  readonly version: string
}

/** Operations that only the terminal can do. */
export interface TerminalRequests {
  copy(text: string): void
  /** Draws attention to the text, and sets the title of the window. */
  ring(text: string, title: string): void
  setTitle(title: string): void
  suspend(): void
  repaint(): void
}

/** Settings of the dashboard on a terminal. */
export interface DashboardOptions extends Omit<AppOptions, 'size'> {
  readonly theme: Theme
  /** Take clicks and the wheel: the terminal then selects text with shift only. */
  readonly mouse?: boolean
}

/** The process that the dashboard runs in. */
export interface DashboardHost {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  /** Stops the dashboard after changes in flight. */
  readonly signal: AbortSignal
  /** For tests. */
  readonly process?: TermHost
  readonly stderr?: StderrSource
}

/**
 * How the dashboard ended: the user quit or the input ended; the signal was aborted; or another signal arrived:
 * `SIGHUP` when the terminal was closed, `SIGQUIT`.
 */
export type DashboardEnd =
  | { readonly kind: 'quit' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'stopped'; readonly signal: NodeJS.Signals }
