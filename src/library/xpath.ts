import type { StreamDocument } from '../stream/document.ts'
import { InvalidValue } from '../stream/errors.ts'
import { text, wrong } from '../stream/values.ts'
import { parseXPath, type Selected, type SelectedValue } from '../stream/xpath/xpath.ts'

/** An XPath 3.1 expression that was read; see `xpath`. It can be used on many streams. */
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
    // An empty sequence of attributes looks like this.
    if (selected.values.length === 0) return []
    throw new InvalidValue(`${this.expression} selects values, not events`, { hint: 'values() gives them.' })
  }

  /** @internal */
  valuesIn(document: StreamDocument): readonly SelectedValue[] {
    const selected = this.#select(document)
    if (selected.kind === 'values') return selected.values
    if (selected.positions.length === 0) return []
    throw new InvalidValue(`${this.expression} selects events, not values`, { hint: 'select() gives them.' })
  }
}

/**
 * Reads an XPath 3.1 expression, as `show --select` takes it: the document element is the context, so that
 * `./Event[@status='init']` selects events; `lc:` is the namespace of what leasectl adds to them. The journal is not among it:
 * see `history`. Read before, it can be used within `changeStream`, which waits for nothing.
 *
 * A value of somebody else's is no part of an expression, which it could change: compare in `events.filter(…)`.
 *
 * @throws InvalidValue for what is no XPath, with the place where there is one
 */
export async function xpath(expression: string): Promise<XPath> {
  const parsed = await parseXPath(text(expression, 'expression'))
  return new XPath(expression, document => parsed.select(document))
}

/** An expression that was read; a text would have to be read first, which takes time. @throws InvalidValue */
export function readXPath(given: unknown): XPath {
  if (given instanceof XPath) return given
  const hint = 'Read it before: const found = await xpath("./Event").'
  throw wrong('xpath', given, 'an expression that was read', hint)
}
