import type { Style } from '../../../../src/formats/terminal/style.ts'
import { cut, cutInside, pad, widthOf } from '../../../../src/formats/terminal/width.ts'
import type { Frame, ScreenRow, StyledText } from '../../../../src/tui/view/row.ts'
import { safeText } from '../../../../src/tui/view/safe-text.ts'

/** Numbers from 0 to 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Realistic frames: columns that are fitted, foreign texts last in their row, hostile ones among them. */
export class RandomFrames {
  readonly #random: () => number
  #rows: ScreenRow[] = []
  #columns = 0

  constructor(seed: number) {
    this.#random = randomOf(seed)
  }

  /** The next frame: some rows of the last one are changed, sometimes all have moved. */
  next({ columns, rows }: { readonly columns: number; readonly rows: number }): Frame {
    const share = this.#pick([0.02, 0.2, 1])
    if (columns !== this.#columns) this.#rows = []
    this.#columns = columns
    const before = this.#random() < 0.2 ? [...this.#rows.slice(1), this.#row(columns)] : this.#rows
    this.#rows = Array.from({ length: rows }, (_, at) => {
      const kept = before[at]
      return kept === undefined || this.#random() < share ? this.#row(columns) : kept
    })
    return { columns, rows: this.#rows }
  }

  #row(columns: number): ScreenRow {
    const kind = this.#random()
    if (kind < 0.1) return { spans: [] }
    const spans: StyledText[] = []
    let left = columns
    for (const wanted of [2, 12, 9, 7]) {
      const width = Math.min(left, wanted)
      spans.push([pad(cut(this.#pick(WORDS), width), width), this.#pick(STYLES)])
      left -= width
    }
    const text = safeText(this.#pick(HOSTILE) + this.#pick(HOSTILE))
    const last = kind < 0.3 ? cutInside(text, left) : cut(text, left)
    if (widthOf(last) <= left) spans.push([last, this.#pick(STYLES)])
    if (kind > 0.92) return { spans, highlight: 'cursor' }
    return kind > 0.85 ? { spans, highlight: 'faint' } : { spans }
  }

  #pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.#random() * values.length)]
    if (value === undefined) throw new Error('there is nothing to choose from')
    return value
  }
}

const STYLES: readonly Style[] = ['plain', 'good', 'bad', 'warn', 'active', 'dim', 'strong', 'mark', 'hue1', 'hue7']

const WORDS = ['', '›', '01.02.00', '▶ inprocess', '✓ completed', '✗ aborted', '◷ waiting', '2m14s', '-', '▁▂▃▅█']

const HOSTILE = [
  'orders/4711',
  '注文/四七一一/日本語の長い名前がここにあります',
  'commande-é-à-ü',
  'e\u0301 combining a\u0300\u0301\u0302\u0303',
  '👍🏽 👩‍👩‍👧‍👦 ❤️ 🇩🇪 1️⃣ ☎️',
  'क्षत्रिय श्री',
  '\x1b[2J\x1b[31mred\x1b]0;title',
  'a\nb\r\nc\td',
  '\x9b31m c1 \u202eright to left\u202c',
  'العربية',
  '\u0e33ไทย ภาษา',
  'x'.repeat(300),
  'Z\u0335\u0321\u0353a\u0336\u0349l\u0334g\u0337o\u0338',
  '𝒳𝓎𝓏 𠀀𠀁 ┊ █░ ⛔ ⚠ ★',
  '\ud800 lone',
]
