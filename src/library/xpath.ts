import type { StreamDocument } from '../stream/document.ts'
import { InvalidValue } from '../stream/errors.ts'
import { text, wrong } from '../stream/values.ts'
import { parseXPath, type Selected, type SelectedValue } from '../stream/xpath/xpath.ts'

/** A parsed XPath 3.1 expression, made by `xpath`. It can be used on many streams. */
export class XPath {
  readonly expression: string
  readonly #select: (document: StreamDocument) => Selected

  /** @internal */
  constructor(expression: string, select: (document: StreamDocument) => Selected) {
    this.expression = expression
    this.#select = select
  }

  /** @internal */
  positionsIn(document: StreamDocument): readonly number[] {
    const selected = this.#select(document)
    if (selected.kind === 'events') return selected.positions
    // Selecting attributes of which none exists gives no values.
    if (selected.values.length === 0) return []
    throw new InvalidValue(`${this.expression} selects values, not events`, { hint: 'Use values().' })
  }

  /** @internal */
  valuesIn(document: StreamDocument): readonly SelectedValue[] {
    const selected = this.#select(document)
    if (selected.kind === 'values') return selected.values
    if (selected.positions.length === 0) return []
    throw new InvalidValue(`${this.expression} selects events, not values`, { hint: 'Use select().' })
  }
}

/**
 * Parses an XPath 3.1 expression in the form that `show --select` takes. The context is the document element, so that
 * `./Event[@status='init']` selects events; `lc:` is the namespace of the attributes that leasectl adds. The journal cannot be
 * selected: see `history`. Parse before `changeStream`, whose callback is synchronous.
 *
 * Never build an expression from untrusted text, which could change its meaning: use `events.filter(…)` instead.
 *
 * @throws InvalidValue for a syntax error, with its position if known
 */
export async function xpath(expression: string): Promise<XPath> {
  const parsed = await parseXPath(text(expression, 'expression'))
  return new XPath(expression, document => parsed.select(document))
}

/** Checks for a parsed expression: parsing a text is asynchronous. @throws InvalidValue */
export function readXPath(given: unknown): XPath {
  if (given instanceof XPath) return given
  const hint = 'Parse it before: const events = await xpath("./Event").'
  throw wrong('xpath', given, 'a parsed expression', hint)
}
