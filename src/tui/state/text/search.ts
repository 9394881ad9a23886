import type { StyledRange } from './text.ts'

/** The matches of a search in a line, without regard to case. */
export function matchesIn(line: string, search: string): readonly StyledRange[] {
  if (search === '') return []
  return Array.from(line.matchAll(patternOf(search)), ({ index, 0: found }) => ({
    from: index,
    to: index + found.length,
    style: 'mark' as const,
  }))
}

interface CachedMatches {
  readonly search: string
  readonly found: readonly number[]
}

const KNOWN = new WeakMap<readonly string[], CachedMatches>()

/** The lines that match a search. Cached per text. */
export function matchingLines(lines: readonly string[], search: string): readonly number[] {
  if (search === '') return []
  const known = KNOWN.get(lines)
  if (known?.search === search) return known.found
  const pattern = patternOf(search)
  const found = [...lines.keys()].filter(at => {
    pattern.lastIndex = 0
    return pattern.test(lines[at] ?? '')
  })
  KNOWN.set(lines, { search, found })
  return found
}

function patternOf(search: string): RegExp {
  return new RegExp(search.toWellFormed().replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`), 'giu')
}
