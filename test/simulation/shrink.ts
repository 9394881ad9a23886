/** The smallest failing case, and the number of tried candidates. */
export interface Shrunk<World> {
  readonly world: World
  readonly tries: number
}

/**
 * Shrinks a failing case: tries one candidate after the other, continues from the first that fails
 * too, and ends if none does, or after a limited number of attempts.
 *
 * @param smaller candidates, those that omit most first
 */
export async function shrink<World>(
  world: World,
  smaller: (world: World) => Iterable<World>,
  fails: (world: World) => Promise<boolean>,
  mostTries = 300,
): Promise<Shrunk<World>> {
  let smallest = world
  let tries = 0
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (const candidate of smaller(smallest)) {
      if (tries >= mostTries) return { world: smallest, tries }
      tries += 1
      if (!(await fails(candidate))) continue
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return { world: smallest, tries }
}

/** A list without each of its halves, of its quarters, … and of its items. */
export function* without<Item>(list: readonly Item[], least = 0): Iterable<readonly Item[]> {
  for (let size = Math.ceil(list.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < list.length; from += size) {
      const rest = [...list.slice(0, from), ...list.slice(from + size)]
      if (rest.length >= least) yield rest
    }
  }
}
