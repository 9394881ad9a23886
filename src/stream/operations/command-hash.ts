import { hash } from 'node:crypto'
import type { Authorship, Operation } from './operation.ts'

/** Arguments that may differ between repetitions of a command: times, observed state, proofs of the claim, ids. */
const NOT_HASHED: ReadonlySet<string> = new Set(['claimMs', 'fence', 'born', 'expired', 'keep'])

/**
 * The fingerprint of a command: 16 hex digits of SHA-256 over canonical JSON of operation, target and arguments.
 * Distinguishes a repetition from another command with the same id. A message that only repeats the reason is left out.
 */
export function commandHash(operation: Operation, author: Authorship): string {
  return hashOfCommand(commandText(operation, author))
}

/** What the fingerprint of a command is taken over. */
export function commandText(operation: Operation, author: Authorship): string {
  const args = Object.entries(operation).filter(
    ([name, value]) => !NOT_HASHED.has(name) && !(name === 'msg' && value === author.why),
  )
  return JSON.stringify(sorted(args))
}

export function hashOfCommand(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 16)
}

/** JSON with the fields of each object in order of their names. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(inOrder(value))
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  return isRecord(value) ? sorted(Object.entries(value)) : value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(pairs: [name: string, value: unknown][]): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const [name, part] of pairs.sort(([a], [b]) => (a < b ? -1 : 1))) value[name] = inOrder(part)
  return value
}
