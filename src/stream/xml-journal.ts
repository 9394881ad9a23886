import type { SaxesAttributeNS, SaxesTagNS } from 'saxes'
import { LC_NAMESPACE } from './event.ts'
import { faultAt } from './xml-fault.ts'
import { escapeAttribute, isBlank, trimmed, XMLNS_NAMESPACE } from './xml-text.ts'

/** After the prefix: a name and attributes between double quotes, one blank before each, ids without references. */
const REST_OF_TAG = /[^\s"'<>=/:]+(?: (?:(?!cmd=)[^\s"'<>=/]+="[^"<>]*"|cmd="[^"<>&]*")){0,30}\/?>/y

/**
 * True if the journal's raw content is in the form in which we write it: tags of our namespace under the document's
 * prefix and white space. In that form a search for ` cmd="ID"` finds every entry with the id and nothing else.
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

/** A journal in the form above, and what is not ours in it: raw, fit to stand beside the journal. */
export interface NormalJournal {
  readonly journal: string
  readonly rest: readonly string[]
}

/** The most characters of namespace declarations that are copied to elements which leave the journal. */
const MAX_COPIED = 1 << 20

/** Stands for our prefix until that is known: XML cannot hold this character. */
const PREFIX = '\uFFFF'

type Bindings = Readonly<Record<string, string>>

/**
 * Writes a journal element in the form above while a parser reads it. What is not ours inside it (comments, processing
 * instructions, elements of other namespaces) is kept apart.
 */
export class JournalRewriter {
  readonly #source: string
  readonly #parser: { readonly position: number }
  /** Namespace declarations of the document element, the journal and the open elements in it. */
  readonly #scopes: Bindings[]
  readonly #rest: string[] = []
  #journal = ''
  /** 0 outside the journal, 1 directly in it. */
  #depth = 0
  /** The depth and offset of the foreign element being passed over; its depth is 0 when there is none. */
  #foreignDepth = 0
  #foreignStart = 0
  #tagIsOpen = false
  #budget = MAX_COPIED
  /** Where that was used up. */
  #overspentAt: number | undefined

  /** @param outer the namespaces of the document element */
  constructor(source: string, parser: { readonly position: number }, outer: Bindings) {
    this.#source = source
    this.#parser = parser
    this.#scopes = [outer]
  }

  /** @throws BadDocument if it took more than a megabyte of copied namespace declarations */
  under(prefix: string): NormalJournal {
    if (this.#overspentAt !== undefined) {
      throw faultAt(this.#source, this.#overspentAt, 'too many namespaces in the journal are not ours')
    }
    return { journal: trimmed(this.#journal.replaceAll(PREFIX, prefix)), rest: this.#rest }
  }

  /** First for the journal's own tag. */
  open(tag: SaxesTagNS): void {
    this.#depth += 1
    if (this.#foreignDepth > 0) return
    if (tag.uri === LC_NAMESPACE) {
      this.#scopes.push(tag.ns)
      if (this.#depth > 1) this.#openOwn(tag)
    } else {
      this.#foreignDepth = this.#depth
      this.#foreignStart = this.#source.lastIndexOf('<', this.#parser.position - 1)
    }
  }

  close(tag: SaxesTagNS): void {
    const ends = this.#depth
    this.#depth -= 1
    if (this.#foreignDepth === ends) {
      this.#foreignDepth = 0
      if (this.#overspentAt === undefined) this.#rest.push(this.#foreignText(tag))
    } else if (this.#foreignDepth === 0) {
      this.#scopes.pop()
      if (ends > 1) this.#closeOwn(tag)
    }
  }

  /** Text and CDATA are kept in place as text; escaped quotes keep the search for ids exact. */
  text(value: string): void {
    if (this.#foreignDepth > 0 || isBlank(value, 0, value.length)) return
    this.#endTag()
    this.#journal += escapeAttribute(value)
  }

  aside(raw: string): void {
    if (this.#foreignDepth === 0) this.#rest.push(raw)
  }

  #openOwn(tag: SaxesTagNS): void {
    this.#endTag()
    if (this.#depth === 2) this.#journal += '\n'
    this.#journal += `<${PREFIX}:${tag.local}${this.#attributes(tag)}`
    this.#tagIsOpen = true
  }

  #closeOwn(tag: SaxesTagNS): void {
    this.#journal += this.#tagIsOpen ? '/>' : `</${PREFIX}:${tag.local}>`
    this.#tagIsOpen = false
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
    for (const [prefix, uri] of declared ?? []) text += ` xmlns:${prefix}="${escapeAttribute(uri)}"`
    return text
  }

  /** The raw element, with the declarations it loses by leaving the journal. */
  #foreignText(tag: SaxesTagNS): string {
    const raw = this.#source.slice(this.#foreignStart, this.#parser.position)
    const outer = this.#scopes[0] ?? {}
    const nameEnd = 1 + tag.name.length
    let declarations = ''
    for (const [prefix, uri] of this.#innerBindings()) {
      if (prefix in tag.ns || outer[prefix] === uri) continue
      declarations += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeAttribute(uri)}"`
    }
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

  /** Copying declarations to many elements could make gigabytes of a small document. */
  #spend(cost: number): void {
    this.#budget -= cost
    if (this.#budget < 0) this.#overspentAt ??= this.#foreignStart
  }
}
