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
  await set('--semi-space-growth-factor=1')
  await set('--heap-growing-percent=20')
}

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
