/**
 * Settings of the JavaScript engine that only some commands need, made when they begin. An engine that does not know one
 * of them passes over it.
 */

/**
 * For commands that read very many documents. What each leaves behind is garbage at once, yet V8 by default lets the space
 * for young objects alone grow past 100 MB before it collects it. Here it stays as it is and the rest grows little, for a
 * tenth more time.
 */
export async function keepHeapSmall(): Promise<void> {
  await set('--semi-space-growth-factor=1')
  await set('--heap-growing-percent=20')
}

/**
 * For commands that search texts of strangers with a pattern of the user's: an unlucky one such as `(a+)+$` can be made to
 * search for hours, in which not even Ctrl-C is heard. Where V8's usual engine loses itself it goes over to one of linear
 * time; what that one cannot do (references to groups, looking around, ignoring case) stays with the usual one.
 */
export function guardSearches(): Promise<void> {
  return set('--enable-experimental-regexp-engine-on-excessive-backtracks')
}

async function set(flag: string): Promise<void> {
  const { setFlagsFromString } = await import('node:v8')
  setFlagsFromString(flag)
}
