import type { StreamDocument } from './document.ts'
import { InvalidValue } from './errors.ts'
import { ATTRIBUTES, type ForeignAttribute, LC_ATTRIBUTES, LC_NAMESPACE, type StreamEvent } from './event.ts'
import { sumOf } from './sum.ts'
import { escapeAttribute, findForbidden, unitName } from './xml-text.ts'

const DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'

/**
 * The text of a document, to be stored as UTF-8 without byte order mark, and the fingerprint of its events that the
 * text carries as `lc:sum` (stream-format 7.4). Reading it gives the same model back.
 * @throws InvalidValue if a text in it holds a character that XML cannot hold
 */
export function writeDocument(document: StreamDocument): { text: string; sum: string } {
  const { element, prefix, prolog, epilog, tail, journal } = document
  const sum = sumOf(document.events)
  const lines = [DECLARATION]
  if (prolog !== '') lines.push(prolog)
  const start = `<${element}${rootAttributes(document, sum)}`
  const children = writeEvents(document)
  if (tail !== '') children.push(`  ${tail}`)
  if (journal !== '') children.push(writeJournal(journal, prefix))
  if (children.length === 0) lines.push(`${start}/>`)
  else lines.push(`${start}>`, children.join('\n'), `</${element}>`)
  if (epilog !== '') lines.push(epilog)
  const text = `${lines.join('\n')}\n`
  refuseForbidden(text)
  return { text, sum }
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

function writeEvents({ events, attributes, prefix }: StreamDocument): string[] {
  const noNamespace = attributes.some(({ name, value }) => name === 'xmlns' && value !== '') ? ' xmlns=""' : ''
  const texts = textsIn(`${prefix}${noNamespace}`)
  return events.map(event => {
    const known = texts.get(event)
    if (known !== undefined) return known
    const start = `  <Event${eventAttributes(event)}${noNamespace}${foreignText(event.foreign, prefix)}${lcText(event, prefix)}`
    const element = event.content === '' ? `${start}/>` : `${start}>${event.content}</Event>`
    const text = event.before === '' ? element : `  ${event.before}\n${element}`
    texts.set(event, text)
    return text
  })
}

/** Texts of events that were written before in the usual surroundings: an event is a value, so its text stays. */
const USUAL = { surroundings: 'lc', texts: new WeakMap<StreamEvent, string>() }

function textsIn(surroundings: string): WeakMap<StreamEvent, string> {
  return surroundings === USUAL.surroundings ? USUAL.texts : new WeakMap()
}

function eventAttributes(event: StreamEvent): string {
  let text = ''
  for (const name of ATTRIBUTES) {
    const value = event[name]
    if (value !== '') text += ` ${name}="${escapeAttribute(value)}"`
    else if (event.empty.includes(name)) text += ` ${name}=""`
  }
  return text
}

function lcText({ lc }: StreamEvent, prefix: string): string {
  let text = ''
  for (const name of LC_ATTRIBUTES) {
    const value = lc[name]
    if (value) text += ` ${prefix}:${name}="${escapeAttribute(value)}"`
  }
  return text
}

/** Entries stand on lines of their own at an indentation of four. */
function writeJournal(journal: string, prefix: string): string {
  return `  <${prefix}:journal>\n    ${journal.replaceAll('\n<', '\n    <')}\n  </${prefix}:journal>`
}

/** The last line of defence: no parser would read such a text again, and the stream would be lost. */
function refuseForbidden(text: string): void {
  const at = findForbidden(text)
  if (at === -1) return
  const lineStart = text.lastIndexOf('\n', at) + 1
  const id = / id="([^"]*)"/.exec(text.slice(lineStart, at))?.[1]
  const where = id === undefined ? '' : ` (event ${id})`
  throw new InvalidValue(`a text holds ${unitName(text, at)}, a character that XML cannot hold${where}`)
}
