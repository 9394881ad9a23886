import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** What texts are sorted by. */
export interface Moment {
  /** Epoch ms. */
  readonly atMs: number
  readonly stream: string
  /** Its place among those of its stream. */
  readonly place: number
}

/** A text of one line. */
export interface TimedText extends Moment {
  readonly text: string
}

/** So many bytes are packed, and unpacked, at a time. */
const BLOCK_BYTES = 32 * 1024

const LINE_END = Buffer.from('\n')

/** Texts packed in blocks, a tenth of their size. */
export type PackedRun = Uint8Array[]

/** @param textOf its text in UTF-8 */
export function packed<Entry extends Moment>(
  entries: readonly Entry[],
  textOf: (entry: Entry) => Uint8Array,
): PackedRun {
  const blocks: Uint8Array[] = []
  let parts: Uint8Array[] = []
  let bytes = 0
  const pack = () => {
    // a copy: what zlib returns may lie in a larger piece of memory
    if (parts.length > 0) blocks.push(Uint8Array.from(deflateRawSync(Buffer.concat(parts), { level: 1 })))
    parts = []
    bytes = 0
  }
  for (const entry of entries) {
    const text = textOf(entry)
    parts.push(Buffer.from(`${entry.atMs} ${entry.place} ${JSON.stringify(entry.stream)}\n`), text, LINE_END)
    bytes += text.length
    if (bytes > BLOCK_BYTES) pack()
  }
  pack()
  return blocks
}

/** Takes the texts out again, in the order in which they were packed; one block is unpacked at a time. */
export function* unpacked(run: PackedRun): Generator<TimedText> {
  for (let block = run.shift(); block !== undefined; block = run.shift()) {
    const lines = inflateRawSync(block).toString('utf8').split('\n')
    for (let at = 0; at + 1 < lines.length; at += 2) yield timed(lines[at] ?? '', lines[at + 1] ?? '')
  }
}

function timed(head: string, text: string): TimedText {
  const [, atMs, place, stream = '""'] = /^(\S+) (\S+) (.*)$/.exec(head) ?? []
  return { atMs: Number(atMs), place: Number(place), stream: JSON.parse(stream) as string, text }
}
