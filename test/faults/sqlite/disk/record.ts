import { readFileSync } from 'node:fs'

/** One call that a program made, in the order of all its processes. */
export interface Entry {
  /** Created, Made (a folder), Written, Truncated, Synced, sync Failed, Unlinked, or A mark. */
  readonly kind: 'C' | 'M' | 'W' | 'T' | 'S' | 'F' | 'U' | 'A'
  /** Of a mark: its text. */
  readonly path: string
  /** Of a truncation: the new size. */
  readonly offset: number
  readonly data: Buffer
}

/** As `disk.c` writes it. */
export function readRecord(file: string): readonly Entry[] {
  const all = readFileSync(file)
  const entries: Entry[] = []
  for (let at = 0; at < all.length; ) {
    const pathLength = all.readUInt16LE(at + 1)
    const length = all.readUInt32LE(at + 11)
    const path = at + 15
    const data = path + pathLength
    entries.push({
      kind: String.fromCharCode(all[at] ?? 0) as Entry['kind'],
      path: all.toString('utf8', path, data),
      offset: Number(all.readBigUInt64LE(at + 3)),
      data: all.subarray(data, data + length),
    })
    at = data + length
  }
  return entries
}
