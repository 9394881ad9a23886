/**
 * Sessions: streams whose steps are appended one by one, and done in that order. The root has `lc:session`, the id of the
 * event that ends the session, and `lc:appended`, the id of the last step.
 *
 * Steps may have numbers, from 1. Each is a thread of its own below that of the end, which never forks: step 7 of a session
 * that ends with `01.00` is `01.07.00`, whenever it comes.
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

/** The id of the step of a number. @param session `lc:session` of the root */
export function numberedStepId(session: string, seq: number): string {
  return `${threadOf(session)}${String(seq).padStart(2, '0')}.00`
}

/** The number of a step by its id; `undefined` if it has none. */
export function stepNumber(session: string, id: string): number | undefined {
  const thread = threadOf(session)
  const digits = id.startsWith(thread) ? /^(\d+)\.00$/.exec(id.slice(thread.length))?.[1] : undefined
  return digits === undefined ? undefined : Number(digits)
}

/** `01.` for `01.00`. */
function threadOf(session: string): string {
  return session.slice(0, session.lastIndexOf('.') + 1)
}
