/** What a summary may take beside the body: the sum of all keys, with the prefix a store gives them, and values. */
const SUMMARY_LIMIT_BYTES = 4096
/** Of these, what a store needs to mark the body the summary belongs to, and for the prefix of each key. */
const MARK_BYTES = 128
const PREFIX_BYTES = 12

/** Limits of the two lists, in bytes as encoded, separators included. */
export const WAITING_ON_LIMIT_BYTES = 512
export const READY_LIMIT_BYTES = 1024

/** A text that had to be shortened ends with this: the document has all of it. */
const CUT_MARK = '…'
const CUT_MARK_BYTES = encodeURIComponent(CUT_MARK).length
/** No text is shortened below this many encoded bytes. */
const MIN_TEXT_BYTES = 96

/**
 * The first items that fit into so many bytes when joined by a separator of one byte, then `+N` for the N left out.
 * A last item that is such a mark already is counted in.
 * @param sizeOf bytes of an item as it will be written
 */
export function cutList(items: readonly string[], limitBytes: number, sizeOf: (item: string) => number): string[] {
  const earlier = cutCount(items.at(-1))
  const whole = earlier === 0 ? items : items.slice(0, -1)
  const sizes = whole.map(item => sizeOf(item) + 1)
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  if (earlier === 0 && bytes - 1 <= limitBytes) return [...whole]
  let kept = whole.length
  const mark = () => `+${whole.length - kept + earlier}`
  while (kept > 0 && bytes + mark().length > limitBytes) bytes -= sizes[--kept] ?? 0
  return [...whole.slice(0, kept), mark()]
}

/** How many items the mark `+N` at the end of a list stands for; 0 for any other item. */
export function cutCount(item: string | undefined): number {
  return item !== undefined && /^\+\d{1,9}$/.test(item) ? Number(item.slice(1)) : 0
}

/** By how many bytes the encoded fields exceed the limit; 0 or less when they fit. */
export function excessBytes(fields: Readonly<Record<string, string>>): number {
  let bytes = MARK_BYTES
  for (const [key, value] of Object.entries(fields)) bytes += PREFIX_BYTES + key.length + value.length
  return bytes - SUMMARY_LIMIT_BYTES
}

/** The text percent-encoded and shortened by `over` bytes, cut at a whole character, but never below 96 bytes. */
export function shortened(text: string, over: number): string {
  const encoded = encodeURIComponent(text)
  if (over <= 0 || encoded.length <= MIN_TEXT_BYTES) return encoded
  const limit = Math.max(MIN_TEXT_BYTES, encoded.length - over) - CUT_MARK_BYTES
  let kept = ''
  for (const character of text) {
    const next = encodeURIComponent(character)
    if (kept.length + next.length > limit) break
    kept += next
  }
  return kept + encodeURIComponent(CUT_MARK)
}
