/**
 * Sessions: streams whose steps are appended one by one, and done in that order. The root has `lc:session`, the id of the
 * event that ends the session, and `lc:appended`, the id of the last step.
 */

/** The signal that lets a session end. */
export const END_SIGNAL = 'end'

const MARK = 'appended:'

/** The `attr` of the root in the journal entry of an appended step. */
export function appendedMark(id: string): string {
  return `${MARK}${id}`
}

/** The id of the step in such an `attr`; `undefined` for any other text. */
export function appendedIn(attr: string): string | undefined {
  return attr.startsWith(MARK) ? attr.slice(MARK.length) : undefined
}
