import type { SaxesAttributeNS, SaxesTagNS } from 'saxes'
import { LC_NAMESPACE } from '../event.ts'
import { MAX_ATTRIBUTES } from '../limits.ts'
import { faultAt } from './errors.ts'
import { isEvent } from './event.ts'
import { BETWEEN_ENTRIES, escapeAttribute, isBlank, trimmed, XMLNS_NAMESPACE } from './text.ts'

/** A journal in our written form, and its foreign content as raw XML that can be placed beside the journal. */
export interface NormalizedJournal {
  readonly journal: string
  readonly rest: readonly string[]
}

/** Maximum characters of namespace declarations copied to elements of the journal. */
const MAX_COPIED = 1 << 20

/** Placeholder for our prefix until that is known: XML cannot hold this character. */
const PREFIX = '\uFFFF'

type Bindings = Readonly<Record<string, string>>

/**
 * Rewrites a journal element to our form while a parser reads it. Its foreign content (comments, processing
 * instructions, elements of other namespaces) is collected separately.
 */
export class JournalRewriter {
  readonly #source: string
  readonly #parser: { readonly position: number }
  /** Namespace declarations of the document element, the journal and the open elements in it. */
  readonly #scopes: Bindings[]
  readonly #rest: string[] = []
  /** Prefixes that the journal's own tag declares. */
  #declared: readonly string[] = []
  #journal = ''
  /** Depth of the open element: 0 outside the journal, 1 for the journal itself. */
  #depth = 0
  /** Depth and offset of the open foreign element; depth 0 for none. */
  #foreignDepth = 0
  #foreignStart = 0
  #tagIsOpen = false
  /** Text since our last tag. */
  #text = ''
  #budget = MAX_COPIED
  /** The first reason why the journal cannot be rewritten; it counts only if a rewrite is needed. */
  #fault: { readonly at: number; readonly message: string } | undefined

  /** @param outer the namespaces of the document element */
  constructor(source: string, parser: { readonly position: number }, outer: Bindings) {
    this.#source = source
    this.#parser = parser
    this.#scopes = [outer]
  }

  /** Whether the journal's own tag, which we write without attributes, declares other prefixes than ours. */
  declaresBeside(prefix: string): boolean {
    return this.#declared.some(name => name !== prefix)
  }

  /**
   * @throws BadDocument if a rewrite would copy more than a megabyte of namespace declarations, make a tag with too
   * many attributes, or move an `Event` from the journal into the stream
   */
  under(prefix: string): NormalizedJournal {
    if (this.#fault !== undefined) throw faultAt(this.#source, this.#fault.at, this.#fault.message)
    return { journal: trimmed(this.#journal.replaceAll(PREFIX, prefix)), rest: this.#rest }
  }

  /** Handles a start tag; the first one is the journal's own. */
  open(tag: SaxesTagNS): void {
    this.#depth += 1
    if (this.#foreignDepth > 0 || this.#fault !== undefined) return
    if (tag.uri === LC_NAMESPACE) {
      this.#scopes.push(tag.ns)
      if (this.#depth > 1) this.#openOwn(tag)
      else this.#declared = Object.keys(tag.ns)
    } else {
      this.#foreignDepth = this.#depth
      this.#foreignStart = this.#tagStart()
      if (isEvent(tag)) {
        this.#refuse('an Event stands in the journal; events are direct children of the document element')
      }
    }
  }

  close(tag: SaxesTagNS): void {
    const ends = this.#depth
    this.#depth -= 1
    if (this.#fault !== undefined) return
    if (this.#foreignDepth === ends) {
      this.#rest.push(this.#foreignText(tag))
      this.#foreignDepth = 0
    } else if (this.#foreignDepth === 0) {
      this.#scopes.pop()
      this.#endText()
      if (ends > 1) this.#closeOwn(tag)
    }
  }

  /** Keeps text and CDATA in place as text. */
  text(value: string): void {
    if (this.#foreignDepth === 0) this.#text += value
  }

  aside(raw: string): void {
    if (this.#foreignDepth === 0) this.#rest.push(raw)
  }

  #openOwn(tag: SaxesTagNS): void {
    this.#endText()
    this.#endTag()
    if (this.#depth === 2) this.#journal += BETWEEN_ENTRIES
    this.#journal += `<${PREFIX}:${tag.local}${this.#attributes(tag)}`
    this.#tagIsOpen = true
  }

  #closeOwn(tag: SaxesTagNS): void {
    this.#journal += this.#tagIsOpen ? '/>' : `</${PREFIX}:${tag.local}>`
    this.#tagIsOpen = false
  }

  /** Escaped quotes keep the search for ids exact. White space beside tags is indentation, which would grow if kept. */
  #endText(): void {
    const text = trimmed(this.#text)
    this.#text = ''
    if (text === '') return
    this.#endTag()
    this.#journal += escapeAttribute(text)
  }

  #endTag(): void {
    if (this.#tagIsOpen) this.#journal += '>'
    this.#tagIsOpen = false
  }

  #attributes(tag: SaxesTagNS): string {
    let declared: Map<string, string> | undefined
    let text = ''
    for (const key in tag.attributes) {
      const { prefix, local, uri, value } = tag.attributes[key] as SaxesAttributeNS
      if (uri === XMLNS_NAMESPACE) continue
      const name = uri === '' ? local : `${uri === LC_NAMESPACE ? PREFIX : prefix}:${local}`
      if (uri !== '' && uri !== LC_NAMESPACE && prefix !== 'xml') declared = (declared ?? new Map()).set(prefix, uri)
      text += ` ${name}="${escapeAttribute(value)}"`
    }
    if (declared === undefined) return text
    this.#limit(Object.keys(tag.attributes).length - Object.keys(tag.ns).length + declared.size)
    for (const [prefix, uri] of declared) {
      const declaration = ` xmlns:${prefix}="${escapeAttribute(uri)}"`
      if (!(prefix in tag.ns)) this.#spend(declaration.length)
      text += declaration
    }
    return text
  }

  /** The raw element with the namespace declarations that it would lose outside the journal. */
  #foreignText(tag: SaxesTagNS): string {
    const raw = this.#source.slice(this.#foreignStart, this.#parser.position)
    const outer = this.#scopes[0] ?? {}
    const nameEnd = 1 + tag.name.length
    let declarations = ''
    let count = Object.keys(tag.attributes).length
    for (const [prefix, uri] of this.#innerBindings()) {
      if (prefix in tag.ns || outer[prefix] === uri) continue
      declarations += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeAttribute(uri)}"`
      count += 1
    }
    this.#limit(count)
    this.#spend(declarations.length)
    return raw.slice(0, nameEnd) + declarations + raw.slice(nameEnd)
  }

  #innerBindings(): Map<string, string> {
    const bindings = new Map<string, string>()
    for (const scope of this.#scopes.slice(1)) {
      for (const [prefix, uri] of Object.entries(scope)) bindings.set(prefix, uri)
      this.#spend(bindings.size)
    }
    return bindings
  }

  /** Limits the copies: declarations on many elements could turn a small document into gigabytes. */
  #spend(cost: number): void {
    this.#budget -= cost
    if (this.#budget < 0) this.#refuse('too many namespaces in the journal are not ours')
  }

  /** Limits the attributes of a tag, so that the written document is readable. */
  #limit(attributes: number): void {
    if (attributes <= MAX_ATTRIBUTES) return
    this.#refuse(`an element in the journal would have more than ${MAX_ATTRIBUTES} attributes, with its namespaces`)
  }

  #refuse(message: string): void {
    this.#fault ??= { at: this.#foreignDepth > 0 ? this.#foreignStart : this.#tagStart(), message }
  }

  #tagStart(): number {
    return this.#source.lastIndexOf('<', this.#parser.position - 1)
  }
}

/** A tag after its prefix: a name and attributes in double quotes, one blank before each, ids without references. */
const REST_OF_TAG = /[^\s"'<>=/:]+(?: (?:(?!cmd=)[^\s"'<>=/]+="[^"<>]*"|cmd="[^"<>&]*")){0,30}\/?>/y

/**
 * Whether the journal's raw content is in our written form: tags of our namespace under the document's prefix and white
 * space. In that form a search for ` cmd="ID"` finds every entry with the id and nothing else.
 */
export function isNormalJournal(raw: string, prefix: string): boolean {
  const open = `<${prefix}:`
  const close = `</${prefix}:`
  let at = 0
  while (at < raw.length) {
    const tag = raw.indexOf('<', at)
    if (tag === -1 || !isBlank(raw, at, tag)) return false
    if (raw.startsWith(open, tag)) REST_OF_TAG.lastIndex = tag + open.length
    else if (raw.startsWith(close, tag)) REST_OF_TAG.lastIndex = tag + close.length
    else return false
    if (!REST_OF_TAG.test(raw)) return false
    at = REST_OF_TAG.lastIndex
  }
  return true
}
