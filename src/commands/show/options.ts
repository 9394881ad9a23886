import type { GlobalOptions } from '../../cli/options.ts'
import type { VersionOrTime } from './version-or-time.ts'

export interface ShowOptions extends GlobalOptions {
  readonly streams: readonly string[]
  readonly at?: VersionOrTime
  readonly diff?: VersionOrTime
  /** An XPath expression. */
  readonly select?: string
  readonly must?: boolean
  readonly watch?: boolean
  /** ms between two looks. */
  readonly interval?: number
}
