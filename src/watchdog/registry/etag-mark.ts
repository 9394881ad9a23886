/**
 * What is kept of an ETag: 52 bits of hash, of two that differ the same once in 10^15. Two FNV-1a hashes of 26 bits; never
 * 0, which stands for none.
 */
export function markOf(etag: string): number {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let at = 0; at < etag.length; at++) {
    const unit = etag.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x5bd1e995)
  }
  return (a >>> 6) * 0x4000000 + (b >>> 6) + 1
}
