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
  let start = 0
  let otherStart = 0
  while (a !== b) {
    const end = segmentEnd(a, start)
    const otherEnd = segmentEnd(b, otherStart)
    const order = compareSegments(a, start, end, b, otherStart, otherEnd)
    if (order !== 0) return order
    if (end === a.length && otherEnd === b.length) return compareTexts(a, b)
    if (end === a.length) return -1
    if (otherEnd === b.length) return 1
    start = end + 1
    otherStart = otherEnd + 1
  }
  return 0
}

/** A copy, sorted like `compareIds`. */
export function sortedById<T>(items: Iterable<T>, idOf: (item: T) => string): T[] {
  return Array.from(items).sort((a, b) => compareIds(idOf(a), idOf(b)))
}

function segmentEnd(id: string, start: number): number {
  const dot = id.indexOf('.', start)
  return dot < 0 ? id.length : dot
}

/** Numbers of any length, as foreign ids may exceed every number type. Compared in place: lists of ids are long. */
function compareSegments(a: string, start: number, end: number, b: string, otherStart: number, otherEnd: number) {
  const isNumber = areDigits(a, start, end)
  if (isNumber !== areDigits(b, otherStart, otherEnd)) return isNumber ? -1 : 1
  if (!isNumber) return compareTexts(a.slice(start, end), b.slice(otherStart, otherEnd))
  let at = firstSignificant(a, start, end)
  let otherAt = firstSignificant(b, otherStart, otherEnd)
  const longer = end - at - (otherEnd - otherAt)
  if (longer !== 0) return longer
  for (; at < end; at += 1, otherAt += 1) {
    const difference = a.charCodeAt(at) - b.charCodeAt(otherAt)
    if (difference !== 0) return difference
  }
  return 0
}

const [ZERO, NINE] = [0x30, 0x39]

function areDigits(id: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = id.charCodeAt(at)
    if (code < ZERO || code > NINE) return false
  }
  return end > start
}

function firstSignificant(id: string, start: number, end: number): number {
  let at = start
  while (at < end && id.charCodeAt(at) === ZERO) at += 1
  return at
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
    if (highest === '' || compareIds(segment, highest) > 0) highest = segment
  }
  return highest
}

function oneAbove(digits: string): string {
  return (BigInt(digits === '' ? '0' : digits) + 1n).toString().padStart(2, '0')
}
