import { StoreUnreachable } from './errors.ts'

/** The fault of a call that was given up after its time limit, ms. */
export function noAnswerWithin(limitMs: number, cause: unknown): StoreUnreachable {
  return new StoreUnreachable(`the store gave no answer within ${limitMs / 1_000} s`, { cause })
}
