import type { GlobalOptions } from '../../cli/options.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import type { Patterns } from './patterns.ts'

/** `since` is about transactions here, not about streams. */
export interface TailOptions extends GlobalOptions, FilterOptions, Patterns {
  /** The one stream that was named. */
  readonly stream?: string
  /** Those that were named, if it is not one. */
  readonly names?: readonly string[]
  readonly streams?: string
  readonly all?: boolean
  readonly follow?: boolean
  /** How many of the last transactions; `Infinity` for all. */
  readonly lines?: number
  /** ms between two looks. */
  readonly interval?: number
  readonly fromVersion?: number
  readonly highlight?: readonly RegExp[]
}

/** Of the transactions there are already: the last so many, or all that other flags let pass. */
export function linesOf({ lines, since, fromVersion }: TailOptions): number {
  return lines ?? (since === undefined && fromVersion === undefined ? DEFAULT_LINES : Number.POSITIVE_INFINITY)
}

const DEFAULT_LINES = 10

export const DEFAULT_INTERVAL_MS = 1_000
