import { EMPTY_DOCUMENT, type StreamDocument } from '../document.ts'
import { InvalidValue } from '../errors.ts'
import { type Evaluate, loadEngine } from './engine.ts'
import { documentElement, namespacesOf, type XmlNode } from './nodes.ts'

/** The result of an expression. */
export type Selected =
  /** Positions of events in the document, ascending; empty for no match. */
  | { readonly kind: 'events'; readonly positions: readonly number[] }
  /** Numbers, texts, booleans, and the values of attributes. */
  | { readonly kind: 'values'; readonly values: readonly SelectedValue[] }

/** A value in a result. */
export type SelectedValue = string | number | boolean

/** A valid expression. */
export interface ParsedXPath {
  /**
   * @throws InvalidValue if it cannot be evaluated on this document, or selects other nodes than events and attributes
   */
  select(document: StreamDocument): Selected
}

/**
 * Parses an XPath 3.1 expression over the events of a document. As in .NET, the document element is the context, so
 * that `./Event[@status='init']` and `/EventStream/Event` mean the same. `lc:` is leasectl's namespace.
 *
 * The number of visited nodes is bounded. An expression that visits no nodes, such as a loop over a large range, is
 * not.
 * @throws InvalidValue for an invalid expression, with the place if known
 */
export async function parseXPath(expression: string): Promise<ParsedXPath> {
  const evaluate = await loadEngine()
  const select = (document: StreamDocument) => selectedOf(run(evaluate, expression, document))
  try {
    run(evaluate, expression, EMPTY_DOCUMENT)
  } catch (error) {
    if (error instanceof InvalidExpression && error.isStatic) throw error
  }
  return { select }
}

/** Whether the result is empty: no event or value, or the single value 0, NaN, false or the empty text. */
export function isNothing(selected: Selected): boolean {
  if (selected.kind === 'events') return selected.positions.length === 0
  const [only, ...others] = selected.values
  return others.length === 0 && !only
}

function run(evaluate: Evaluate, expression: string, document: StreamDocument): unknown[] {
  try {
    return evaluate(expression, documentElement(document), namespacesOf(document))
  } catch (error) {
    throw error instanceof InvalidValue ? error : new InvalidExpression(error)
  }
}

function selectedOf(items: readonly unknown[]): Selected {
  const nodes = items.filter(isNode)
  if (nodes.length === items.length && nodes.every(node => node.nodeType === 1 && node.parent?.nodeType === 1)) {
    return { kind: 'events', positions: [...new Set(nodes.map(({ index }) => index))].sort((a, b) => a - b) }
  }
  return { kind: 'values', values: items.map(valueIn) }
}

function valueIn(item: unknown): SelectedValue {
  if (typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean') return item
  if (item instanceof Date) return item.toISOString()
  if (!isNode(item)) throw new InvalidValue('it selects something that is not an event, text, number or boolean')
  if (item.nodeType === 2) return item.value
  const what = item.nodeType === 9 || item.parent?.nodeType === 9 ? 'the document itself' : 'both events and values'
  throw new InvalidValue(`it selects ${what}`, { hint: 'Select events, as ./Event does, or values.' })
}

function isNode(item: unknown): item is XmlNode {
  return typeof item === 'object' && item !== null && 'nodeType' in item
}

/** An error of the engine, in one sentence. */
class InvalidExpression extends InvalidValue {
  /** The expression is invalid for any document: it does not parse, or names an unknown function or variable. */
  readonly isStatic: boolean

  constructor(cause: unknown) {
    const message = cause instanceof Error ? cause.message : ''
    const code = /\b(X[PQU](?:ST|DY|TY|DC)\d{4}|FO[A-Z]{2}\d{4})\b/.exec(message)?.[1]
    super(sentenceOf(message, code), { cause })
    // An unknown prefix may be declared by another document.
    this.isStatic = code !== undefined && /^X[PQU]ST/.test(code) && code !== 'XPST0081'
  }
}

function sentenceOf(message: string, code: string | undefined): string {
  if (code === undefined) return 'it cannot be evaluated'
  const [, line, column] = /at <>:(\d+):(\d+)/.exec(message) ?? []
  // The parser's list of expected tokens is long and unhelpful.
  if (column !== undefined)
    return `it cannot be read from ${line === '1' ? '' : `line ${line}, `}character ${column} on (${code})`
  const [said = ''] = message
    .slice(message.indexOf(code) + code.length)
    .replace(/^: ?/, '')
    .replaceAll(/Q\{[^}]*\}/g, '')
    .split(/\.(?:\s|$)|\n/)
  return `${said === '' ? 'it cannot be evaluated' : said} (${code})`
}
