import type { Listing } from '../context.ts'

/** What is known of a list besides its rows. */
export interface RowFacts {
  readonly faint?: ReadonlySet<string>
  readonly matching: number
  readonly total: number
}

/** A listing of these rows. Where they stand is worked out when somebody asks. */
export function listingOf(keys: readonly string[], { faint = NONE, matching, total }: RowFacts): Listing {
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
  }
}

function positionsOf(keys: readonly string[]): ReadonlyMap<string, number> {
  const positions = new Map<string, number>()
  for (const [at, key] of keys.entries()) positions.set(key, at)
  return positions
}

const NONE: ReadonlySet<string> = new Set()

export const NO_ROWS: Listing = listingOf([], { matching: 0, total: 0 })

/** Keeps a listing as long as nothing it depends on is another one. */
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
