/**
 * Event ids: a thread path plus a step (stream-format 3). `00` is the root, `01.02.00` the first step of thread
 * `01.02`.
 *
 * Ids with other characters than digits and dots come from other writers. They are kept and sort after numbers; their
 * successors go to the next free thread of the root.
 */

/** The id of every root that leasectl creates. */
export const ROOT_ID = '00'

const PLAIN = /^\d+(?:\.\d+)*$/
const DIGITS = /^\d+$/

/** Whether the id consists of digits and dots, hence of a thread and a step. */
export function isPlainId(id: string): boolean {
  return PLAIN.test(id)
}

/** False for ids that `next` cannot name or a quoted XPath cannot select: such events get no successors. */
export function isLinkable(id: string): boolean {
  return id !== '' && !id.includes('|') && !id.includes("'") && id.trim() === id
}

/** A total order: numerically, segment by segment; segments that are not numbers sort after numbers, as text. */
export function compareIds(a: string, b: string): number {
  return compareOrdered(ordered(a), ordered(b))
}

/** Sorts like `compareIds`, but parses each id once: comparing thousands of deep ids is slow. */
export function sortedById<T>(items: Iterable<T>, idOf: (item: T) => string): T[] {
  return Array.from(items, item => ({ item, ...ordered(idOf(item)) }))
    .sort(compareOrdered)
    .map(({ item }) => item)
}

interface Ordered {
  readonly id: string
  readonly order: string
}

function ordered(id: string): Ordered {
  return { id, order: orderOf(id) }
}

function compareOrdered(a: Ordered, b: Ordered): number {
  return compareTexts(a.order, b.order) || compareTexts(a.id, b.id)
}

/** A sort key: its text order is the order of the ids. XML cannot hold the control characters in it. */
function orderOf(id: string): string {
  return id.split('.').map(orderOfSegment).join('\u0000')
}

/** Digits of any length: foreign ids may exceed every number type. */
function orderOfSegment(segment: string): string {
  if (!DIGITS.test(segment)) return `\u0002${segment}`
  const digits = significant(segment)
  return `\u0001${String(digits.length).padStart(8, '0')}${digits}`
}

function compareDigits(a: string, b: string): number {
  const [left, right] = [significant(a), significant(b)]
  return left.length - right.length || compareTexts(left, right)
}

function significant(digits: string): string {
  return digits.replace(/^0+/, '')
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

/** The id of the next step in the event's own thread: one above the highest step, joins included. */
export function nextStepId(existing: Iterable<string>, id: string): string {
  if (!isPlainId(id)) return nextForkIds(existing, '', 1)[0] ?? ''
  const thread = threadPrefix(id)
  return thread + oneAbove(highestSegment(existing, thread, rest => !rest.includes('.')))
}

/** The first ids of `count` new threads under the event's thread: `NN.00`, NN one above the highest thread there. */
export function nextForkIds(existing: Iterable<string>, id: string, count: number): string[] {
  const thread = isPlainId(id) ? threadPrefix(id) : ''
  let highest = highestSegment(existing, thread, rest => rest.includes('.'))
  return Array.from({ length: count }, () => {
    highest = oneAbove(highest)
    return `${thread}${highest}.00`
  })
}

/** The step of an event's thread that comes so many steps later: `01.02` two after `01.00`. */
export function laterStepId(id: string, steps: number): string {
  const thread = threadPrefix(id)
  return thread + (BigInt(id.slice(thread.length)) + BigInt(steps)).toString().padStart(2, '0')
}

/** `01.02.` for `01.02.00`, `''` for the root's thread. */
function threadPrefix(id: string): string {
  return id.slice(0, id.lastIndexOf('.') + 1)
}

/** The highest number directly under a thread, `''` for an empty one. */
function highestSegment(existing: Iterable<string>, thread: string, counts: (rest: string) => boolean): string {
  let highest = ''
  for (const id of existing) {
    if (!id.startsWith(thread) || !isPlainId(id)) continue
    const rest = id.slice(thread.length)
    if (!counts(rest)) continue
    const dot = rest.indexOf('.')
    const segment = dot < 0 ? rest : rest.slice(0, dot)
    if (highest === '' || compareDigits(segment, highest) > 0) highest = segment
  }
  return highest
}

function oneAbove(digits: string): string {
  return (BigInt(digits === '' ? '0' : digits) + 1n).toString().padStart(2, '0')
}
