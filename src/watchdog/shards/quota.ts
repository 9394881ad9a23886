export const MOST_SHARDS = 256
/** So many watchdogs can share the work; all seats are looked at now and then, so there are not more of them. */
const MOST_SEATS = 64

/** How many seats there are: more watchdogs than shards are of no use. */
export function seatsFor(count: number): number {
  return Math.min(count, MOST_SEATS)
}

/**
 * The shard of a stream: FNV-1a over the UTF-16 units of its name, mixed once more so that its low bits spread evenly.
 * All watchdogs of a store have to agree on it, whatever their version: it never changes. A sweep asks it of every name.
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
 * How many shards are for the watchdog on a seat: as many for each, and one more for those on the first seats if they do
 * not divide. Watchdogs who see the same seats taken come to quotas that sum up to all shards, without a word.
 */
export function quotaOf(count: number, taken: ReadonlySet<number>, seat: number): number {
  const rank = [...taken].filter(other => other < seat).length
  return Math.floor(count / taken.size) + (rank < count % taken.size ? 1 : 0)
}

/**
 * The seats to look at: who comes sits down on the first free one, so all up to the last that was taken and one behind it
 * tell; `all` of them where two may have come and gone between two looks.
 */
export function seatsToLookAt(seats: number, taken: ReadonlySet<number>, all: boolean): number[] {
  const last = all ? seats - 1 : Math.min(seats - 1, Math.max(-1, ...taken) + 1)
  return Array.from({ length: last + 1 }, (_, seat) => seat)
}

/** The first seat that nobody has, `undefined` if all are taken. */
export function freeSeat(seats: number, taken: ReadonlySet<number>): number | undefined {
  for (let seat = 0; seat < seats; seat++) if (!taken.has(seat)) return seat
  return undefined
}

/** The document whose lease a shard is. Watchdogs with other counts work on other documents. */
export function shardName(count: number, shard: number): string {
  return `.leasectl/watchdog/shards/${count}/${shard}`
}

/** The document whose lease says that a watchdog is there. */
export function seatName(count: number, seat: number): string {
  return `.leasectl/watchdog/shards/${count}/seats/${seat}`
}
