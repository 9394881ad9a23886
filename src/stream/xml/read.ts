import { SaxesParser, type SaxesTagNS } from 'saxes'
import type { StreamDocument } from '../document.ts'
import { type ForeignAttribute, LC_NAMESPACE } from '../event.ts'
import { MAX_ATTRIBUTES, MAX_DEPTH, MAX_FOREIGN_ATTRIBUTES, MAX_READ_EVENTS } from '../limits.ts'
import type { KeptSignal } from '../signal.ts'
import { dataKindOf, readData } from './data.ts'
import { faultAt, lacksBlank, parserFault } from './errors.ts'
import { type EventDraft, isEvent, readEvent, settleForeign, toForeign, underPrefix } from './event.ts'
import { scanDocument } from './fast-read.ts'
import { isNormalJournal, JournalRewriter, type NormalizedJournal } from './journal.ts'
import { isSignals, SignalsReader } from './signals.ts'
import { findForbidden, isBlank, joinRaw, trimmed, unitName } from './text.ts'

/**
 * Reads a stream document strictly and keeps all foreign content (stream-format 7).
 *
 * Events are the document element's direct children named `Event` in no namespace. Attributes of leasectl are found by
 * namespace, with any prefix. Of several journals the last counts, as we write it at the end; the others are kept as
 * foreign elements. A document without events is not a fault.
 * @param text as `decodeDocument` returns it, without byte order mark
 * @param willBeWritten events in our own form keep their text: most are written again unchanged
 * @throws BadDocument with line and column: malformed XML, a DTD, an undefined entity, a duplicate attribute, elements
 * deeper than 64 or with more than 1 100 attributes, a document element or an event with more than 1 000 that are not
 * ours, more than 40 000 events, an event without `id`, a first event with `prev`, an `Event` in the journal
 */
export function readDocument(text: string, willBeWritten = false): StreamDocument {
  return scanDocument(text, willBeWritten) ?? parseDocument(text)
}

/** Reads a document without the fast path for texts of our own form. */
export function parseDocument(text: string): StreamDocument {
  const reader = new Reader(text)
  return reader.read()
}

class Reader {
  readonly #text: string
  readonly #parser = new SaxesParser({ xmlns: true, defaultXMLVersion: '1.0', forceXMLVersion: true })
  readonly #events: EventDraft[] = []
  readonly #ranges: ElementRange[] = []
  /** Prefixes bound to another namespace than ours below the document element. */
  readonly #taken = new Set<string>()
  #root: SaxesTagNS | undefined
  #rootRange: ElementRange = { start: 0, innerStart: 0, innerEnd: 0, end: 0 }
  #journal: JournalElement | undefined
  readonly #signals = new SignalsReader()
  readonly #signalsRanges: ElementRange[] = []
  #inSignals = false
  /** The rewriter of the open journal. */
  #rewriter: JournalRewriter | undefined
  #child: ElementRange = this.#rootRange
  /** The open data element of an event, and the parts of the event's content that such elements take. */
  #data: ElementRange | undefined
  #dataRanges: ElementRange[] = []
  #inEvent = false
  #depth = 0
  #attributes = 0
  #ended = false

  constructor(text: string) {
    this.#text = text
  }

  read(): StreamDocument {
    this.#checkStart()
    this.#subscribe()
    this.#parser.write(this.#text)
    this.#ended = true
    this.#parser.close()
    // `close` has reported a missing document element already.
    if (this.#root === undefined) throw faultAt(this.#text, 0, 'there is no document element')
    return assembleDocument({
      text: this.#text,
      root: this.#root,
      rootRange: this.#rootRange,
      events: this.#events,
      ranges: this.#ranges,
      journal: this.#journal,
      signals: this.#signals.signals,
      signalsRanges: this.#signalsRanges,
      taken: this.#taken,
    })
  }

  /** Checks that saxes omits: it drops a byte order mark and reads the unit after a lone surrogate as its other half. */
  #checkStart(): void {
    if (this.#text.charCodeAt(0) === 0xfeff) throw faultAt(this.#text, 0, 'a second byte order mark')
    if (this.#text.isWellFormed()) return
    const at = findForbidden(this.#text)
    throw faultAt(this.#text, at, `the character ${unitName(this.#text, at)} is not allowed in XML`)
  }

  #subscribe(): void {
    const parser = this.#parser
    parser.on('opentagstart', () => {
      this.#attributes = 0
    })
    parser.on('attribute', () => this.#countAttribute())
    parser.on('opentag', tag => this.#open(tag))
    parser.on('closetag', tag => this.#close(tag))
    parser.on('doctype', () => this.#refuseDoctype())
    parser.on('processinginstruction', instruction => this.#instruction(instruction))
    parser.on('error', error => {
      const length = this.#text.length
      throw parserFault(this.#text, this.#ended ? length : Math.min(parser.position, length) - 1, error.message)
    })
  }

  #countAttribute(): void {
    this.#attributes += 1
    if (this.#attributes <= MAX_ATTRIBUTES) return
    throw this.#faultHere(`an element has more than ${MAX_ATTRIBUTES} attributes`)
  }

  #instruction({ target, body }: { readonly target: string; readonly body: string }): void {
    if (lacksBlank(this.#text, this.#parser.position, target, body)) {
      throw this.#faultHere(`white space is missing after the name of the processing instruction ${target}`)
    }
    this.#rewriter?.aside(`<?${target} ${body}?>`)
  }

  #open(tag: SaxesTagNS): void {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) throw this.#faultHere(`elements are nested deeper than ${MAX_DEPTH}`)
    if (this.#depth === 1) this.#openRoot(tag)
    else {
      this.#noteBindings(tag)
      if (this.#depth === 2) this.#openChild(tag)
      else if (this.#inSignals) this.#signals.open(tag, this.#depth - 2)
      else if (this.#depth === 3) this.#openGrandchild(tag)
      this.#rewriter?.open(tag)
    }
  }

  #openRoot(tag: SaxesTagNS): void {
    this.#root = tag
    this.#rootRange = this.#startRange()
  }

  #noteBindings({ ns }: SaxesTagNS): void {
    for (const prefix in ns) if (ns[prefix] !== LC_NAMESPACE) this.#taken.add(prefix)
  }

  #openChild(tag: SaxesTagNS): void {
    this.#child = this.#startRange()
    if (isJournal(tag)) this.#openJournal()
    this.#inSignals = isSignals(tag)
    if (this.#inSignals) this.#signalsRanges.push(this.#child)
    if (!isEvent(tag)) return
    const first = this.#events.length === 0
    if (this.#events.length === MAX_READ_EVENTS) throw this.#faultHere(`more than ${MAX_READ_EVENTS} events`)
    const event = readEvent(tag.attributes)
    if (event.id === '') throw this.#faultHere('an Event has no id')
    if (first && event.prev !== '') throw this.#faultHere('the first Event is the root and cannot have a prev')
    // The .NET library refuses a root with a `prev`, even an empty one.
    if (first && event.empty.length > 0) event.empty = event.empty.filter(name => name !== 'prev')
    this.#events.push(event)
    this.#inEvent = true
  }

  /** Data of an event. An element of another form, and a second one of its kind, stay in the content as foreign ones. */
  #openGrandchild(tag: SaxesTagNS): void {
    const event = this.#inEvent ? this.#events.at(-1) : undefined
    const kind = dataKindOf(tag)
    if (event === undefined || kind === undefined || event[kind] !== undefined) return
    const data = readData(tag.attributes)
    if (data === undefined) return
    event[kind] = data
    this.#data = this.#startRange()
  }

  /** The element is data only if it is empty. */
  #closeData(range: ElementRange, tag: SaxesTagNS): void {
    this.#data = undefined
    this.#endRange(range, tag.isSelfClosing)
    const event = this.#events.at(-1)
    const kind = dataKindOf(tag)
    if (range.innerStart === range.innerEnd) this.#dataRanges.push(range)
    else if (event !== undefined && kind !== undefined) delete event[kind]
  }

  #openJournal(): void {
    const rewriter = new JournalRewriter(this.#text, this.#parser, this.#root?.ns ?? {})
    this.#rewriter = rewriter
    this.#parser.on('text', value => rewriter.text(value))
    this.#parser.on('cdata', value => rewriter.text(value))
    this.#parser.on('comment', value => rewriter.aside(`<!--${value}-->`))
  }

  #closeJournal(range: ElementRange, rewriter: JournalRewriter): void {
    this.#journal = { range, rewriter }
    this.#rewriter = undefined
    for (const event of ['text', 'cdata', 'comment'] as const) this.#parser.off(event)
  }

  #close(tag: SaxesTagNS): void {
    this.#rewriter?.close(tag)
    this.#depth -= 1
    if (this.#depth === 2 && this.#data !== undefined) this.#closeData(this.#data, tag)
    if (this.#depth > 1) return
    const range = this.#depth === 0 ? this.#rootRange : this.#child
    this.#endRange(range, tag.isSelfClosing)
    if (this.#depth === 0) return
    if (isEvent(tag)) this.#closeEvent(range)
    else if (this.#rewriter !== undefined) this.#closeJournal(range, this.#rewriter)
  }

  #closeEvent(range: ElementRange): void {
    this.#ranges.push(range)
    const event = this.#events.at(-1)
    this.#inEvent = false
    const content = this.#contentOf(range)
    if (event !== undefined && !isBlank(content, 0, content.length)) event.content = content
  }

  /** The raw XML inside an event, without its data. */
  #contentOf({ innerStart, innerEnd }: ElementRange): string {
    let content = ''
    let from = innerStart
    for (const { start, end } of this.#dataRanges) {
      content += this.#text.slice(from, start)
      from = end
    }
    this.#dataRanges = []
    return content + this.#text.slice(from, innerEnd)
  }

  /** A tag begins at the last `<` before its end, as it cannot contain one. */
  #startRange(): ElementRange {
    const end = this.#parser.position
    return { start: this.#text.lastIndexOf('<', end - 1), innerStart: end, innerEnd: end, end }
  }

  #endRange(range: ElementRange, isSelfClosing: boolean): void {
    range.end = this.#parser.position
    range.innerEnd = isSelfClosing ? range.end : this.#text.lastIndexOf('<', range.end - 1)
  }

  #refuseDoctype(): never {
    const start = this.#text.lastIndexOf('<!DOCTYPE', this.#parser.position)
    throw faultAt(this.#text, start, 'a document type declaration (DTD) is not accepted')
  }

  /** A fault at the start of the last markup. */
  #faultHere(message: string): Error {
    return faultAt(this.#text, this.#text.lastIndexOf('<', this.#parser.position - 1), message)
  }
}

function isJournal(tag: SaxesTagNS): boolean {
  return tag.uri === LC_NAMESPACE && tag.local === 'journal'
}

/** Offsets of an element in the text: its first `<`, its content, and its end. */
interface ElementRange {
  readonly start: number
  readonly innerStart: number
  innerEnd: number
  end: number
}

interface JournalElement {
  readonly range: ElementRange
  readonly rewriter: JournalRewriter
}

/** The results of parsing. */
export interface ParsedDocument {
  readonly text: string
  readonly root: SaxesTagNS
  readonly rootRange: ElementRange
  readonly events: readonly EventDraft[]
  /** The events' elements, in the same order. */
  readonly ranges: readonly ElementRange[]
  readonly journal: JournalElement | undefined
  /** Kept signals, and the elements that hold them. */
  readonly signals: readonly KeptSignal[]
  readonly signalsRanges: readonly ElementRange[]
  /** Prefixes bound to another namespace than ours below the document element. */
  readonly taken: ReadonlySet<string>
}

/** Builds the model: raw slices, the prefix, the journal in our form. */
function assembleDocument(parsed: ParsedDocument): StreamDocument {
  const { text, root, rootRange, events } = parsed
  const prefix = choosePrefix(root.ns, parsed.taken)
  const { own, attributes } = splitAttributes(root, prefix)
  const tail = sliceGaps(parsed)
  const { journal, rest } = readJournal(parsed, prefix)
  for (const event of events) if (event.foreign.length > 0) event.foreign = settleForeign(event, prefix)
  checkAttributes(parsed, attributes, prefix)
  return {
    element: root.name,
    attributes,
    prefix,
    version: readVersion(own.v),
    born: own.born,
    sum: own.sum,
    at: own.at,
    dates: own.dates === 'mdy' || own.dates === 'dmy' ? own.dates : '',
    prolog: trimmed(text, declarationEnd(text), rootRange.start),
    epilog: trimmed(text, rootRange.end),
    events,
    signals: parsed.signals,
    tail: joinRaw([tail, ...rest]),
    journal,
  }
}

/** Maximum length of our prefix: each attribute repeats it, so a long one could turn a small document into gigabytes. */
const MAX_PREFIX = 32

/** The prefix that the document element binds to our namespace, unless an element inside rebinds it; else a free one. */
function choosePrefix(bindings: Readonly<Record<string, string>>, taken: ReadonlySet<string>): string {
  for (const prefix in bindings) {
    const isUsable = prefix !== '' && prefix.length <= MAX_PREFIX && !taken.has(prefix)
    if (isUsable && bindings[prefix] === LC_NAMESPACE) return prefix
  }
  let prefix = 'lc'
  for (let number = 1; prefix in bindings || taken.has(prefix); number += 1) prefix = `lc${number}`
  return prefix
}

/**
 * A document must stay readable with all of our attributes added. The declaration of our prefix is one of them, so an
 * existing one does not count.
 */
function checkAttributes(parsed: ParsedDocument, attributes: readonly ForeignAttribute[], prefix: string): void {
  const isDeclared = attributes.some(({ name }) => name === `xmlns:${prefix}`)
  const tooMany = `more than ${MAX_FOREIGN_ATTRIBUTES} attributes that are not ours`
  if (attributes.length - (isDeclared ? 1 : 0) > MAX_FOREIGN_ATTRIBUTES) {
    throw faultAt(parsed.text, parsed.rootRange.start, `the document element has ${tooMany}`)
  }
  const at = parsed.events.findIndex(({ foreign }) => foreign.length > MAX_FOREIGN_ATTRIBUTES)
  const range = parsed.ranges[at]
  if (range !== undefined) throw faultAt(parsed.text, range.start, `an Event has ${tooMany}`)
}

const OWN_NAMES = ['v', 'born', 'sum', 'at', 'dates'] as const

function splitAttributes(root: SaxesTagNS, prefix: string) {
  const own = { v: '', born: '', sum: '', at: '', dates: '' }
  const attributes: ForeignAttribute[] = []
  for (const attribute of Object.values(root.attributes)) {
    const name = attribute.uri === LC_NAMESPACE ? OWN_NAMES.find(known => known === attribute.local) : undefined
    if (name === undefined) attributes.push(toForeign(attribute))
    else own[name] = attribute.value
  }
  return { own, attributes: attributes.map(underPrefix(prefix)) }
}

function readVersion(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

/** Gives each event the text before it; returns the text after the last one. */
function sliceGaps(parsed: ParsedDocument): string {
  let from = parsed.rootRange.innerStart
  parsed.ranges.forEach(({ start, end }, at) => {
    const event = parsed.events[at]
    if (event !== undefined) event.before = sliceGap(parsed, from, start)
    from = end
  })
  return sliceGap(parsed, from, parsed.rootRange.innerEnd)
}

/** The raw text of a gap without the elements that have a place of their own. */
function sliceGap({ text, journal, signalsRanges }: ParsedDocument, from: number, to: number): string {
  const placed = journal === undefined ? signalsRanges : [...signalsRanges, journal.range]
  const inside = placed.filter(({ start }) => start >= from && start < to).sort((a, b) => a.start - b.start)
  const parts: string[] = []
  let at = from
  for (const { start, end } of inside) {
    parts.push(trimmed(text, at, start))
    at = end
  }
  return joinRaw([...parts, trimmed(text, at, to)])
}

function readJournal({ text, journal }: ParsedDocument, prefix: string): NormalizedJournal {
  if (journal === undefined) return { journal: '', rest: [] }
  const { range, rewriter } = journal
  const raw = trimmed(text, range.innerStart, range.innerEnd)
  if (rewriter.declaresBeside(prefix) || !isNormalJournal(raw, prefix)) return rewriter.under(prefix)
  return { journal: raw, rest: [] }
}

/** The end of the XML declaration; 0 without one. */
function declarationEnd(text: string): number {
  return /^<\?xml[\t\n\r ]/.test(text) ? text.indexOf('?>') + 2 : 0
}
