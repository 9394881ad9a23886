import type { AppOptions } from './options.ts'
import type { Talker } from './terminal/stderr-buffer.ts'
import type { TermHost } from './terminal/terminal.ts'
import type { Theme } from './view/theme.ts'

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
  readonly talk?: Talker
}

/**
 * How it ended: somebody quit, or the input ended; the signal was aborted; or a signal that is not the program's own:
 * `SIGHUP` when the terminal went away, `SIGQUIT`.
 */
export type DashboardEnd =
  | { readonly kind: 'quit' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'stopped'; readonly signal: NodeJS.Signals }
