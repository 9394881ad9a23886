/** Up to when all was delivered, epoch ms by the store's clock, for each shard of the store; `undefined`: not known. */
export type Marks = readonly (number | undefined)[]

const API_VERSION = 'leasectl/v1'
const KIND = 'watchdog-hook'

/** `undefined` for a text that is none of ours. */
export function parseMarks(text: string): Marks | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || !('since' in value) || !Array.isArray(value.since))
      return undefined
    const since: readonly unknown[] = value.since
    return since.length === 0 ? undefined : since.map(ms => (Number.isSafeInteger(ms) ? Number(ms) : undefined))
  } catch {
    return undefined
  }
}

export function marksText(marks: Marks): string {
  const since = marks.map(ms => ms ?? null)
  return `${JSON.stringify({ apiVersion: API_VERSION, kind: KIND, since })}\n`
}

/** The mark of a shard. Where the store was divided otherwise, or nobody had the shard yet, the earliest of all. */
export function markOf(marks: Marks, shard: number, total: number): number | undefined {
  return (marks.length === total ? marks[shard] : undefined) ?? earliest(marks)
}

/** What is known after some shards got on. Whoever delivered it, it is delivered: marks never go back. */
export function withMarks(old: Marks | undefined, total: number, news: ReadonlyMap<number, number>): Marks {
  return Array.from({ length: total }, (_, shard) => {
    const before = old === undefined ? undefined : markOf(old, shard, total)
    const now = news.get(shard)
    return now === undefined || (before !== undefined && before > now) ? before : now
  })
}

function earliest(marks: Marks): number | undefined {
  const known = marks.filter(ms => ms !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
