import { InvalidValue } from '../stream/errors.ts'

/** A pattern over whole names. */
export interface Glob {
  /** The common prefix of all matches, for the listing. */
  readonly prefix: string
  matches(name: string): boolean
}

/**
 * Maximum length of a pattern in UTF-16 code units: that of the longest name. Patterns in a watchdog's state are read
 * up to this length too.
 */
const MAX_LENGTH = 1_024

/**
 * Reads a pattern as shells do: `*` and `?` stay within a `/`, `**` does not, `[a-z]` is one of these characters,
 * `[!a-z]` one of the others but `/`, `{a,b}` one of these patterns; `\` takes the next character as it is.
 *
 * Pattern and name may be hostile: the time of a match is bounded by the product of their lengths.
 *
 * @throws InvalidValue for an incomplete pattern. Shells take an unclosed bracket literally; a change of many streams
 * must not guess.
 */
export function globOf(pattern: string): Glob {
  if (pattern.length > MAX_LENGTH) {
    throw new InvalidValue(`a pattern of ${pattern.length} characters is too long`, {
      hint: `Use at most ${MAX_LENGTH} characters.`,
    })
  }
  const [first, ...others] = new PatternReader(pattern).whole()
  const prefix = first?.kind === 'text' ? first.text : ''
  const rest = first === undefined || first.kind === 'text' ? others : [first, ...others]
  return {
    prefix,
    matches: name =>
      name.startsWith(prefix) && endsAfterAll(rest, name, [[prefix.length, prefix.length]]).at(-1)?.[1] === name.length,
  }
}

/** A name matches if any of the patterns does. */
export function anyGlobOf(patterns: readonly string[]): Glob {
  const globs = patterns.map(globOf)
  const [first, ...others] = globs
  if (first !== undefined && others.length === 0) return first
  const prefix = others.reduce((common, glob) => commonPrefix(common, glob.prefix), first?.prefix ?? '')
  return { prefix, matches: name => globs.some(glob => glob.matches(name)) }
}

function commonPrefix(a: string, b: string): string {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return a.slice(0, length)
}

/** Reads a stored pattern of another program: an invalid one matches nothing. */
export function storedGlobOf(pattern: string): Glob {
  try {
    return globOf(pattern)
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error
    return { prefix: '', matches: () => false }
  }
}

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'character'; readonly fits: (codePoint: number) => boolean }
  | { readonly kind: 'star'; readonly crossesSlashes: boolean }
  | { readonly kind: 'alternatives'; readonly of: readonly (readonly Part[])[] }

/** The indexes in a name, both included, up to which the parts so far can match. */
type Ends = readonly [first: number, last: number]

/**
 * The ends that the parts reach from these ends, ascending. All ways of matching advance through the name together, so
 * that none is tried twice.
 */
function endsAfterAll(parts: readonly Part[], name: string, ends: readonly Ends[]): readonly Ends[] {
  let reached = ends
  for (const part of parts) {
    if (reached.length === 0) return reached
    reached = endsAfter(part, name, reached)
  }
  return reached
}

function endsAfter(part: Part, name: string, ends: readonly Ends[]): readonly Ends[] {
  switch (part.kind) {
    case 'text':
      return endsAfterText(part.text, name, ends)
    case 'character':
      return endsAfterCharacter(part.fits, name, ends)
    case 'star':
      return part.crossesSlashes ? [[ends[0]?.[0] ?? 0, name.length]] : endsAfterStar(name, ends)
    case 'alternatives': {
      const reached: Ends[] = []
      const all = part.of.flatMap(parts => endsAfterAll(parts, name, ends))
      for (const [first, last] of all.sort(([a], [b]) => a - b)) add(reached, first, last)
      return reached
    }
    default:
      return part satisfies never
  }
}

function endsAfterText(text: string, name: string, ends: readonly Ends[]): readonly Ends[] {
  const reached: Ends[] = []
  let at = -1
  for (const [first, last] of ends) {
    if (at < first) at = name.indexOf(text, first)
    for (; at >= 0 && at <= last; at = name.indexOf(text, at + 1)) add(reached, at + text.length, at + text.length)
    if (at < 0) break
  }
  return reached
}

function endsAfterCharacter(
  fits: (codePoint: number) => boolean,
  name: string,
  ends: readonly Ends[],
): readonly Ends[] {
  const reached: Ends[] = []
  for (const [first, last] of ends) {
    for (let at = first; at <= last && at < name.length; ) {
      const codePoint = name.codePointAt(at) ?? 0
      at += codePoint > 0xffff ? 2 : 1
      if (fits(codePoint)) add(reached, at, at)
    }
  }
  return reached
}

function endsAfterStar(name: string, ends: readonly Ends[]): readonly Ends[] {
  const reached: Ends[] = []
  let end = -1
  for (const [first, last] of ends) {
    if (last > end) {
      const slash = name.indexOf('/', last)
      end = slash < 0 ? name.length : slash
    }
    add(reached, first, end)
  }
  return reached
}

/**
 * Adds a range; overlapping and adjacent ranges become one. @param first not before the first of the ranges added
 * already
 */
function add(ends: Ends[], first: number, last: number): void {
  const before = ends.at(-1)
  if (before === undefined || first > before[1] + 1) ends.push([first, last])
  else if (last > before[1]) ends[ends.length - 1] = [before[0], last]
}

const SLASH = 0x2f

class PatternReader {
  readonly #pattern: string
  #at = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  whole(): readonly Part[] {
    return this.#partsUntil('')
  }

  /** The parts up to one of these characters, or to the end. */
  #partsUntil(stops: string): readonly Part[] {
    const parts: Part[] = []
    let text = ''
    while (this.#at < this.#pattern.length && !stops.includes(this.#next)) {
      const part = this.#wildcard()
      if (part === undefined) {
        text += this.#character()
        continue
      }
      if (text !== '') parts.push({ kind: 'text', text })
      text = ''
      parts.push(part)
    }
    if (text !== '') parts.push({ kind: 'text', text })
    return parts
  }

  #wildcard(): Part | undefined {
    switch (this.#next) {
      case '*': {
        const from = this.#at
        while (this.#next === '*') this.#at++
        return { kind: 'star', crossesSlashes: this.#at - from > 1 }
      }
      case '?':
        this.#at++
        return { kind: 'character', fits: codePoint => codePoint !== SLASH }
      case '[':
        return this.#oneOfCharacters()
      case '{':
        return this.#alternatives()
      default:
        return undefined
    }
  }

  #oneOfCharacters(): Part {
    const from = this.#at++
    const isNegated = this.#next === '!' || this.#next === '^'
    if (isNegated) this.#at++
    const ranges: (readonly [first: number, last: number])[] = []
    // a ] in first place is one of the characters
    while (this.#next !== ']' || ranges.length === 0) {
      if (/^\[[:.=]/.test(this.#pattern.slice(this.#at, this.#at + 2))) {
        this.#refuse(from, 'names a class of characters', 'Write a range such as [0-9] or [A-Za-z].')
      }
      const first = this.#characterIn(from)
      const isRange = this.#next === '-' && this.#pattern[this.#at + 1] !== ']'
      if (isRange) this.#at++
      const last = isRange ? this.#characterIn(from) : first
      if (last < first)
        this.#refuse(from, 'has a range that ends before it begins', 'Write the smaller one first: [a-z].')
      ranges.push([first, last])
    }
    this.#at++
    return {
      kind: 'character',
      fits: codePoint =>
        codePoint !== SLASH && ranges.some(([first, last]) => first <= codePoint && codePoint <= last) !== isNegated,
    }
  }

  /** @param from index of the bracket */
  #characterIn(from: number): number {
    if (this.#at >= this.#pattern.length) this.#refuse(from, 'is not closed', 'Write \\[ for the character itself.')
    const codePoint = this.#character().codePointAt(0) ?? 0
    if (codePoint === SLASH)
      this.#refuse(from, 'has a /', 'Close it before the /, or write \\[ for the character itself.')
    return codePoint
  }

  #alternatives(): Part {
    const from = this.#at
    const alternatives: (readonly Part[])[] = []
    do {
      this.#at++
      alternatives.push(this.#partsUntil(',}'))
    } while (this.#next === ',')
    if (this.#next !== '}') this.#refuse(from, 'is not closed', 'Write \\{ for the character itself.')
    this.#at++
    if (alternatives.length === 1) {
      this.#refuse(from, 'has one alternative', 'Write {a,b}, or \\{ for the character itself.')
    }
    return { kind: 'alternatives', of: alternatives }
  }

  /** One literal code point. */
  #character(): string {
    if (this.#next === '\\' && ++this.#at === this.#pattern.length) {
      this.#refuse(this.#at - 1, 'stands at the end', 'Write \\\\ for the character itself.')
    }
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0)
    this.#at += character.length
    return character
  }

  /** The next character; `''` at the end. */
  get #next(): string {
    return this.#pattern.charAt(this.#at)
  }

  #refuse(at: number, what: string, hint: string): never {
    const sign = this.#pattern.charAt(at)
    throw new InvalidValue(`the ${sign} at character ${at + 1} of the pattern ${what}`, { hint })
  }
}
