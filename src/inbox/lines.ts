/** A line of an input, without its line feed. */
export interface InputLine {
  /** From 1. */
  readonly number: number
  /** Of a line that is too long only the beginning. */
  readonly bytes: Uint8Array
  readonly isTooLong: boolean
  /** Where the next line begins, bytes from the beginning of the input. */
  readonly end: number
}

const LINE_FEED = 0x0a

/** Lines that are given together, at most: a chunk may be nothing but line feeds. */
const MOST_LINES = 1_000

/**
 * The lines of an input, those of a chunk together, up to `MOST_LINES`. Memory is bounded by the longest line that is taken: of a longer one
 * the rest is skipped.
 * @param from number of lines and bytes before the source
 */
export async function* linesIn(
  source: AsyncIterable<Uint8Array>,
  mostBytes: number,
  from: { readonly lines: number; readonly bytes: number } = { lines: 0, bytes: 0 },
): AsyncGenerator<readonly InputLine[]> {
  let number = from.lines
  let read = from.bytes
  let begun: Uint8Array[] = []
  let begunBytes = 0
  let isTooLong = false
  const keep = (part: Uint8Array) => {
    const room = mostBytes - begunBytes
    isTooLong ||= part.length > room
    if (part.length === 0 || room <= 0) return
    begun.push(part.length > room ? part.subarray(0, room) : part)
    begunBytes += Math.min(part.length, room)
  }
  const line = (end: number): InputLine => {
    const bytes = begun.length === 1 && begun[0] !== undefined ? begun[0] : Buffer.concat(begun)
    const found = { number: ++number, bytes, isTooLong, end }
    begun = []
    begunBytes = 0
    isTooLong = false
    return found
  }
  for await (const chunk of source) {
    let lines: InputLine[] = []
    let at = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, at)) {
      keep(chunk.subarray(at, end))
      lines.push(line(read + end + 1))
      at = end + 1
      if (lines.length < MOST_LINES) continue
      yield lines
      lines = []
    }
    keep(chunk.subarray(at))
    read += chunk.length
    if (lines.length > 0) yield lines
  }
  if (begunBytes > 0 || isTooLong) yield [line(read)]
}
