/**
 * Settings of the JavaScript engine for single commands, set when they start. Engines ignore settings that they do not
 * know.
 */

/**
 * For commands that read many documents. Each document is garbage at once, but by default V8 lets the space for young
 * objects alone grow past 100 MB before it collects. With these settings that space does not grow and the rest grows
 * little, for 10 % more time.
 */
export async function keepHeapSmall(): Promise<void> {
  await set(`${YOUNG_GROWTH}=1`)
  await set('--heap-growing-percent=20')
}

const YOUNG_GROWTH = '--semi-space-growth-factor'

/** The space for young objects after `keepHeapSmall`. */
export interface YoungSpace {
  /** Lets it grow to some 8 MB. To be called again and again: a collection can double it. */
  grow(): void
  /** It grows no more. V8 lets it shrink by itself while little happens. */
  hold(): void
}

/** For work with a hundred documents in hand: in the smallest space collecting takes a third of its time. */
export async function youngSpace(): Promise<YoungSpace> {
  const { getHeapSpaceStatistics, setFlagsFromString } = await import('node:v8')
  const hold = () => setFlagsFromString(`${YOUNG_GROWTH}=1`)
  const grow = () => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    if (young === undefined || young.space_size >= YOUNG_BYTES) hold()
    else setFlagsFromString(`${YOUNG_GROWTH}=2`)
  }
  return { grow, hold }
}

const YOUNG_BYTES = 32 * 1024 ** 2

/**
 * For commands that run for a long time and do little at once. The rest of the heap otherwise grows by steps of 8 MB at least:
 * with this setting a subscription of 100 000 streams takes 145 MB in place of 185 to 220. Code that runs much is half again
 * as slow.
 */
export async function keepHeapSmallest(): Promise<void> {
  await keepHeapSmall()
  await set('--optimize-for-size')
}

/**
 * For commands that match foreign texts against a pattern of the user. A pattern such as `(a+)+$` can take hours, and
 * Ctrl-C is not handled meanwhile. On excessive backtracking V8 switches to its linear-time engine, except for patterns
 * that this engine does not support (back-references, lookaround, ignoring case).
 */
export function guardSearches(): Promise<void> {
  return set('--enable-experimental-regexp-engine-on-excessive-backtracks')
}

async function set(flag: string): Promise<void> {
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString(flag)
}
