import { InvalidValue } from '../../../stream/errors.ts'
import { parseDuration } from '../../../stream/time/durations.ts'
import { nearest } from '../../../util/strings.ts'
import { visibleText } from '../../../util/visible-text.ts'

/** A field that a filter can name. */
export interface FilterField<Row> {
  /** Its texts, for `name:text` (contains) and `name=text` (equals). */
  readonly texts?: (row: Row, nowMs: number) => readonly string[]
  /** Its number or, with `isSpan`, a time in ms, for `name>3` and `name<10m`. A row without one is not found. */
  readonly number?: (row: Row, nowMs: number) => number | undefined
  readonly isSpan?: true
}

/** The fields of the rows of a list, by name in small letters. */
export type FilterFields<Row> = Readonly<Record<string, FilterField<Row>>>

/** The rows that a filter leaves. All its terms must hold. */
export interface ParsedFilter<Row> {
  /** Everything matches. */
  readonly isEmpty: boolean
  /** What is wrong with it, in one safe line; a wrong term leaves everything. */
  readonly fault: string | undefined
  /**
   * @param textOf what the row shows, as `searchable` makes it; asked for only if a term needs it
   * @param row without it no field holds
   */
  accepts(textOf: () => string, row: Row | undefined, nowMs: number): boolean
  /** The parts of a displayed text that match its wanted words, in order, without overlaps. */
  matchesIn(text: string): readonly TextRange[]
}

/** A parser that parses a text again only after another one. */
export function filterParser<Row>(fields: FilterFields<Row>): (typed: string) => ParsedFilter<Row> {
  let last: { readonly typed: string; readonly parsed: ParsedFilter<Row> } | undefined
  return typed => {
    if (last?.typed !== typed) last = { typed, parsed: parseFilter(typed, fields) }
    return last.parsed
  }
}

/** Offsets in UTF-16 units. */
export type TextRange = readonly [from: number, to: number]

/**
 * Parses a filter: words that must be found; `!word`; `"two words"`; `/regexp/`; `field:text` and `field=text` with a word,
 * quotes or a regexp; `field>3`, `field<10m`. Case is ignored.
 */
export function parseFilter<Row>(typed: string, fields: FilterFields<Row>): ParsedFilter<Row> {
  const terms: Term<Row>[] = []
  let fault: string | undefined
  for (const token of filterTerms(typed)) {
    const term = termOf(token, fields)
    if (typeof term === 'string') fault ??= visibleText(term)
    else terms.push(term)
  }
  return {
    isEmpty: terms.length === 0,
    fault,
    accepts(textOf, row, nowMs) {
      let known: string | undefined
      const text = () => {
        known ??= textOf()
        return known
      }
      return terms.every(term => term.holds(text, row, nowMs))
    },
    matchesIn: text => rangesIn(text, terms),
  }
}

/** Texts joined for searching: no word can span two of them. */
export function searchable(texts: readonly string[]): string {
  return texts.join('\n').toLowerCase()
}

/** What is typed between blanks; quotes and regexps may have blanks. */
export interface FilterTerm {
  readonly isUnwanted: boolean
  readonly name: string
  readonly sign: '' | ':' | '=' | '<' | '<=' | '>' | '>='
  readonly form: 'word' | 'quoted' | 'regexp'
  readonly value: string
  /** As typed, without `!`. */
  readonly raw: string
  /** Its end is missing. */
  readonly isOpen: boolean
}

/** Groups: `!`, field, sign, quoted text, regexp, word. The end of the last two may be missing while typing. */
const TOKEN = /(!)?(?:([a-z]+)(<=|>=|[:=<>]))?(?:"([^"]*)("|$)|\/((?:\\.|[^\\/])*\\?)(\/(?=\s|$)|$)|(\S*))/iy

/** The terms of a filter as they are typed. */
export function filterTerms(typed: string): readonly FilterTerm[] {
  const tokens: FilterTerm[] = []
  for (let at = 0; at < typed.length; ) {
    if (/\s/.test(typed.charAt(at))) {
      at++
      continue
    }
    TOKEN.lastIndex = at
    const found = TOKEN.exec(typed)
    if (found === null || found[0] === '') break
    at += found[0].length
    tokens.push(tokenOf(found))
  }
  return tokens
}

function tokenOf([
  whole,
  no,
  name = '',
  sign = '',
  quoted,
  quote,
  regexp,
  slash,
  word = '',
]: RegExpExecArray): FilterTerm {
  const named = {
    isUnwanted: no !== undefined,
    name: name.toLowerCase(),
    sign: sign as FilterTerm['sign'],
    raw: whole.slice(no?.length ?? 0),
  }
  if (quoted !== undefined) return { ...named, form: 'quoted', value: quoted, isOpen: quote === '' }
  if (regexp !== undefined) return { ...named, form: 'regexp', value: regexp, isOpen: slash === '' }
  return { ...named, form: 'word', value: word, isOpen: false }
}

/** One condition. */
interface Term<Row> {
  holds(text: () => string, row: Row | undefined, nowMs: number): boolean
  /** What a matching row shows; `undefined` if nothing is to be marked. */
  readonly marks?: TextTest
}

interface TextTest {
  /** @param text in small letters */
  matches(text: string): boolean
  /** With the flag `g`, for a text in small letters; with `m`, as rows are searched as several lines. */
  readonly pattern: RegExp
}

/** A term, or what is wrong with it. A token that says nothing yet, such as `!`, leaves everything. */
function termOf<Row>(token: FilterTerm, fields: FilterFields<Row>): Term<Row> | string {
  const { isUnwanted, name, sign, value, form } = token
  if (sign === '' && value === '' && form !== 'regexp') return { holds: () => true }
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  const term =
    sign === ''
      ? textTerm<Row>(token)
      : field === undefined
        ? unknownField(token, fields)
        : sign === ':' || sign === '='
          ? fieldTerm(token, field)
          : numberTerm(token, field)
  if (typeof term === 'string' || !isUnwanted) return term
  return { holds: (text, row, nowMs) => !term.holds(text, row, nowMs) }
}

function textTerm<Row>(token: FilterTerm): Term<Row> | string {
  const test = textTest(token)
  return typeof test === 'string' ? test : { holds: text => test.matches(text()), marks: test }
}

/** `http://x`, `12:30` and `a->b` are words: only what looks like a field is a mistake. */
function unknownField<Row>(token: FilterTerm, fields: FilterFields<Row>): Term<Row> | string {
  const { name, sign, value, form, raw } = token
  const names = Object.keys(fields)
  const isWord = sign !== ':' || names.length === 0 || (form === 'word' && value.startsWith('//'))
  if (!isWord) {
    const near = nearest(name, names)
    const known = near === undefined ? names.join(' ') : `${near}?`
    return `no field ${name}: ${known}  ("${name}:…" in quotes searches the text)`
  }
  return textTerm({ ...token, form: 'word', value: raw })
}

function fieldTerm<Row>(token: FilterTerm, { texts, number }: FilterField<Row>): Term<Row> | string {
  const { name, sign, value, form } = token
  if (texts === undefined) return `${name} is a number: ${name}>… or ${name}<…`
  if (value === '' && form !== 'regexp') {
    // `owner:` has one, `owner=` has none
    const isWanted = sign === ':'
    return { holds: (_, row, nowMs) => row !== undefined && texts(row, nowMs).some(text => text !== '') === isWanted }
  }
  const test = textTest(token)
  if (typeof test === 'string') return test
  const whole = value.toLowerCase()
  const isFound = (text: string) => (sign === '=' && form !== 'regexp' ? text === whole : test.matches(text))
  const isCount = sign === '=' && number !== undefined && /^\d+$/.test(value)
  return {
    holds: (_, row, nowMs) =>
      row !== undefined &&
      ((isCount && number(row, nowMs) === Number(value)) ||
        texts(row, nowMs).some(text => text !== '' && isFound(text.toLowerCase()))),
    marks: test,
  }
}

function numberTerm<Row>(token: FilterTerm, { number, isSpan }: FilterField<Row>): Term<Row> | string {
  const { name, sign, value } = token
  if (number === undefined) return `${name} is a text: ${name}:… or ${name}=…`
  const limit = isSpan ? spanOf(value) : numberOf(value)
  if (typeof limit === 'string') return `${name}${sign}${value}: ${limit}`
  return {
    holds(_, row, nowMs) {
      const found = row && number(row, nowMs)
      return found !== undefined && compare(found, sign, limit)
    },
  }
}

function compare(found: number, sign: FilterTerm['sign'], limit: number): boolean {
  switch (sign) {
    case '<':
      return found < limit
    case '<=':
      return found <= limit
    case '>':
      return found > limit
    case '>=':
      return found >= limit
    default:
      return false
  }
}

function numberOf(value: string): number | string {
  return /^\d+$/.test(value) ? Number(value) : 'a number is missing, as in >0'
}

function spanOf(value: string): number | string {
  if (!/\d$|[a-z]$/i.test(value)) return 'a time is missing, as in <10m or >1d'
  try {
    return parseDuration(value)
  } catch (error) {
    if (error instanceof InvalidValue) return 'a time needs a unit: 30s, 10m, 2h, 1d'
    throw error
  }
}

/** Longer texts are cut for a regexp: nobody reads so far, and some patterns take the square of the length. */
const REGEXP_LIMIT = 20_000

function textTest({ form, value, isOpen }: FilterTerm): TextTest | string {
  if (form !== 'regexp') {
    const word = value.toLowerCase()
    return { matches: text => text.includes(word), pattern: new RegExp(word.replace(SPECIAL, '\\$&'), 'g') }
  }
  if (isOpen) return `/${value} has no / at its end: /regexp/, or "/${value}" in quotes`
  try {
    const pattern = new RegExp(smallPattern(value), 'gm')
    return { matches: text => text.slice(0, REGEXP_LIMIT).search(pattern) >= 0, pattern }
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*\/[a-z]*: /, '') : ''
    return `/${value}/ is no regexp: ${why}`
  }
}

const SPECIAL = /[\\^$.*+?()[\]{}|]/g

/**
 * The pattern in small letters, except after a backslash: it is compared with small letters, as V8 guards only patterns
 * against endless backtracking that do not ignore case.
 */
function smallPattern(pattern: string): string {
  return pattern.replace(/\\[pP]\{[^}]*\}|\\.|[^\\]+/gsu, part => (part.startsWith('\\') ? part : part.toLowerCase()))
}

function rangesIn<Row>(shown: string, terms: readonly Term<Row>[]): readonly TextRange[] {
  const text = shown.slice(0, REGEXP_LIMIT).toLowerCase()
  // Some capital letters become longer.
  if (text.length !== Math.min(shown.length, REGEXP_LIMIT)) return []
  const found = terms.flatMap(({ marks }): TextRange[] =>
    marks === undefined
      ? []
      : Array.from(text.matchAll(marks.pattern), ({ index, 0: part }) => [index, index + part.length]),
  )
  const ranges: TextRange[] = []
  for (const [from, to] of found.sort(([a], [b]) => a - b)) {
    const begin = Math.max(from, ranges.at(-1)?.[1] ?? 0)
    if (to > begin) ranges.push([begin, to])
  }
  return ranges
}
