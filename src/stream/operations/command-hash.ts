import { hash } from 'node:crypto'
import type { Authorship, Operation } from './operation.ts'

/** Arguments that may differ between repetitions of one command: times, what was seen, proofs of the claim, fresh ids. */
const NOT_HASHED: ReadonlySet<string> = new Set(['claimMs', 'fence', 'born', 'expired'])

/**
 * What a command asks for, as 16 hex digits of SHA-256 over canonical JSON of operation, target and arguments. Tells a
 * repetition from another command that was given the same id. A message that only repeats the reason is left out.
 */
export function commandHash(operation: Operation, author: Authorship): string {
  const asked = Object.entries(operation).filter(
    ([name, value]) => !NOT_HASHED.has(name) && !(name === 'msg' && value === author.why),
  )
  const canonical = JSON.stringify(sorted(Object.fromEntries(asked)))
  return hash('sha256', canonical, 'hex').slice(0, 16)
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  return isRecord(value) ? sorted(value) : value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(pairs.map(([name, part]) => [name, inOrder(part)]))
}
