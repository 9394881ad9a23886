import { cached } from '../../cached.ts'
import type { Listing, RowGroup } from '../context.ts'

/** Properties of a list besides its rows. */
export interface RowFacts {
  readonly faint?: ReadonlySet<string>
  readonly matching: number
  readonly total: number
  readonly groups?: ReadonlyMap<string, RowGroup>
  readonly lastRows?: ReadonlyMap<number, string>
}

/** A listing of these rows. Positions are computed on demand. */
export function listingOf(keys: readonly string[], facts: RowFacts): Listing {
  const { faint = NONE, matching, total, groups = NO_GROUPS, lastRows = NO_LAST_ROWS } = facts
  let positions: ReadonlyMap<string, number> | undefined
  return {
    keys,
    indexOf(key) {
      positions ??= positionsOf(keys)
      return positions.get(key) ?? -1
    },
    isFaint: key => faint.has(key),
    matching,
    total,
    groups,
    lastRows,
  }
}

const NO_GROUPS: ReadonlyMap<string, RowGroup> = new Map()
const NO_LAST_ROWS: ReadonlyMap<number, string> = new Map()

function positionsOf(keys: readonly string[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>()
  for (const [at, key] of keys.entries()) positions.set(key, at)
  return positions
}

const NONE: ReadonlySet<string> = new Set()

export const NO_ROWS: Listing = listingOf([], { matching: 0, total: 0 })

/** Caches a listing until one of its inputs changes. */
export class KeptListing {
  #listing = NO_ROWS
  #made: readonly unknown[] | undefined

  get(from: readonly unknown[], make: () => Listing): Listing {
    const isSame = this.#made?.length === from.length && from.every((part, at) => part === this.#made?.[at])
    if (!isSame) this.#listing = make()
    this.#made = from
    return this.#listing
  }
}

/** Fields that a filter can name, as in `owner:w-7`; each may have several values. */
export const FILTER_FIELDS = ['name', 'status', 'failed', 'owner', 'root', 'key', 'topic', 'tag', 'tracking'] as const
export type FilterField = (typeof FILTER_FIELDS)[number]

/** The values of a named field of a row. */
export type FieldsOfRow = (field: FilterField) => readonly string[]

/** The terms of a filter: all must hold, those after `!` must not. Case is ignored. */
export interface FilterWords {
  /** Everything matches. */
  readonly isEmpty: boolean
  /**
   * @param text as `searchable` makes it
   * @param fields the row's named fields; without them `field:text` is a word like any other
   */
  accepts(text: string, fields?: FieldsOfRow): boolean
}

interface Term {
  readonly word: string
  readonly isUnwanted: boolean
  readonly field: FilterField | undefined
  /** What the field has to contain. */
  readonly value: string
}

export function filterWords(filter: string): FilterWords {
  const terms = filter
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word !== '' && word !== '!')
    .map(termOf)
  return {
    isEmpty: terms.length === 0,
    accepts: (text, fields) => terms.every(term => holds(term, text, fields) !== term.isUnwanted),
  }
}

function termOf(text: string): Term {
  const isUnwanted = text.startsWith('!')
  const word = isUnwanted ? text.slice(1) : text
  const colon = word.indexOf(':')
  const field = FILTER_FIELDS.find(name => name === word.slice(0, Math.max(0, colon)))
  return { word, isUnwanted, field, value: word.slice(colon + 1) }
}

function holds({ word, field, value }: Term, text: string, fields: FieldsOfRow | undefined): boolean {
  if (field === undefined || fields === undefined) return text.includes(word)
  return fields(field).some(each => each !== '' && each.toLowerCase().includes(value))
}

/** Texts joined for searching: no word can span two of them. */
export function searchable(texts: readonly string[]): string {
  return texts.join('\n').toLowerCase()
}

/** The search text of an object, cached while the object is the same. */
export type SearchText<Of> = (of: Of) => string

export function searchText<Of extends object>(textsOf: (of: Of) => readonly string[]): SearchText<Of> {
  return cached(of => searchable(textsOf(of)))
}
