import { cut, widthOf } from './width.ts'

/** A text in lines of so many columns, broken at blanks where there are some. At most `most` lines; the last one tells with `…` of more. */
export function wrapped(text: string, width: number, most: number): string[] {
  const lines: string[] = []
  let rest = text.trim()
  while (rest !== '' && lines.length < most) {
    if (lines.length === most - 1 || widthOf(rest) <= width) return [...lines, cut(rest, width)]
    const head = cut(rest, width).slice(0, -1)
    const blank = head.lastIndexOf(' ')
    const taken = blank > head.length / 2 ? head.slice(0, blank) : head
    if (taken === '') return lines
    lines.push(taken)
    rest = rest.slice(taken.length).trimStart()
  }
  return lines
}
