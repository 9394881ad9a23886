/** A pattern over whole names: `*` and `?` stay within a `/`, `**` does not; everything else is itself. */
export interface Glob {
  /** What every match begins with: a listing needs no more. */
  readonly prefix: string
  matches(name: string): boolean
}

/**
 * Reads a pattern. Without a wildcard only the name itself matches. Both may come from somebody who means harm: a match
 * takes no longer than their lengths multiplied.
 */
export function globOf(pattern: string): Glob {
  const first = pattern.search(/[*?]/)
  if (first < 0) return { prefix: pattern, matches: name => name === pattern }
  const behind = Math.max(pattern.lastIndexOf('*'), pattern.lastIndexOf('?')) + 1
  const prefix = pattern.slice(0, first)
  const suffix = pattern.slice(behind)
  const fits = between(pattern.slice(first, behind))
  return {
    prefix,
    matches: name => {
      const end = name.length - suffix.length
      return end >= first && name.startsWith(prefix) && name.endsWith(suffix) && fits(name, first, end)
    },
  }
}

/** Judges the part of a name from one index to another. */
type Judge = (name: string, from: number, to: number) => boolean

/** @param wild the pattern from its first wildcard to its last */
function between(wild: string): Judge {
  if (/^\*{2,}$/.test(wild)) return () => true
  if (wild === '*') return isWithinSlashes
  return walking(wild)
}

function isWithinSlashes(name: string, from: number, to: number): boolean {
  const slash = name.indexOf('/', from)
  return slash < 0 || slash >= to
}

const SLASH = 0x2f
const ASCII = 0x80
const WORD_BITS = 32

/** A set of places in a pattern, a bit each. */
type Places = Int32Array

/**
 * A pattern by the places between its characters, 0 before the first of them. A star is no character but belongs to its
 * place: a match may stay there while the name goes on.
 */
interface Steps {
  /** The place behind the last character. */
  readonly last: number
  /** By code point: the places behind each character of the pattern that it fits. */
  readonly behind: ReadonlyMap<number, Places>
  /** The same for every other code point: the places behind a `?`. */
  readonly behindAny: Places
  /** The places with a star, and those of them with a `**`. */
  readonly stars: Places
  readonly wideStars: Places
}

/** Walks through the name once, with the set of all the places that a match can have come to. */
function walking(wild: string): Judge {
  const steps = stepsOf(wild)
  return steps.last < WORD_BITS ? walkingShort(steps) : walkingLong(steps)
}

function walkingLong({ last, behind, behindAny, stars, wideStars }: Steps): Judge {
  const places = new Int32Array(stars.length)
  return (name, from, to) => {
    places.fill(0)
    add(places, 0)
    for (let at = from; at < to; ) {
      const point = name.codePointAt(at) ?? 0
      if (!advance(places, behind.get(point) ?? behindAny, point === SLASH ? wideStars : stars)) return false
      at += unitsOf(point)
    }
    return has(places, last)
  }
}

/** @returns whether a place is left */
function advance(places: Places, behind: Places, staying: Places): boolean {
  let carry = 0
  let left = 0
  for (let word = 0; word < places.length; word++) {
    const old = places[word] ?? 0
    const reached = (old & (staying[word] ?? 0)) | (((old << 1) | carry) & (behind[word] ?? 0))
    places[word] = reached
    carry = old >>> (WORD_BITS - 1)
    left |= reached
  }
  return left !== 0
}

/** The same where the places fit into one word: several times as fast, and what people type is that short. */
function walkingShort({ last, behind, behindAny, stars, wideStars }: Steps): Judge {
  const word = ([bits = 0]: Places) => bits
  const [anyBits, starBits, wideBits] = [word(behindAny), word(stars), word(wideStars)]
  const ascii = Array.from({ length: ASCII }, (_, point) => word(behind.get(point) ?? behindAny))
  return (name, from, to) => {
    let places = 1
    for (let at = from; at < to && places !== 0; ) {
      const point = name.codePointAt(at) ?? 0
      const next = point < ASCII ? (ascii[point] ?? anyBits) : word(behind.get(point) ?? behindAny)
      places = (places & (point === SLASH ? wideBits : starBits)) | ((places << 1) & next)
      at += unitsOf(point)
    }
    return ((places >>> last) & 1) === 1
  }
}

function stepsOf(wild: string): Steps {
  const parts = wild.match(/\*+|[^*]/gu) ?? []
  const last = parts.filter(part => !part.startsWith('*')).length
  const none = () => new Int32Array(Math.floor(last / WORD_BITS) + 1)
  const [behindAny, stars, wideStars] = [none(), none(), none()]
  const literals: [point: number, place: number][] = []
  let place = 0
  for (const part of parts) {
    if (part.startsWith('*')) {
      add(stars, place)
      if (part.length > 1) add(wideStars, place)
    } else {
      place++
      if (part === '?') add(behindAny, place)
      else literals.push([part.codePointAt(0) ?? 0, place])
    }
  }
  return { last, behind: behindEach(literals, behindAny), behindAny, stars, wideStars }
}

/** A `?` fits everything but a `/`. */
function behindEach(literals: readonly (readonly [point: number, place: number])[], behindAny: Places) {
  const behind = new Map([[SLASH, new Int32Array(behindAny.length)]])
  for (const [point, place] of literals) {
    const places = behind.get(point) ?? behindAny.slice()
    add(places, place)
    behind.set(point, places)
  }
  return behind
}

function unitsOf(point: number): number {
  return point > 0xffff ? 2 : 1
}

function add(places: Places, place: number): void {
  const word = Math.floor(place / WORD_BITS)
  places[word] = (places[word] ?? 0) | (1 << (place % WORD_BITS))
}

function has(places: Places, place: number): boolean {
  return (((places[Math.floor(place / WORD_BITS)] ?? 0) >>> (place % WORD_BITS)) & 1) === 1
}
