/**
 * Reads items in their order, some of them at a time: while the consumer works on one, the next are on their way. What a
 * consumer that stops early no longer asks for is let go of.
 */
export async function* readAhead<Item, Result>(
  items: AsyncIterable<Item> | Iterable<Item>,
  atOnce: number,
  read: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const under: Promise<Result>[] = []
  for await (const item of items) {
    const result = read(item)
    // A fault is thrown where its turn comes; until then nobody listens, and Node would end the process.
    result.catch(() => {})
    under.push(result)
    if (under.length >= atOnce) yield await (under.shift() as Promise<Result>)
  }
  for (const result of under) yield await result
}
