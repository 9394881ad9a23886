import type { SaxesAttributeNS, SaxesTagNS } from 'saxes'
import {
  ATTRIBUTES,
  type AttributeName,
  type ForeignAttribute,
  LC_ATTRIBUTES,
  LC_NAMESPACE,
  type LcAttributeName,
  newEvent,
  type StreamEvent,
} from '../event.ts'
import { XMLNS_NAMESPACE } from './text.ts'

/** A parser's attributes by qualified name, in document order. */
export type ParsedAttributes = Readonly<Record<string, SaxesAttributeNS>>

/** An event while its document is being read. */
export type EventDraft = { -readonly [Key in keyof StreamEvent]: StreamEvent[Key] }

const NAMES: ReadonlySet<string> = new Set(ATTRIBUTES)
const LC_NAMES: ReadonlySet<string> = new Set(LC_ATTRIBUTES)

/** The event of a start tag. The text before and inside the element is not known yet. */
export function readEvent(attributes: ParsedAttributes): EventDraft {
  const lc: { [Name in LcAttributeName]?: string } = {}
  const foreign: ForeignAttribute[] = []
  const empty: AttributeName[] = []
  const event: EventDraft = newEvent({}, lc)
  for (const key in attributes) {
    const attribute = attributes[key]
    if (attribute === undefined) continue
    const { uri, local, value } = attribute
    if (uri === '' && isName(local)) {
      if (value === '') empty.push(local)
      else event[local] = value
    } else if (uri === LC_NAMESPACE && isLcName(local)) {
      if (value !== '') lc[local] = value
    } else if (key !== 'xmlns') {
      // A default namespace on an event in no namespace can only be the empty one; the writer adds it where needed.
      foreign.push(toForeign(attribute))
    }
  }
  event.foreign = foreign
  event.empty = empty.length > 1 ? ATTRIBUTES.filter(name => empty.includes(name)) : empty
  return event
}

/** Whether the tag is an event, as a direct child of the document element. */
export function isEvent(tag: SaxesTagNS): boolean {
  return tag.name === 'Event' && tag.uri === ''
}

function isName(local: string): local is AttributeName {
  return NAMES.has(local)
}

function isLcName(local: string): local is LcAttributeName {
  return LC_NAMES.has(local)
}

/** An attribute in the form of the model. */
export function toForeign({ name, uri, local, value }: SaxesAttributeNS): ForeignAttribute {
  return { name, uri, local, value }
}

/**
 * The foreign attributes of an event under the document's prefix: unknown ones of our namespace get it, and a
 * declaration of our namespace that nothing inside the event uses is dropped.
 */
export function settleForeign(event: StreamEvent, prefix: string): readonly ForeignAttribute[] {
  const mayUsePrefixes = event.content.includes(':')
  return event.foreign.filter(attribute => mayUsePrefixes || !declaresOurs(attribute)).map(underPrefix(prefix))
}

/** Gives attributes of our namespace the document's prefix. */
export function underPrefix(prefix: string): (attribute: ForeignAttribute) => ForeignAttribute {
  return attribute =>
    attribute.uri === LC_NAMESPACE ? { ...attribute, name: `${prefix}:${attribute.local}` } : attribute
}

function declaresOurs({ uri, value }: ForeignAttribute): boolean {
  return uri === XMLNS_NAMESPACE && value === LC_NAMESPACE
}
