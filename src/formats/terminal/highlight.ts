import type { Paint } from './style.ts'

/** Colour escapes; our own lines contain no other ones. */
const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g')

type Range = readonly [from: number, to: number]

/** Marks the matches of the patterns in a line, whose own colours stay. Patterns need the flag `g`. */
export function highlightMatches(line: string, patterns: readonly RegExp[], paint: Paint): string {
  const text = line.replace(COLOUR, '')
  const ranges = patterns.flatMap(pattern => Array.from(text.matchAll(pattern), rangeOf))
  if (ranges.length === 0) return line
  let marked = ''
  let at = 0
  let copied = 0
  for (const colour of line.matchAll(COLOUR)) {
    const part = line.slice(copied, colour.index)
    marked += markedPart(part, at, ranges, paint) + colour[0]
    at += part.length
    copied = colour.index + colour[0].length
  }
  return marked + markedPart(line.slice(copied), at, ranges, paint)
}

function rangeOf({ index, 0: found }: RegExpExecArray): Range {
  return [index, index + found.length]
}

/** @param at offset of the part in the text without colours */
function markedPart(part: string, at: number, ranges: readonly Range[], paint: Paint): string {
  let result = ''
  let run = ''
  let isMarked = false
  const end = () => {
    result += isMarked && run !== '' ? paint('mark', run) : run
    run = ''
  }
  for (const character of part) {
    const from = at
    at += character.length
    const inside = ranges.some(([begin, stop]) => begin < at && from < stop)
    if (inside !== isMarked) end()
    isMarked = inside
    run += character
  }
  end()
  return result
}
