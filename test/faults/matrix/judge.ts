import { exitOf } from '../../../src/cli/exit-codes.ts'
import type { Course } from './cell.ts'
import type { Meaning } from './page.ts'

/** The differences between a course and the page. */
export function complaints(course: Course, outcome: string, meaning: Meaning | undefined): string[] {
  if (meaning === undefined) return [`nobody says what ${outcome} means`]
  const { told, truth, injected, repeated } = course
  const word = wordOf(told, truth)
  const wrong: string[] = []
  if (injected === 0) wrong.push('the fault reached no request')
  if (word !== outcome) wrong.push(`told: ${word}, on the page: ${outcome}`)
  if (exitFor(told) !== meaning.exit) wrong.push(`exit ${exitFor(told)}, on the page: ${meaning.exit}`)
  if (!isOneOf(truth, meaning))
    wrong.push(`the stream is ${truth.join(', ') || 'damaged'}, which ${outcome} does not say`)
  if (repeated !== undefined && !meaning.again.includes(wordOf(repeated.told, repeated.truth)))
    wrong.push(`repeated: ${wordOf(repeated.told, repeated.truth)}, on the page: ${meaning.again.join(' or ')}`)
  if (repeated !== undefined && !repeated.truth.includes('as asked')) wrong.push('repeated, it is not as asked')
  return wrong
}

const DONE: ReadonlySet<string> = new Set(['done', 'acquired', 'ok', 'broken'])
/** Outcomes whose names differ between page and code. */
const WORDS: Readonly<Record<string, string>> = { 'store-unreachable': 'unreachable', 'bad-document': 'bad data' }

function wordOf(told: string, truth: Course['truth']): string {
  if (DONE.has(told)) return truth.includes('changed twice') ? 'applied twice' : 'done'
  return WORDS[told] ?? told
}

function exitFor(told: string): number {
  if (DONE.has(told)) return 0
  return exitOf(told === 'lost' ? 'lease-lost' : told)
}

function isOneOf(truth: Course['truth'], { truths }: Meaning): boolean {
  const found: readonly string[] = truth
  return truths.some(one => found.includes(one))
}
