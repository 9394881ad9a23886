/** A pattern over whole names: `*` and `?` stay within a `/`, `**` does not; everything else is itself. */
export interface Glob {
  /** What every match begins with: a listing needs no more. */
  readonly prefix: string
  matches(name: string): boolean
}

/** Reads a pattern. Without a wildcard only the name itself matches. */
export function globOf(pattern: string): Glob {
  const wildcard = pattern.search(/[*?]/)
  const source = pattern.replace(/\*\*|\*|\?|[\\^$.|+()[\]{}/]/g, part => {
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : `\\${part}`
  })
  const expression = new RegExp(`^${source}$`, 'su')
  return { prefix: wildcard < 0 ? pattern : pattern.slice(0, wildcard), matches: name => expression.test(name) }
}
