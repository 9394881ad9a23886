import { Random } from '../../simulation/random.ts'
import type { GoodDocument } from './xml-documents.ts'

/** Characters that break careless readers; half of them are legal in some place. */
const PIECES = [
  ...[
    '<',
    '>',
    '&',
    '"',
    "'",
    '?',
    '!',
    '-',
    '--',
    ']',
    ']]>',
    '/',
    '/>',
    '=',
    ':',
    ';',
    '#',
    'x',
    ' ',
    '\t',
    '\n',
    '\r',
  ],
  ...[
    '<!--',
    '-->',
    '<![CDATA[',
    '<?',
    '?>',
    '<?xml version="1.0"?>',
    '<!DOCTYPE S>',
    '<!ENTITY a "b">',
    '<a>',
    '</a>',
  ],
  ...['&lt;', '&a;', '&#0;', '&#x1;', '&#x20;', '&#xD800;', '&#x110000;', '&#1114112;', '&amp', ' id="00"', ' a=""'],
  ...[' xmlns=""', ' xmlns:a=""', ' xmlns:a="u"', 'a:', 'xmlns:', 'xml:', ' prev="00"', '</Event>', '<Event id="7"/>'],
  ...[
    '\u0000',
    '\u0001',
    '\u001b',
    '\u007f',
    '\u0085',
    '\u009b',
    '\u202e',
    '\ufeff',
    '\ufffe',
    '\uffff',
    '😀',
    'é',
    '\u00b7',
  ],
] as const

/** Bytes that are not UTF-8, or half a character. */
const BYTES = [[0x80], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f], [0xff], [0xfe], [0], [0xf5, 0x80, 0x80, 0x80]]

const KINDS = ['insert', 'replace', 'cut', 'double', 'swap', 'splice', 'flip', 'bytes', 'truncate'] as const

/** A damaged copy of one of the documents: the same for the same seed. */
export function mutant(documents: readonly [GoodDocument, ...GoodDocument[]], seed: number): Buffer {
  const random = new Random(`xml ${seed}`)
  let bytes = random.pick(documents).bytes
  for (let left = random.chance(0.7) ? 1 : random.whole(2, 3); left > 0; left -= 1)
    bytes = mutated(bytes, documents, random)
  return bytes
}

function mutated(bytes: Buffer, documents: readonly [GoodDocument, ...GoodDocument[]], random: Random): Buffer {
  const start = random.whole(0, Math.max(0, bytes.length - 1))
  const end = Math.min(bytes.length, start + random.whole(1, 12))
  const part = bytes.subarray(start, end)
  const around = (...middle: Buffer[]) => Buffer.concat([bytes.subarray(0, start), ...middle, bytes.subarray(end)])
  switch (random.pick(KINDS)) {
    case 'insert':
      return around(encoded(random.pick(PIECES), bytes), part)
    case 'replace':
      return around(encoded(random.pick(PIECES), bytes))
    case 'cut':
      return around()
    case 'double':
      return around(part, part)
    case 'swap':
      return around(Buffer.from(part).reverse())
    case 'splice': {
      const other = random.pick(documents).bytes
      const from = random.whole(0, other.length - 1)
      return around(other.subarray(from, from + random.whole(1, 60)))
    }
    case 'flip':
      return around(Buffer.from(part.map((byte, at) => (at === 0 ? byte ^ (1 << random.whole(0, 7)) : byte))))
    case 'bytes':
      return around(Buffer.from(random.pick(BYTES as [number[], ...number[][]])))
    case 'truncate':
      return bytes.subarray(0, start)
  }
}

/** In the encoding of the document; otherwise UTF-16 would always be invalid. */
function encoded(piece: string, bytes: Buffer): Buffer {
  if (bytes[0] === 0xff) return Buffer.from(piece, 'utf16le')
  return bytes[0] === 0xfe ? Buffer.from(piece, 'utf16le').swap16() : Buffer.from(piece)
}
