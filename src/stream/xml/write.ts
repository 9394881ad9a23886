import type { StreamDocument } from '../document.ts'
import { InvalidValue } from '../errors.ts'
import { ATTRIBUTES, type ForeignAttribute, LC_ATTRIBUTES, LC_NAMESPACE, type StreamEvent } from '../event.ts'
import { sumOf } from '../fingerprint.ts'
import { dataElements } from './data.ts'
import { signalsElement } from './signals.ts'
import { escapeAttribute, findForbidden, unitName } from './text.ts'

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'

/**
 * The text of a document, to be stored as UTF-8 without byte order mark, and the fingerprint of its events, which is
 * `lc:sum` in the text (stream-format 7.4). Reading the text gives the same model.
 * @throws InvalidValue if a text in it holds a character that XML cannot hold
 */
export function writeDocument(document: StreamDocument): { text: string; sum: string } {
  const sum = sumOf(document.events)
  const { head, texts, areClean, end } = partsOf(document, sum)
  const text = `${head}${texts.join('')}${end}`
  // Tags separate the parts, so no surrogate pair is split.
  if (!areClean || findForbidden(head) !== -1 || findForbidden(end) !== -1) refuseForbidden(text)
  return { text, sum }
}

/** The size of a document's text in bytes, without building it: all sums have the same length. */
export function writtenBytes(document: StreamDocument): number {
  const { head, texts, end } = partsOf(document, NO_SUM)
  let bytes = Buffer.byteLength(head) + Buffer.byteLength(end)
  for (const text of texts) bytes += Buffer.byteLength(text)
  return bytes
}

const NO_SUM = sumOf([])

/** The parts of the text; `areClean`: all events are free of characters that XML cannot hold. */
function partsOf(document: StreamDocument, sum: string) {
  const { element, prolog, epilog, tail, journal, prefix } = document
  const signals = document.signals.length === 0 ? '' : signalsElement(document.signals, prefix)
  const { texts, areClean } = writeEvents(document)
  const isEmpty = texts.length === 0 && tail === '' && journal === '' && signals === ''
  const start = `<${element}${rootAttributes(document, sum)}${isEmpty ? '/>' : '>'}`
  const head = [DECLARATION, ...present(prolog), start, ''].join('\n')
  const last = isEmpty
    ? []
    : [...present(tail, '  '), ...present(signals, '  '), ...writeJournal(document), `</${element}>`]
  const end = [...last, ...present(epilog), ''].join('\n')
  return { head, texts, areClean, end }
}

function present(raw: string, indent = ''): string[] {
  return raw === '' ? [] : [indent + raw]
}

function rootAttributes(document: StreamDocument, sum: string): string {
  const { prefix, attributes, version, born, at, dates } = document
  let text = foreignText(attributes, prefix)
  if (!attributes.some(({ name }) => name === `xmlns:${prefix}`)) text += ` xmlns:${prefix}="${LC_NAMESPACE}"`
  const own = { v: version > 0 ? String(version) : '', born, sum, at, dates }
  for (const [name, value] of Object.entries(own)) {
    if (value !== '') text += ` ${prefix}:${name}="${escapeAttribute(value)}"`
  }
  return text
}

function foreignText(attributes: readonly ForeignAttribute[], prefix: string): string {
  let text = ''
  for (const { name, uri, local, value } of attributes) {
    text += ` ${uri === LC_NAMESPACE ? `${prefix}:${local}` : name}="${escapeAttribute(value)}"`
  }
  return text
}

/** Each event with the line break behind it. */
function writeEvents({ events, attributes, prefix }: StreamDocument): { texts: string[]; areClean: boolean } {
  const noNamespace = attributes.some(({ name, value }) => name === 'xmlns' && value !== '') ? ' xmlns=""' : ''
  const known = textsIn(`${prefix}${noNamespace}`)
  let areClean = true
  const texts = events.map(event => {
    const before = known.get(event)
    if (before !== undefined) return before
    const text = writeEvent(event, prefix, noNamespace)
    if (findForbidden(text) === -1) known.set(event, text)
    else areClean = false
    return text
  })
  return { texts, areClean }
}

function writeEvent(event: StreamEvent, prefix: string, noNamespace: string): string {
  const parts = event.before === '' ? ['  <Event'] : ['  ', event.before, '\n  <Event']
  addAttributes(parts, event)
  parts.push(noNamespace, foreignText(event.foreign, prefix))
  addLc(parts, event, prefix)
  const hasData = event.input !== undefined || event.result !== undefined
  if (event.content === '' && !hasData) parts.push('/>\n')
  else parts.push('>', hasData ? dataElements(event, prefix) : '', event.content, '</Event>\n')
  // `join` makes one flat string; a string built by `+` would be flattened at each write.
  return parts.join('')
}

/** Cached clean texts of events written with the usual prefix and namespace: events are immutable. */
const USUAL = { surroundings: 'lc', texts: new WeakMap<StreamEvent, string>() }

function textsIn(surroundings: string): WeakMap<StreamEvent, string> {
  return surroundings === USUAL.surroundings ? USUAL.texts : new WeakMap()
}

function addAttributes(parts: string[], event: StreamEvent): void {
  for (const name of ATTRIBUTES) {
    const value = event[name]
    if (value !== '') parts.push(' ', name, '="', escapeAttribute(value), '"')
    else if (event.empty.includes(name)) parts.push(' ', name, '=""')
  }
}

function addLc(parts: string[], { lc }: StreamEvent, prefix: string): void {
  for (const name of LC_ATTRIBUTES) {
    const value = lc[name]
    if (value) parts.push(' ', prefix, ':', name, '="', escapeAttribute(value), '"')
  }
}

/** Entries are indented by four. An empty journal is written only after a foreign one, as the last one counts. */
function writeJournal({ journal, prefix, tail, events }: StreamDocument): string[] {
  if (journal === '') {
    const mayFollowOne = [tail, ...events.map(({ before }) => before)].some(raw => raw.includes('journal'))
    return mayFollowOne ? [`  <${prefix}:journal/>`] : []
  }
  return [`  <${prefix}:journal>`, `    ${journal.replaceAll('\n<', '\n    <')}`, `  </${prefix}:journal>`]
}

/** The last check: no parser could read such a text, and the stream would be lost. */
function refuseForbidden(text: string): void {
  const at = findForbidden(text)
  if (at === -1) return
  const lineStart = text.lastIndexOf('\n', at) + 1
  const id = / id="([^"]*)"/.exec(text.slice(lineStart, at))?.[1]
  const where = id === undefined ? '' : ` (event ${id})`
  throw new InvalidValue(`a text holds ${unitName(text, at)}, a character that XML cannot hold${where}`)
}
