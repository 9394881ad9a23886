/** The document whose lease a shard is. Watchdogs with other counts work on other documents. */
export function shardName(count: number, shard: number): string {
  return `.leasectl/watchdog/shards/${count}/${shard}`
}

/** The document whose lease says that a watchdog is there. */
export function seatName(count: number, seat: number): string {
  return `.leasectl/watchdog/shards/${count}/seats/${seat}`
}
