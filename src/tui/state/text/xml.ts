import { styleOf } from '../../../formats/terminal/style.ts'
import { cached } from '../../cached.ts'
import type { OpenStream } from '../../data/types.ts'
import type { ReadableText, StyledRange } from './text.ts'

/** The stored document of a stream as a text with colours and elements to fold. */
export function xmlText(open: OpenStream | undefined): ReadableText {
  return xmlOf(open?.text ?? NO_LINES)
}

const NO_LINES: readonly string[] = []

const xmlOf = cached((lines: readonly string[]): ReadableText => {
  let ends: ReadonlyMap<number, number> | undefined
  return {
    lines,
    rangesOf: line => rangesOf(lines[line] ?? ''),
    outline: {
      get ends() {
        ends ??= elementEnds(lines)
        return ends
      },
      keyOf: line => keyOf(lines, line),
    },
  }
})

/** The line of an event; `undefined` if it is not in the text. */
export function lineOfEvent({ lines }: ReadableText, id: string): number | undefined {
  const attribute = idAttribute(id)
  const at = lines.findIndex(line => line.includes(attribute) && line.trimStart().startsWith('<Event'))
  return at < 0 ? undefined : at
}

/** The one of these events to whose element a line belongs; `undefined` outside of all, and if the line has several. */
export function eventOfLine<Event extends { readonly id: string }>(
  { lines, outline }: ReadableText,
  line: number,
  events: readonly Event[],
): Event | undefined {
  const first = lines.findLastIndex((text, at) => at <= line && /^\s*<Event\s/.test(text))
  const text = lines[first]
  if (text === undefined || (outline?.ends.get(first) ?? first) < line) return undefined
  return text.split(/<Event\s/).length === 2 ? events.find(({ id }) => text.includes(idAttribute(id))) : undefined
}

function idAttribute(id: string): string {
  return ` id="${id.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')}"`
}

/** The first line of each element of several lines, with its last one. One pass over the tags. */
function elementEnds(lines: readonly string[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>()
  const open: { readonly name: string; readonly line: number }[] = []
  for (const [line, text] of lines.entries()) {
    for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
      const next = text[at + 1] ?? ''
      if (next === '?' || next === '!') continue
      if (next !== '/') {
        const end = text.indexOf('>', at)
        if (end < 0 || text[end - 1] !== '/') open.push({ name: nameAt(text, at + 1), line })
        continue
      }
      // What is damaged in between is not closed.
      const name = nameAt(text, at + 2)
      const top = open.findLastIndex(one => one.name === name)
      const from = open[top]?.line
      if (from === undefined) continue
      open.length = top
      if (from < line && !ends.has(from)) ends.set(from, line)
    }
  }
  return new Map([...ends].sort(([a], [b]) => a - b))
}

function nameAt(text: string, at: number): string {
  NAME.lastIndex = at
  return NAME.exec(text)?.[0] ?? ''
}

const NAME = /[^\s/>]*/y

const HEAD = /^\s*<([\w:.-]+)(?:\s[^<>]*?\b(?:id|v)="([^"]*)")?/

/** Element and id. Elements of others without an id, and other lines, are known by their number. */
function keyOf(lines: readonly string[], line: number): string {
  const found = HEAD.exec((lines[line] ?? '').slice(0, MOST_HEAD))
  const [, name = '', id] = found ?? []
  return id === undefined && !name.startsWith('lc:') ? `#${line}` : `${name} ${id ?? ''}`
}

const MOST_HEAD = 1_000

/** Longer lines are shown without colours. UTF-16 units. */
const MOST_COLOURED = 20_000
const TOKEN = /<!--.*?(?:-->|$)|<[/?!]?[\w:.-]*|[\w:.-]+(?==["'])|(?<==)"[^"<]*"?|(?<==)'[^'<]*'?|[/?]?>/g

function rangesOf(line: string): readonly StyledRange[] {
  if (line.length > MOST_COLOURED) return []
  const ranges: StyledRange[] = []
  let attribute = ''
  for (const { index: from, 0: token } of line.matchAll(TOKEN)) {
    const to = from + token.length
    if (token.startsWith('<!--') || /^[/?]?>$/.test(token)) ranges.push({ from, to, style: 'dim' })
    else if (token.startsWith('<')) ranges.push(...tagRanges(from, token))
    else if (/^["']/.test(token)) ranges.push({ from, to, style: valueStyle(attribute, token) })
    else {
      attribute = token
      ranges.push({ from, to, style: 'hue1' })
    }
  }
  return ranges
}

function tagRanges(from: number, token: string): StyledRange[] {
  const name = from + (/^<[/?!]?/.exec(token)?.[0].length ?? 1)
  return [
    { from, to: name, style: 'dim' },
    { from: name, to: from + token.length, style: 'strong' },
  ]
}

function valueStyle(attribute: string, value: string): StyledRange['style'] {
  return attribute === 'status' ? styleOf(value.slice(1, -1)).style : 'plain'
}
