import { StoreUnreachable } from './errors.ts'

/**
 * A call to the store that is given up after a time, ms.
 * @throws StoreUnreachable then; the reason of `signal`; the errors of the call
 */
export async function answeredWithin<Answer>(
  limitMs: number,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const limit = AbortSignal.timeout(limitMs)
  try {
    return await call(AbortSignal.any([signal, limit]))
  } catch (cause) {
    if (signal.aborted || !limit.aborted) throw cause
    throw new StoreUnreachable(`the store gave no answer within ${limitMs / 1_000} s`, { cause })
  }
}
