import { SaxesParser } from 'saxes'

/**
 * The .NET library of 2013 as far as it affects leasectl: `XElement.Load`, its XPath queries, its closing
 * algorithm and `XElement.Save`. Independent of leasectl's own reader and writer.
 */

export interface XAttribute {
  readonly name: string
  readonly uri: string
  value: string
}

export interface XElement {
  readonly name: string
  readonly uri: string
  readonly local: string
  attributes: XAttribute[]
  nodes: XNode[]
}

/** `raw` is markup that is saved unchanged: comments, instructions, CDATA. */
export type XNode = XElement | { readonly text: string } | { readonly raw: string }

/** Options of `Save`. Defaults: as `XElement.Save(stream)` on Windows, with mark, indentation and CRLF. */
export interface SaveOptions {
  readonly bom?: boolean
  readonly indent?: boolean
  readonly newline?: '\n' | '\r\n'
  /** A writer that creates each event anew from its own class: only the fourteen attributes and no content survive. */
  readonly rebuildEvents?: boolean
}

/** `XElement.Load`: the document element with all attributes; white space between elements is dropped. */
export function xelementLoad(text: string): XElement {
  const parser = new SaxesParser({ xmlns: true })
  const top: XElement = { name: '', uri: '', local: '', attributes: [], nodes: [] }
  const open = [top]
  const add = (node: XNode) => open.at(-1)?.nodes.push(node)
  parser.on('opentag', ({ name, uri, local, attributes }) => {
    const list = Object.values(attributes).map(a => ({ name: a.name, uri: a.uri, value: a.value }))
    const element: XElement = { name, uri, local, attributes: list, nodes: [] }
    add(element)
    open.push(element)
  })
  parser.on('closetag', () => open.pop())
  parser.on('text', value => /[^ \t\r\n]/.test(value) && open.length > 1 && add({ text: value }))
  parser.on('cdata', value => add({ raw: `<![CDATA[${value}]]>` }))
  parser.on('comment', value => add({ raw: `<!--${value}-->` }))
  parser.on('processinginstruction', ({ target, body }) => add({ raw: `<?${target} ${body}?>` }))
  parser.write(text).close()
  const root = top.nodes.find(isElement)
  if (root === undefined) throw new Error('no document element')
  return root
}

/** `XPathSelectElements("./Event")`, or `./Event[@status='…']`. */
export function xelementSelect(root: XElement, status?: string): XElement[] {
  const events = root.nodes.filter(isElement).filter(({ uri, local }) => uri === '' && local === 'Event')
  return status === undefined ? events : events.filter(event => get(event, 'status') === status)
}

/** A stream accessed by the .NET library. */
export class LegacyStream {
  readonly element: XElement

  /** @throws Error when the first event has a `prev` */
  constructor(text: string) {
    this.element = xelementLoad(text)
    const first = this.select()[0]
    if (first !== undefined && get(first, 'prev') !== undefined) throw new Error('the root event has a prev')
  }

  get root(): XElement {
    return this.#required(this.select()[0], 'the root')
  }

  select(status?: string): XElement[] {
    return xelementSelect(this.element, status)
  }

  /** `./Event[@id='…']`: the first one. */
  find(id: string): XElement | undefined {
    return this.select().find(event => get(event, 'id') === id)
  }

  /** The value of an attribute in no namespace. */
  attribute(id: string, name: string): string | undefined {
    return get(this.#required(this.find(id), id), name)
  }

  /** The actions of a worker: sets the status, touches the event, closes the events above that can close. */
  setStatus(id: string, status: string, now = '11/22/2013 6:23:05 PM'): void {
    const event = this.#required(this.find(id), id)
    set(event, 'status', status)
    set(event, 'timestamp', now)
    if (FINAL.includes(status)) this.#closeAbove(event, now)
  }

  save(options: SaveOptions = {}): Uint8Array {
    const { bom = true, indent = true, newline = '\r\n', rebuildEvents = false } = options
    if (rebuildEvents) for (const event of this.select()) rebuild(event)
    const break_ = indent ? newline : ''
    const text = `<?xml version="1.0" encoding="utf-8"?>${break_}${elementText(this.element, break_)}`
    return new TextEncoder().encode(bom ? `\uFEFF${text}` : text)
  }

  #closeAbove(event: XElement, now: string): void {
    const above = get(event, 'prev')
    if (above === undefined || above === '') return
    const parent = this.#required(this.find(above), above)
    const next = get(parent, 'next')
    if (get(parent, 'status') !== 'inprocess' || next === undefined) return
    const statuses = next.split('|').map(id => this.#statusOf(id))
    if (!statuses.every(status => FINAL.includes(status))) return
    set(parent, 'status', 'completed')
    set(parent, 'timestamp', now)
    if (statuses.some(status => status !== 'completed')) set(parent, 'msg', 'WithError')
    this.#closeAbove(parent, now)
  }

  #statusOf(id: string): string {
    const event = this.find(id)
    return (event && get(event, 'status')) ?? ''
  }

  #required(event: XElement | undefined, what: string): XElement {
    if (event === undefined) throw new Error(`NullReferenceException: no event ${what}`)
    return event
  }
}

/** Constructs of a document by leasectl that the .NET library cannot process; empty if there are none. */
export function legacyFaults(text: string): string[] {
  const events = xelementSelect(xelementLoad(text))
  const byId = new Map(events.map(event => [get(event, 'id') ?? '', event]))
  const faults: string[] = []
  if (byId.size < events.length) faults.push('duplicate ids')
  events.forEach((event, at) => {
    const prev = get(event, 'prev')
    const id = get(event, 'id')
    if (at === 0 && prev !== undefined) faults.push('the root event has a prev')
    if (prev === undefined || prev === '') return
    const next = byId.get(prev) && get(byId.get(prev) as XElement, 'next')
    if (next === undefined) faults.push(`${id}: no next on its parent ${prev}`)
    else if (!next.split('|').includes(id ?? '')) faults.push(`${id}: not in next of its parent ${prev}`)
  })
  return faults
}

const FINAL: readonly string[] = ['completed', 'aborted', 'canceled']
const FOURTEEN = 'name status id topic key msg trackingId created timestamp timeout ref tag prev next'.split(' ')

function isElement(node: XNode): node is XElement {
  return 'nodes' in node
}

function get(element: XElement, name: string): string | undefined {
  return element.attributes.find(attribute => attribute.name === name)?.value
}

function set(element: XElement, name: string, value: string): void {
  const found = element.attributes.find(attribute => attribute.name === name)
  if (found === undefined) element.attributes.push({ name, uri: '', value })
  else found.value = value
}

function rebuild(event: XElement): void {
  const values = FOURTEEN.map(name => ({ name, uri: '', value: get(event, name) ?? '' }))
  event.attributes = values.filter(({ value }) => value !== '')
  event.nodes = []
}

/** In the indentation of `XmlWriter`: not inside an element that contains text. */
function elementText({ name, attributes, nodes }: XElement, break_: string): string {
  const start = `<${name}${attributes.map(a => ` ${a.name}="${attributeText(a.value)}"`).join('')}`
  if (nodes.length === 0) return `${start} />`
  const mixed = nodes.some(node => 'text' in node || ('raw' in node && node.raw.startsWith('<![CDATA[')))
  const inner = mixed || break_ === '' ? '' : `${break_}  `
  const children = nodes.map(node => inner + nodeText(node, inner)).join('')
  return `${start}>${children}${mixed ? '' : break_}</${name}>`
}

function nodeText(node: XNode, break_: string): string {
  if (isElement(node)) return elementText(node, break_)
  return 'text' in node ? textText(node.text) : node.raw
}

function textText(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\r', '&#xD;')
}

function attributeText(value: string): string {
  return textText(value).replaceAll('"', '&quot;').replaceAll('\t', '&#x9;').replaceAll('\n', '&#xA;')
}
