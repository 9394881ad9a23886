import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import { added, nonEmpty } from '../../cli/values.ts'

/** Here, `since` filters transactions, not streams. */
export interface TailOptions extends GlobalOptions, FilterOptions, Patterns {
  /** The stream, if exactly one was named. */
  readonly stream?: string
  /** The streams, if none or several were named. */
  readonly names?: readonly string[]
  readonly streams?: string
  readonly all?: boolean
  readonly follow?: boolean
  /** Number of latest transactions; `Infinity` for all. */
  readonly lines?: number
  /** Pause between two polls, ms. */
  readonly interval?: number
  readonly fromVersion?: number
  readonly highlight?: readonly RegExp[]
  /** Name of the store, before those of streams: `top` follows several. */
  readonly place?: string
}

/** How many existing transactions to print: the latest few, or all that pass the other flags. */
export function linesOf({ lines, since, fromVersion }: TailOptions): number {
  return lines ?? (since === undefined && fromVersion === undefined ? DEFAULT_LINES : Number.POSITIVE_INFINITY)
}

const DEFAULT_LINES = 10

export const DEFAULT_INTERVAL_MS = 1_000

/** Parses a regular expression; the flag may be repeated. */
export function pattern(flag: string): (text: string, previous?: readonly RegExp[]) => readonly RegExp[] {
  return added(text => {
    nonEmpty(flag)(text)
    try {
      return new RegExp(text, 'g')
    } catch (cause) {
      throw new UsageError(`${flag} ${text}: ${reasonOf(cause, text)}`, {
        cause,
        hint: 'Write a JavaScript regular expression; a backslash makes . * + ? ( ) [ ] { } | ^ $ literal.',
      })
    }
  })
}

/** The reason from `Invalid regular expression: /(a/: Unterminated group`, without the expression. */
function reasonOf(cause: unknown, text: string): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const place = message.lastIndexOf(': ')
  const reason = place < 0 ? message : message.slice(place + 2)
  return `${reason}, at character ${placeOf(text)}`
}

/** Position (from 1) of the first character that no valid expression has there. The engine does not report it. */
function placeOf(text: string): number {
  let length = text.length
  while (length > 0 && !isExpression(text.slice(0, length))) length--
  return length + 1
}

function isExpression(text: string): boolean {
  try {
    return new RegExp(text) !== undefined
  } catch {
    return false
  }
}

interface Patterns {
  /** At least one of these must match, if any are given. */
  readonly include?: readonly RegExp[]
  /** None of these may match. */
  readonly exclude?: readonly RegExp[]
}

/** True if the lines of a transaction pass. Each line is searched separately. */
export function passes(lines: readonly string[], { include = [], exclude = [] }: Patterns): boolean {
  const isFound = (expression: RegExp) => lines.some(line => line.search(expression) >= 0)
  return (include.length === 0 || include.some(isFound)) && !exclude.some(isFound)
}
