import type { SaxesTagNS } from 'saxes'
import type { StreamDocument } from '../document.ts'
import { type ForeignAttribute, LC_NAMESPACE } from '../event.ts'
import { MAX_FOREIGN_ATTRIBUTES } from '../limits.ts'
import { faultAt } from './errors.ts'
import { type EventDraft, settleForeign, toForeign, underPrefix } from './event.ts'
import type { JournalRewriter, NormalJournal } from './journal.ts'
import { isNormalJournal } from './journal-form.ts'
import { joinRaw, trimmed } from './text.ts'

/** Where an element stands in the text: offsets of its first `<`, of its content and of what follows it. */
export interface ElementRange {
  readonly start: number
  readonly innerStart: number
  innerEnd: number
  end: number
}

export interface JournalElement {
  readonly range: ElementRange
  readonly rewriter: JournalRewriter
}

/** What parsing found. */
export interface ParsedDocument {
  readonly text: string
  readonly root: SaxesTagNS
  readonly rootRange: ElementRange
  readonly events: readonly EventDraft[]
  /** The events' elements, in the same order. */
  readonly ranges: readonly ElementRange[]
  readonly journal: JournalElement | undefined
  /** Prefixes bound to another namespace than ours below the document element. */
  readonly taken: ReadonlySet<string>
}

/** Makes the model of what was parsed: raw slices, the prefix, the journal in our form. */
export function assembleDocument(parsed: ParsedDocument): StreamDocument {
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
    tail: joinRaw([tail, ...rest]),
    journal,
  }
}

/** It is repeated in each attribute of ours: a long one would make gigabytes of a small document. */
const MAX_PREFIX = 32

/** The prefix the document element binds to our namespace, unless something inside binds it otherwise; else a free one. */
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
 * What is read must stay readable when all of ours is added. The declaration of our prefix is among what is added, so it
 * does not count where it is there already.
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

/** The text before each event goes to the event; what stands after the last one is returned. */
function sliceGaps(parsed: ParsedDocument): string {
  let from = parsed.rootRange.innerStart
  parsed.ranges.forEach(({ start, end }, at) => {
    const event = parsed.events[at]
    if (event !== undefined) event.before = sliceGap(parsed, from, start)
    from = end
  })
  return sliceGap(parsed, from, parsed.rootRange.innerEnd)
}

function sliceGap({ text, journal }: ParsedDocument, from: number, to: number): string {
  const { start, end } = journal?.range ?? { start: -1, end: -1 }
  if (start < from || start >= to) return trimmed(text, from, to)
  return joinRaw([trimmed(text, from, start), trimmed(text, end, to)])
}

/** Entries stand at an indentation of four in the document and at none in the model. */
function readJournal({ text, journal }: ParsedDocument, prefix: string): NormalJournal {
  if (journal === undefined) return { journal: '', rest: [] }
  const { range, rewriter } = journal
  const raw = trimmed(text, range.innerStart, range.innerEnd)
  if (rewriter.declaresBeside(prefix) || !isNormalJournal(raw, prefix)) return rewriter.under(prefix)
  return { journal: raw.replaceAll('\n    <', '\n<'), rest: [] }
}

/** Where the XML declaration ends; 0 without one. */
function declarationEnd(text: string): number {
  return /^<\?xml[\t\n\r ]/.test(text) ? text.indexOf('?>') + 2 : 0
}
