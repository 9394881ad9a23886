import { crc32, deflateSync } from 'node:zlib'

export interface Pixels {
  readonly width: number
  readonly height: number
  /** Red, green, blue, alpha. */
  readonly pixels: Uint8Array
}

/**
 * A PNG with a palette, half the size of one without, because screens of text have few colours. `undefined` if there are more
 * than 256 colours, or not all pixels are opaque.
 */
export function indexedPng({ width, height, pixels }: Pixels): Uint8Array | undefined {
  const places = new Map<number, number>()
  const lines = Buffer.alloc((width + 1) * height)
  for (let at = 0; at < width * height; at++) {
    const [red = 0, green = 0, blue = 0, alpha] = pixels.subarray(4 * at, 4 * at + 4)
    if (alpha !== 255) return undefined
    const colour = (red << 16) | (green << 8) | blue
    const place = places.get(colour) ?? places.size
    places.set(colour, place)
    // Each line begins with its filter type: none.
    lines[at + Math.floor(at / width) + 1] = place
  }
  if (places.size > 256) return undefined
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set(INDEXED, 8)
  const colours = Buffer.from([...places.keys()].flatMap(colour => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const data = deflateSync(lines, { level: 9 })
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', data),
    chunk('IEND', EMPTY),
  ])
}

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
/** Eight bits per pixel, an index into the palette. */
const INDEXED = [8, 3, 0, 0, 0]
const EMPTY = Buffer.alloc(0)

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
