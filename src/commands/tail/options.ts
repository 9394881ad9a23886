import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { FilterOptions } from '../../cli/selection/flags.ts'
import { nonEmpty } from '../../cli/values.ts'

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

/** Reads a regular expression; the flag may be repeated. */
export function pattern(flag: string): (text: string, previous?: readonly RegExp[]) => readonly RegExp[] {
  return (text, previous = []) => {
    nonEmpty(flag)(text)
    try {
      return [...previous, new RegExp(text, 'g')]
    } catch (cause) {
      throw new UsageError(`${flag} ${text}: ${reasonOf(cause, text)}`, {
        cause,
        hint: 'A JavaScript regular expression; a backslash in front of . * + ? ( ) [ ] { } | ^ $ takes them as they are.',
      })
    }
  }
}

/** `Invalid regular expression: /(a/: Unterminated group` without what was typed. */
function reasonOf(cause: unknown, text: string): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const place = message.lastIndexOf(': ')
  const reason = place < 0 ? message : message.slice(place + 2)
  return `${reason}, at character ${placeOf(text)}`
}

/** The first character (from 1) that no expression has in its place: the engine does not tell. */
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
  /** One of these has to be found, if there are any. */
  readonly include?: readonly RegExp[]
  /** None of these may be found. */
  readonly exclude?: readonly RegExp[]
}

/** Whether the lines of a transaction pass. Each is searched by itself. */
export function passes(lines: readonly string[], { include = [], exclude = [] }: Patterns): boolean {
  const isFound = (expression: RegExp) => lines.some(line => line.search(expression) >= 0)
  return (include.length === 0 || include.some(isFound)) && !exclude.some(isFound)
}
