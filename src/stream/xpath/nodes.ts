import type { StreamDocument } from '../document.ts'
import { ATTRIBUTES, LC_ATTRIBUTES, LC_NAMESPACE, type StreamEvent } from '../event.ts'
import { XMLNS_NAMESPACE } from '../xml/text.ts'

/**
 * A document as XPath sees it: the document element, its `Event` children and the attributes of both, without the
 * journal, comments and foreign elements.
 */
export interface XmlNode {
  readonly nodeType: 1 | 2 | 9
  readonly localName: string
  readonly nodeName: string
  readonly name: string
  readonly prefix: string | null
  readonly namespaceURI: string | null
  /** The value of an attribute. */
  readonly value: string
  readonly parent: XmlNode | undefined
  /** Index among the children of the parent; for an `Event` its position in the document. */
  readonly index: number
  children: readonly XmlNode[]
  /** Created on first use. */
  attributes(): readonly XmlNode[]
}

/** The document element, the context of expressions. */
export function documentElement(document: StreamDocument): XmlNode {
  const root = node({ nodeType: 9, name: '', uri: null })
  const uri = namespacesOf(document).get(prefixOf(document.element) ?? '') ?? null
  const element = node({ nodeType: 1, name: document.element, uri: uri === '' ? null : uri, parent: root }, of =>
    documentAttributes(document, of),
  )
  root.children = [element]
  element.children = document.events.map((event, index) =>
    node({ nodeType: 1, name: 'Event', uri: null, parent: element, index }, of =>
      eventAttributes(event, document.prefix, of),
    ),
  )
  return element
}

/** Namespaces by the prefix that the document element declares, and `lc` for ours. */
export function namespacesOf({ attributes, prefix }: StreamDocument): ReadonlyMap<string, string> {
  const declared = attributes.filter(({ uri }) => uri === XMLNS_NAMESPACE)
  return new Map([
    ['lc', LC_NAMESPACE],
    [prefix, LC_NAMESPACE],
    ...declared.map(({ name, local, value }): [string, string] => [name === 'xmlns' ? '' : local, value]),
  ])
}

interface Given {
  readonly nodeType: XmlNode['nodeType']
  readonly name: string
  readonly uri: string | null
  readonly value?: string
  readonly parent?: XmlNode
  readonly index?: number
}

function node(
  { nodeType, name, uri, value = '', parent, index = 0 }: Given,
  make?: (of: XmlNode) => XmlNode[],
): XmlNode {
  let attributes: readonly XmlNode[] | undefined
  const made: XmlNode = {
    nodeType,
    localName: name.slice(name.indexOf(':') + 1),
    nodeName: name,
    name,
    prefix: prefixOf(name) ?? null,
    namespaceURI: uri,
    value,
    parent,
    index,
    children: [],
    attributes() {
      attributes ??= make?.(made) ?? []
      return attributes
    },
  }
  return made
}

function prefixOf(name: string): string | undefined {
  const colon = name.indexOf(':')
  return colon < 0 ? undefined : name.slice(0, colon)
}

type NamedValue = readonly [name: string, uri: string | null, value: string]

function attributeNodes(parent: XmlNode, values: readonly NamedValue[]): XmlNode[] {
  return values.map(([name, uri, value]) => node({ nodeType: 2, name, uri, value, parent }))
}

function eventAttributes(event: StreamEvent, prefix: string, of: XmlNode): XmlNode[] {
  const own = ATTRIBUTES.filter(name => event[name] !== '' || event.empty.includes(name))
  const ours = LC_ATTRIBUTES.filter(name => event.lc[name] !== undefined)
  return attributeNodes(of, [
    ...own.map((name): NamedValue => [name, null, event[name]]),
    ...ours.map((name): NamedValue => [`${prefix}:${name}`, LC_NAMESPACE, event.lc[name] ?? '']),
    ...foreignValues(event.foreign),
  ])
}

function documentAttributes(document: StreamDocument, of: XmlNode): XmlNode[] {
  const { prefix, version, born, sum, at, dates, attributes } = document
  const ours = Object.entries({ v: version > 0 ? String(version) : '', born, sum, at, dates })
  return attributeNodes(of, [
    ...ours
      .filter(([, value]) => value !== '')
      .map(([name, value]): NamedValue => [`${prefix}:${name}`, LC_NAMESPACE, value]),
    ...foreignValues(attributes),
  ])
}

function foreignValues(attributes: StreamDocument['attributes']): NamedValue[] {
  return attributes
    .filter(({ uri }) => uri !== XMLNS_NAMESPACE)
    .map(({ name, uri, value }): NamedValue => [name, uri === '' ? null : uri, value])
}
