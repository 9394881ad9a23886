import { checkOperation } from '../ops/check-operation.ts'
import { InvalidValue } from '../stream/errors.ts'
import { claimMsOf, type WorkOptions } from '../worker/work-options.ts'

/** What a worker is told that could keep it from ever working: with it, it would go on without an end, and do nothing. */
interface Checked extends WorkOptions {
  readonly names: readonly string[]
  readonly concurrency?: number
  readonly maxAttempts?: number
  readonly maxIdleMs?: number
}

/** @throws InvalidValue */
export function checkWorker(options: Checked): void {
  const { names, owner, by = owner, why, leaseWaitMs, concurrency = 1, maxAttempts = 1, maxIdleMs } = options
  if (names.length === 0 || names.includes(''))
    throw new InvalidValue('a worker needs the name of the events it works on')
  checkCount('concurrency', concurrency)
  checkCount('maxAttempts', maxAttempts)
  checkMs('leaseWaitMs', leaseWaitMs)
  checkMs('maxIdleMs', maxIdleMs)
  const author = { commandId: 'worker', by, ...(why === undefined ? {} : { why }) }
  checkOperation('worker', { op: 'start', event: '00', owner, claimMs: claimMsOf(options) }, author)
}

/** @throws InvalidValue */
export function checkMs(what: string, ms: number | undefined): void {
  if (ms === undefined || ms >= 0) return
  throw new InvalidValue(`${what} is a time in ms, not ${ms}`)
}

/** @throws InvalidValue */
export function checkLeaseId(leaseId: string): void {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(leaseId)) return
  throw new InvalidValue(`the id of a lease is a UUID, not ${JSON.stringify(leaseId)}`, {
    hint: 'randomUUID() of node:crypto makes one.',
  })
}

function checkCount(what: string, count: number): void {
  if (!Number.isInteger(count) || count < 1) throw new InvalidValue(`${what} is a whole number from 1 on, not ${count}`)
}
