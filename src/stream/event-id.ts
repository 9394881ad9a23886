/**
 * Event ids: a thread path plus a step (stream-format 3). `00` is the root, `01.02.00` the first step of thread `01.02`.
 *
 * Ids that are not digits and dots come from other writers: they are kept, sort after numbers, and their successors
 * go to the next free thread of the root.
 */

/** The id of every root that leasectl creates. */
export const ROOT_ID = '00'

const PLAIN = /^\d+(?:\.\d+)*$/
const DIGITS = /^\d+$/

/** True for ids of digits and dots, which have a thread and a step. */
export function isPlainId(id: string): boolean {
  return PLAIN.test(id)
}

/** False for ids that cannot be named in `next` or selected by an XPath in quotes: such events get no successors. */
export function isLinkable(id: string): boolean {
  return id !== '' && !id.includes('|') && !id.includes("'") && id.trim() === id
}

/** Numerically, segment by segment; segments that are not numbers come after numbers, as text. Total order. */
export function compareIds(a: string, b: string): number {
  if (a === b) return 0
  const alike = compareAlike(a, b)
  if (alike !== undefined) return alike
  const left = a.split('.')
  const right = b.split('.')
  const common = Math.min(left.length, right.length)
  for (let at = 0; at < common; at++) {
    const order = compareSegments(left[at] ?? '', right[at] ?? '')
    if (order !== 0) return order
  }
  if (left.length !== right.length) return left.length - right.length
  return a < b ? -1 : 1
}

/**
 * Ids of digits with dots at the same places, as those of one generation are, have segments of the same lengths: their
 * numbers are in the order of their characters. `undefined` for others.
 */
function compareAlike(a: string, b: string): number | undefined {
  if (a.length !== b.length) return undefined
  let order = 0
  for (let at = 0; at < a.length; at += 1) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left !== right ? !isDigit(left) || !isDigit(right) : left !== DOT && !isDigit(left)) return undefined
    if (order === 0) order = left - right
  }
  return order
}

const DOT = 0x2e

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function compareSegments(a: string, b: string): number {
  const aIsNumber = DIGITS.test(a)
  const bIsNumber = DIGITS.test(b)
  if (aIsNumber && bIsNumber) return compareDigits(a, b)
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1
  return a === b ? 0 : a < b ? -1 : 1
}

/** Digits of any length: no number type is large enough for ids of strangers. */
function compareDigits(a: string, b: string): number {
  const left = a.replace(/^0+/, '')
  const right = b.replace(/^0+/, '')
  if (left.length !== right.length) return left.length - right.length
  return left === right ? 0 : left < right ? -1 : 1
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

/** `01.02.` for `01.02.00`, `''` for the root's thread. */
function threadPrefix(id: string): string {
  return id.slice(0, id.lastIndexOf('.') + 1)
}

/** The highest number directly under a thread, `''` if there is none. */
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
