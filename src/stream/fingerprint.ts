import { hash } from 'node:crypto'
import { ATTRIBUTES, LC_ATTRIBUTES, LC_NAMESPACE, type StreamEvent } from './event.ts'
import { XMLNS_NAMESPACE } from './xml/text.ts'

/**
 * Fingerprint of the events, for `lc:sum`: `1:` and the hex SHA-256 over each event's attributes in canonical form
 * (stream-format 5). Child nodes, namespace prefixes, attribute order and layout do not count.
 */
export function sumOf(events: readonly StreamEvent[]): string {
  return `1:${hash('sha256', events.map(linesOf).join(''), 'hex')}`
}

/** Cached, as events are immutable: an unchanged event is formatted once, not again when it is written. */
const LINES = new WeakMap<StreamEvent, string>()

function linesOf(event: StreamEvent): string {
  const known = LINES.get(event)
  if (known !== undefined) return known
  // `join` makes one flat string; a string built by `+` would be flattened at each hash.
  const lines = (event.foreign.length === 0 ? ownLines(event) : allLines(event)).join('')
  LINES.set(event, lines)
  return lines
}

/** `{namespace}local=` of our own attributes in sorted order; no line start is a prefix of another. */
const LC_ORDER = inOrder(LC_ATTRIBUTES, LC_NAMESPACE)
const OWN_ORDER = inOrder(ATTRIBUTES, '')

function inOrder<Name extends string>(names: readonly Name[], uri: string): readonly { name: Name; start: string }[] {
  return names.map(name => ({ name, start: lineStart(uri, name) })).sort((a, b) => (a.start < b.start ? -1 : 1))
}

function lineStart(uri: string, local: string): string {
  return `{${uri}}${local}=`
}

/** The lines and an empty line at the end. `{urn…}` sorts before `{}`. */
function ownLines(event: StreamEvent): string[] {
  const parts: string[] = []
  for (const { name, start } of LC_ORDER) {
    const value = event.lc[name]
    if (value) parts.push(start, JSON.stringify(value), '\n')
  }
  for (const { name, start } of OWN_ORDER) {
    const value = event[name]
    if (value !== '') parts.push(start, JSON.stringify(value), '\n')
  }
  parts.push('\n')
  return parts
}

function allLines(event: StreamEvent): string[] {
  const lines = ownLines(event).join('').split('\n').slice(0, -2)
  for (const { uri, local, value } of event.foreign) {
    if (value !== '' && uri !== XMLNS_NAMESPACE) lines.push(lineStart(uri, local) + JSON.stringify(value))
  }
  return [...lines.sort().map(line => `${line}\n`), '\n']
}
