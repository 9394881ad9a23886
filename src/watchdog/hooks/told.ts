import { BoundedMap } from '../../util/bounded-map.ts'

/** Ids of the last deliveries, as built by `deliveryKey`, to avoid duplicates. */
export class DeliveredIds {
  readonly #keys: BoundedMap<string, true>

  constructor(limit: number) {
    this.#keys = new BoundedMap(limit)
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  /** False if the id is already known; it then becomes the newest. */
  add(key: string): boolean {
    const isNew = !this.#keys.has(key)
    this.#keys.set(key, true)
    return isNew
  }
}

/** Key of a delivery to a hook, with 64 bits of its id. */
export function deliveryKey(key: string, shortId: string): string {
  return `${key} ${shortId}`
}

/** The first half of the number in `done-0123456789abcdef0123456789abcdef`. */
export function shortId(deliveryId: string): string {
  return deliveryId.slice(-32, -16)
}
