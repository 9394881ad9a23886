/** A delivery as a handler saw it. */
export interface SeenDelivery {
  readonly stream: string
  readonly version: number
}

export interface DeliveryVerdict {
  /** Transactions that came too early or never. */
  readonly violations: readonly string[]
  /** Deliveries of transactions that had been delivered before. */
  readonly repeated: readonly SeenDelivery[]
}

/**
 * Judges the deliveries of a subscription, in the order in which they came: each version of each stream after the one before it.
 *
 * @param newest the last version of each stream, all of which must have come
 */
export function judgeDeliveries(seen: readonly SeenDelivery[], newest: ReadonlyMap<string, number>): DeliveryVerdict {
  const violations: string[] = []
  const repeated: SeenDelivery[] = []
  const handled = new Map<string, number>()
  for (const delivery of seen) {
    const { stream, version } = delivery
    const last = handled.get(stream) ?? 0
    if (!newest.has(stream)) violations.push(`${stream}@${version} does not match`)
    if (version > last + 1) violations.push(`${stream}@${version} after ${last}`)
    if (version <= last) repeated.push(delivery)
    else handled.set(stream, version)
  }
  for (const [stream, version] of newest) {
    const last = handled.get(stream) ?? 0
    if (last !== version) violations.push(`${stream} ended with ${last}, not ${version}`)
  }
  return { violations, repeated }
}
