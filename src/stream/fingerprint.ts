import { hash } from 'node:crypto'
import { ATTRIBUTES, LC_ATTRIBUTES, LC_NAMESPACE, memoOf, type StreamEvent } from './event.ts'
import { XMLNS_NAMESPACE } from './xml/text.ts'

/** Leading number of the sums that this version writes and compares. */
const KIND = '2:'

/**
 * Fingerprint of the events, for `lc:sum`: `2:` and the hex SHA-256 over the digests of the events in document order.
 * The digest of an event is the hex SHA-256 over its attributes in canonical form (stream-format 5). Child nodes,
 * namespace prefixes, attribute order and layout do not count.
 */
export function sumOf(events: readonly StreamEvent[]): string {
  return `${KIND}${hash('sha256', events.map(digestOf).join(''), 'hex')}`
}

/** Whether it is a sum of events, which a foreign write breaks. Sums of other kinds are not compared. */
export function isComparable(sum: string): boolean {
  return sum === '' || sum.startsWith(KIND)
}

/** Computed once: the sum after a change costs one digest, not the whole document. */
function digestOf(event: StreamEvent): string {
  const memo = memoOf(event)
  if (memo.digest !== undefined) return memo.digest
  const lines = (event.foreign.length === 0 ? ownLines(event) : allLines(event)).join('')
  memo.digest = hash('sha256', lines, 'hex')
  return memo.digest
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
  if (hasKeys(event.lc)) {
    for (const { name, start } of LC_ORDER) {
      const value = event.lc[name]
      if (value) parts.push(start, quoted(value), '\n')
    }
  }
  for (const { name, start } of OWN_ORDER) {
    const value = event[name]
    if (value !== '') parts.push(start, quoted(value), '\n')
  }
  parts.push('\n')
  return parts
}

function hasKeys(object: object): boolean {
  for (const _ in object) return true
  return false
}

/** As a JSON string. Most texts have nothing to escape, and looking is faster. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

const PLAIN = /^[ !#-[\]-~]*$/

function allLines(event: StreamEvent): string[] {
  const lines = ownLines(event).join('').split('\n').slice(0, -2)
  for (const { uri, local, value } of event.foreign) {
    if (value !== '' && uri !== XMLNS_NAMESPACE) lines.push(lineStart(uri, local) + JSON.stringify(value))
  }
  return [...lines.sort().map(line => `${line}\n`), '\n']
}
