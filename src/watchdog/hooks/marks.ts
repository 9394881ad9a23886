/** How far a hook has come. */
export interface Marks {
  /** Up to when all was delivered, epoch ms by the store's clock, for each shard of the store; `undefined`: not known. */
  readonly since: readonly (number | undefined)[]
  /** What was delivered last, in short; some of it is later than that, or in the margin before. */
  readonly told: readonly string[]
}

/** What is new of it. */
export interface MarkNews {
  readonly total: number
  /** By shard. */
  readonly since: ReadonlyMap<number, number>
  readonly told: readonly string[]
}

const API_VERSION = 'leasectl/v1'
const KIND = 'watchdog-hook'
/** So much of what was delivered is kept: some 10 KiB. */
const MAX_TOLD = 500

/** `undefined` for a text that is none of ours. */
export function parseMarks(text: string): Marks | undefined {
  const fields = fieldsOf(text)
  if (!Array.isArray(fields?.since) || fields.since.length === 0) return undefined
  const since: readonly unknown[] = fields.since
  const told: readonly unknown[] = Array.isArray(fields.told) ? fields.told : []
  return {
    since: since.map(ms => (Number.isSafeInteger(ms) ? Number(ms) : undefined)),
    told: told.filter(id => typeof id === 'string'),
  }
}

export function marksText({ since, told }: Marks): string {
  const fields = { apiVersion: API_VERSION, kind: KIND, since: since.map(ms => ms ?? null), told }
  return `${JSON.stringify(fields)}\n`
}

/** The mark of a shard. Where the store was divided otherwise, or nobody had the shard yet, the earliest of all. */
export function markOf({ since }: Marks, shard: number, total: number): number | undefined {
  return (since.length === total ? since[shard] : undefined) ?? earliest(since)
}

/** What is known after some shards got on. Whoever delivered it, it is delivered: marks never go back. */
export function withNews(old: Marks | undefined, { total, since, told }: MarkNews): Marks {
  const marks = Array.from({ length: total }, (_, shard) => {
    const before = old === undefined ? undefined : markOf(old, shard, total)
    const now = since.get(shard)
    return now === undefined || (before !== undefined && before > now) ? before : now
  })
  const own = new Set(told)
  const others = (old?.told ?? []).filter(id => !own.has(id))
  return { since: marks, told: [...others, ...own].slice(-MAX_TOLD) }
}

function earliest(since: Marks['since']): number | undefined {
  const known = since.filter(ms => ms !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function fieldsOf(text: string): { readonly since?: unknown; readonly told?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
