/** The first of many in an order, sorted. Few of them are ever held at once, and those behind are not sorted. */
export function firstOf<Item>(items: Iterable<Item>, count: number, compare: (a: Item, b: Item) => number): Item[] {
  let held: Item[] = []
  let last: Item | undefined
  for (const item of items) {
    if (last !== undefined && compare(item, last) >= 0) continue
    held.push(item)
    if (held.length < 2 * count) continue
    held = held.sort(compare).slice(0, count)
    last = held.at(-1)
  }
  return held.sort(compare).slice(0, count)
}
