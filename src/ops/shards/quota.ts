export const MOST_SHARDS = 256
/** Limit for members that share the work; low, since all seats are checked now and then. */
const MOST_SEATS = 64

/** Each `count`th shard from `index` on: those of the streams whose names hash to `index` of `count`. */
export interface ShardPart {
  readonly index: number
  readonly count: number
}

/** Number of seats: more members than shards would be idle. */
export function seatsFor(count: number): number {
  return Math.min(count, MOST_SEATS)
}

/**
 * The shard of a stream: FNV-1a over the UTF-16 units of its name, mixed once more so that its low bits spread evenly.
 * Must never change, since processes of all versions have to agree on it. Fast, since a sweep calls it for every name.
 */
export function shardOf(stream: string, count: number): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < stream.length; at++) {
    const unit = stream.charCodeAt(at)
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193)
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) % count
}

/**
 * Number of shards for the member on a seat: an equal share, plus one on the first seats if the division has a
 * remainder. Members that see the same seats taken compute quotas that add up to all shards, without communicating.
 */
export function quotaOf(count: number, taken: ReadonlySet<number>, seat: number): number {
  const rank = [...taken].filter(other => other < seat).length
  return Math.floor(count / taken.size) + (rank < count % taken.size ? 1 : 0)
}

/**
 * The seats to check: newcomers take the first free seat, so those up to the last known one and the next suffice; `all`
 * of them now and then, since two members may have come and gone between two checks.
 */
export function seatsToCheck(seats: number, taken: ReadonlySet<number>, all: boolean): number[] {
  const last = all ? seats - 1 : Math.min(seats - 1, Math.max(-1, ...taken) + 1)
  return Array.from({ length: last + 1 }, (_, seat) => seat)
}

/** The first free seat; `undefined` if all are taken. */
export function freeSeat(seats: number, taken: ReadonlySet<number>): number | undefined {
  for (let seat = 0; seat < seats; seat++) if (!taken.has(seat)) return seat
  return undefined
}
