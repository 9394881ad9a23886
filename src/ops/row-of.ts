import type { EventStore, Listed } from '../store/store.ts'

/** The row of one stream, if there is one of that name: the first name that begins with a name is the name itself. */
export async function rowOf(
  store: EventStore,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Listed | undefined> {
  for await (const [row] of store.list({ prefix: name, limit: 1, ...(signal && { signal }) })) {
    return row?.name === name ? row : undefined
  }
  return undefined
}
