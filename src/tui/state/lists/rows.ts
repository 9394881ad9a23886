import { cached } from '../../cached.ts'
import type { Listing, RowGroup } from '../context.ts'
import { searchable } from './filter.ts'

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

/** The search text of an object, cached while the object is the same. */
export type SearchText<Of> = (of: Of) => string

export function searchText<Of extends object>(textsOf: (of: Of) => readonly string[]): SearchText<Of> {
  return cached(of => searchable(textsOf(of)))
}
