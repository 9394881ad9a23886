import type { StreamDocument } from '../document.ts'
import {
  ATTRIBUTES,
  type ForeignAttribute,
  LC_ATTRIBUTES,
  LC_NAMESPACE,
  memoOf,
  type StreamEvent,
  type WrittenEvent,
} from '../event.ts'
import { sumOf } from '../fingerprint.ts'
import { dataElements } from './data.ts'
import { signalsElement } from './signals.ts'
import { BETWEEN_ENTRIES, escapeAttribute, findForbidden, refuseForbidden } from './text.ts'

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'

/**
 * The text of a document, to be stored as UTF-8 without byte order mark, and the fingerprint of its events, which is
 * `lc:sum` in the text (stream-format 7.4). Reading the text gives the same model.
 * @throws InvalidValue if a text in it holds a character that XML cannot hold
 */
export function writeDocument(document: StreamDocument): { text: string; sum: string } {
  const sum = sumOf(document.events)
  const { head, texts, areClean, end } = partsOf(document, sum)
  // One flat string: the parts of one built by `+` would be copied once more.
  const text = [head, ...texts, ...end].join('')
  // The last check: no parser could read such a text, and the stream would be lost. Tags separate the parts, so no surrogate
  // pair is split. The entries of the journal were checked when they were appended.
  if (!areClean || [head, ...end].some(part => part !== document.journal && findForbidden(part) !== -1))
    refuseForbidden(text)
  return { text, sum }
}

/** The size of a document's text in bytes, without building it: all sums have the same length. */
export function writtenBytes(document: StreamDocument): number {
  const { head, bytes, end } = partsOf(document, NO_SUM)
  return end.reduce((sum, part) => sum + Buffer.byteLength(part), Buffer.byteLength(head) + bytes)
}

/** The size of a document's text in bytes if it exceeds the limit; `undefined` otherwise. Counted only near the limit. */
export function bytesAbove(document: StreamDocument, limitBytes: number): number | undefined {
  const { attributes, signals, element, born, at, journal, prolog, epilog, tail } = document
  const isUsual =
    attributes.every(({ value }) => value === LC_NAMESPACE) && attributes.length <= 1 && signals.length === 0
  // `born` and `at` may hold characters that are escaped by six others.
  const units =
    2 * element.length + 6 * (born.length + at.length) + journal.length + prolog.length + epilog.length + tail.length
  // A UTF-16 unit takes at most three bytes.
  if (isUsual && writeEvents(document).bytes + 3 * units + FRAME_BYTES <= limitBytes) return undefined
  const bytes = writtenBytes(document)
  return bytes > limitBytes ? bytes : undefined
}

/** More than what stands around events, journal and raw XML. */
const FRAME_BYTES = 10_000

const NO_SUM = sumOf([])

/** The parts of the text; `areClean`: all events are free of characters that XML cannot hold; `bytes`: their size. */
function partsOf(document: StreamDocument, sum: string) {
  const { element, prolog, epilog, tail, journal, prefix } = document
  const signals = document.signals.length === 0 ? '' : signalsElement(document.signals, prefix)
  const { texts, areClean, bytes } = writeEvents(document)
  const isEmpty = texts.length === 0 && tail === '' && journal === '' && signals === ''
  const start = `<${element}${rootAttributes(document, sum)}${isEmpty ? '/>' : '>'}`
  const head = [`${DECLARATION}\n`, ...lines(prolog), `${start}\n`].join('')
  const last = isEmpty
    ? []
    : [...lines(tail, '  '), ...lines(signals, '  '), ...writeJournal(document), `</${element}>\n`]
  return { head, texts, areClean, bytes, end: [...last, ...lines(epilog)] }
}

function lines(raw: string, indent = ''): string[] {
  return raw === '' ? [] : [`${indent}${raw}\n`]
}

function rootAttributes(document: StreamDocument, sum: string): string {
  const { prefix, attributes, version, born, at, dates } = document
  let text = foreignText(attributes, prefix)
  if (!attributes.some(({ name }) => name === `xmlns:${prefix}`)) text += ` xmlns:${prefix}="${LC_NAMESPACE}"`
  const own: Readonly<Record<string, string>> = { v: version > 0 ? String(version) : '', born, sum, at, dates }
  for (const name in own) {
    const value = own[name]
    if (value) text += ` ${prefix}:${name}="${escapeAttribute(value)}"`
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
function writeEvents({ events, attributes, prefix }: StreamDocument) {
  const noNamespace = attributes.some(({ name, value }) => name === 'xmlns' && value !== '') ? ' xmlns=""' : ''
  const isUsual = prefix === USUAL_PREFIX && noNamespace === ''
  const texts: string[] = []
  let [areClean, bytes] = [true, 0]
  for (const event of events) {
    const memo = isUsual ? memoOf(event) : undefined
    const written = memo?.written ?? writeEvent(event, prefix, noNamespace)
    if (memo !== undefined) memo.written = written
    texts.push(written.text)
    bytes += written.bytes
    areClean &&= written.isClean
  }
  return { texts, areClean, bytes }
}

const USUAL_PREFIX = 'lc'

function writeEvent(event: StreamEvent, prefix: string, noNamespace: string): WrittenEvent {
  const parts = event.before === '' ? ['  <Event'] : ['  ', event.before, '\n  <Event']
  addAttributes(parts, event)
  parts.push(noNamespace, foreignText(event.foreign, prefix))
  addLc(parts, event, prefix)
  const hasData = event.input !== undefined || event.result !== undefined
  if (event.content === '' && !hasData) parts.push('/>\n')
  else parts.push('>', hasData ? dataElements(event, prefix) : '', event.content, '</Event>\n')
  // `join` makes one flat string; a string built by `+` would be flattened at each write.
  const text = parts.join('')
  return { text, bytes: Buffer.byteLength(text), isClean: findForbidden(text) === -1 }
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

/** An empty journal is written only after a foreign one, as the last one counts. The text of the journal is a part of its own. */
function writeJournal({ journal, prefix, tail, events }: StreamDocument): string[] {
  if (journal === '') {
    const mayFollowOne = [tail, ...events.map(({ before }) => before)].some(raw => raw.includes('journal'))
    return mayFollowOne ? [`  <${prefix}:journal/>\n`] : []
  }
  return [`  <${prefix}:journal>${BETWEEN_ENTRIES}`, journal, `\n  </${prefix}:journal>\n`]
}
