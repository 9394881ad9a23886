import type { StreamDocument } from '../document.ts'
import {
  ATTRIBUTES,
  type EventAttributes,
  LC_ATTRIBUTES,
  LC_NAMESPACE,
  memoOf,
  newEvent,
  type StreamEvent,
  type WrittenEvent,
} from '../event.ts'
import { MAX_READ_EVENTS } from '../limits.ts'
import { scanData } from './data.ts'
import { BETWEEN_ENTRIES, XMLNS_NAMESPACE } from './text.ts'

/**
 * A reader for exactly the texts that `writeDocument` makes of documents without foreign content: every line in its
 * place, attributes in our order. It takes a fraction of a parser's time, which matters to a change of a thousand
 * streams. A text that differs by one character is left to the parser.
 */

const START = `<?xml version="1.0" encoding="utf-8"?>\n<EventStream xmlns:lc="${LC_NAMESPACE}"`
const END = '</EventStream>\n'
const EVENT = '  <Event'

/** Control characters except LF, and the other characters that XML cannot hold. LF occurs only between lines. */
const ODD = /[\u0000-\u0009\u000B-\u001F\uFFFE\uFFFF]/

const ROOT_NAMES = ['v', 'born', 'sum', 'at', 'dates'].map(marked)
const PLAIN_NAMES = ATTRIBUTES.map(name => ({ name, start: ` ${name}="` }))
const LC_START = ' lc:'
const LC_NAMES = LC_ATTRIBUTES.map(name => ({ name, start: ` lc:${name}="` }))

function marked(name: string): string {
  return ` lc:${name}="`
}

/**
 * The document in a text of this form; `undefined` for every other text, well-formed or not.
 * @param keepsTexts the events keep their texts, for the next write
 */
export function scanDocument(text: string, keepsTexts = false): StreamDocument | undefined {
  if (!text.startsWith(START) || !text.endsWith(END) || ODD.test(text) || !text.isWellFormed()) return undefined
  const lineEnd = text.indexOf('\n', START.length)
  const root = scanRoot(text, lineEnd)
  return root && scanContent(text, lineEnd + 1, root, keepsTexts)
}

type Root = Pick<StreamDocument, 'version' | 'born' | 'sum' | 'at' | 'dates'>

function scanRoot(text: string, lineEnd: number): Root | undefined {
  const line = text.slice(START.length, lineEnd)
  if (line.indexOf('>') !== line.length - 1 || line.includes('<') || line.includes('&')) return undefined
  const values: string[] = []
  let at = 0
  for (const start of ROOT_NAMES) {
    if (!line.startsWith(start, at)) {
      values.push('')
      continue
    }
    const end = line.indexOf('"', at + start.length)
    values.push(line.slice(at + start.length, end))
    at = end + 1
  }
  if (at !== line.length - 1) return undefined
  const [version = '', born = '', sum = '', time = '', dates = ''] = values
  if (!/^\d{1,15}$/.test(version) || (dates !== '' && dates !== 'mdy' && dates !== 'dmy')) return undefined
  return { version: Number(version), born, sum, at: time, dates }
}

function scanContent(text: string, start: number, root: Root, keepsTexts: boolean): StreamDocument | undefined {
  const events: StreamEvent[] = []
  let at = start
  while (text.startsWith(EVENT, at)) {
    const lineEnd = text.indexOf('\n', at)
    const event = scanEvent(text.slice(at + EVENT.length, lineEnd))
    if (event === undefined || events.length === MAX_READ_EVENTS) return undefined
    if (keepsTexts) memoOf(event).written = writtenAs(text.slice(at, lineEnd + 1))
    events.push(event)
    at = lineEnd + 1
  }
  const journal = endOfJournal(text, at)
  const first = events[0]
  if (first === undefined || first.prev !== '' || journal === undefined) return undefined
  if (journal.end !== text.length - END.length) return undefined
  return { ...FRAME, ...root, events, journal: journal.raw }
}

/** The whole text has been searched for characters that XML cannot hold. */
function writtenAs(text: string): WrittenEvent {
  return { text, bytes: Buffer.byteLength(text), isClean: true }
}

/** The fields that all such documents share. */
const FRAME = {
  element: 'EventStream',
  attributes: [{ name: 'xmlns:lc', uri: XMLNS_NAMESPACE, local: 'lc', value: LC_NAMESPACE }],
  prefix: 'lc',
  prolog: '',
  epilog: '',
  signals: [],
  tail: '',
} as const

const END_OF_EVENT = '</Event>'

/** @param line the text after `<Event` */
function scanEvent(line: string): StreamEvent | undefined {
  const tagEnd = line.indexOf('>')
  if (tagEnd === line.length - 1) return scanTag(line, '/>')
  if (!line.endsWith(END_OF_EVENT)) return undefined
  const data = scanData(line.slice(tagEnd + 1, -END_OF_EVENT.length), unescaped)
  return data && scanTag(line.slice(0, tagEnd + 1), '>', data)
}

/** @param line the text of the tag after `<Event`, with its `end` */
function scanTag(line: string, end: string, data?: Pick<StreamEvent, 'input' | 'result'>): StreamEvent | undefined {
  if (line.includes('<')) return undefined
  const decode = line.includes('&') ? unescaped : same
  const attributes: { -readonly [Name in keyof EventAttributes]?: string } = {}
  const lc: { [name: string]: string } = {}
  let at = 0
  for (const { name, start } of PLAIN_NAMES) {
    if (!line.startsWith(start, at)) continue
    const end = line.indexOf('"', at + start.length)
    const value = decode(line.slice(at + start.length, end))
    if (!value) return undefined
    attributes[name] = value
    at = end + 1
  }
  if (line.startsWith(LC_START, at)) {
    for (const { name, start } of LC_NAMES) {
      if (!line.startsWith(start, at)) continue
      const end = line.indexOf('"', at + start.length)
      const value = decode(line.slice(at + start.length, end))
      if (!value) return undefined
      lc[name] = value
      at = end + 1
    }
  }
  if (attributes.id === undefined || at !== line.length - end.length || !line.endsWith(end)) return undefined
  return newEvent(attributes, lc, data)
}

function same(value: string): string {
  return value
}

const REFERENCE = /&(?:(amp|lt|gt|quot|#x9|#xA|#xD);)?/g
const CHARACTERS: { readonly [name: string]: string } = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#x9': '\t',
  '#xA': '\n',
  '#xD': '\r',
}

/** `undefined` for a reference that our writer does not use. */
function unescaped(value: string): string | undefined {
  let strange = false
  const plain = value.replace(REFERENCE, (_, name: string | undefined) => {
    const character = name === undefined ? undefined : CHARACTERS[name]
    strange ||= character === undefined
    return character ?? ''
  })
  return strange ? undefined : plain
}

const OPEN = '  <lc:journal>\n'
const CLOSE = '  </lc:journal>\n'

const VALUE = '[^"<>&\\n]*(?:&(?:amp|lt|gt|quot|#x9|#xA|#xD);[^"<>&\\n]*)*'
const TX = tag('    <lc:tx', ['v', 'at', 'by', 'op', 'on', 'cmd', 'n', 'h', 'why', 'other'], '/?>')
const CHANGE = tag('<lc:change', ['event', 'from', 'to', 'how', 'owner', 'attempt', 'attr', 'lc'], '/>')
const END_OF_TX = '</lc:tx>\n'

/** A tag with each attribute at most once and in our order. Command ids have no references. */
function tag(start: string, names: readonly string[], end: string): RegExp {
  const attributes = names.map(name => `(?: ${name}="${name === 'cmd' ? '[^"<>&\\n]*' : VALUE}")?`)
  return new RegExp(`${start}${attributes.join('')}${end}`, 'y')
}

/**
 * The journal at an offset of a text, in exactly the written form, and its end; an empty one if there is none.
 * `undefined` for a journal of another form.
 */
function endOfJournal(text: string, start: number): { readonly raw: string; readonly end: number } | undefined {
  if (!text.startsWith(OPEN, start)) return { raw: '', end: start }
  const first = start + OPEN.length
  let at = first
  while (!text.startsWith(CLOSE, at)) {
    const end = endOfEntry(text, at)
    if (end === undefined) return undefined
    at = end
  }
  if (at === first) return undefined
  return { raw: text.slice(first + BETWEEN_ENTRIES.length - 1, at - 1), end: at + CLOSE.length }
}

function endOfEntry(text: string, start: number): number | undefined {
  TX.lastIndex = start
  if (!TX.test(text)) return undefined
  let at = TX.lastIndex
  if (text[at - 2] === '/') return text[at] === '\n' ? at + 1 : undefined
  for (CHANGE.lastIndex = at; CHANGE.test(text); CHANGE.lastIndex = at) at = CHANGE.lastIndex
  return text.startsWith(END_OF_TX, at) ? at + END_OF_TX.length : undefined
}
