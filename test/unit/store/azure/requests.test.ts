import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../../src/store/azure/errors.ts'
import { AzureRequests, REQUEST_TIMEOUTS } from '../../../../src/store/azure/requests.ts'
import { StoreClosed } from '../../../../src/store/errors.ts'
import { StoppedClock } from './support.ts'

const limitMs = 60_000

function callsOf(): AzureRequests {
  return new AzureRequests({
    site: { container: 'c', host: 'h', emulator: true },
    machine: new StoppedClock(),
    random: () => 0.5,
    limits: REQUEST_TIMEOUTS,
  })
}

/** Ends only when it is canceled. */
const silent = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

describe('closing', () => {
  it('leaves a request in flight without an answer: it may have been applied', async () => {
    const calls = callsOf()
    const asked = calls.send(silent, { limitMs })
    calls.close()
    const answer = await asked
    expect(answer).toMatchObject({ kind: 'unanswered', unansweredAttempts: 1 })
    if (answer.kind === 'done') throw new Error('no answer came')
    expect(calls.fault(answer.error)).toEqual(new StoreClosed('the store was closed'))
  })

  it('counts an answer that arrives anyway', async () => {
    const calls = callsOf()
    const send = async () => {
      calls.close()
      throw new ServiceError('BlobNotFound', { status: 404 })
    }
    expect(await calls.send(send, { limitMs })).toMatchObject({ kind: 'refused', error: { code: 'BlobNotFound' } })
  })

  it('sends no later request, and reports that none was sent', async () => {
    const calls = callsOf()
    calls.close()
    const send = vi.fn()
    expect(await calls.send(send, { limitMs })).toMatchObject({ kind: 'unanswered', unansweredAttempts: 0 })
    expect(await calls.sendWithRetry(send, { limitMs })).toMatchObject({ kind: 'unanswered', unansweredAttempts: 0 })
    expect(send).not.toHaveBeenCalled()
  })

  it('between two attempts remembers that the first had no answer', async () => {
    const calls = callsOf()
    const send = vi.fn(async () => {
      // The pause before the next attempt has begun by then.
      setImmediate(() => calls.close())
      throw new ServiceError('ServerBusy', { status: 503 })
    })
    expect(await calls.sendWithRetry(send, { limitMs })).toMatchObject({ kind: 'unanswered', unansweredAttempts: 1 })
    expect(send).toHaveBeenCalledOnce()
  })

  it('does not replace the reason of a caller that canceled', async () => {
    const calls = callsOf()
    const caller = new AbortController()
    const asked = calls.send(silent, { limitMs, signal: caller.signal })
    caller.abort(new Error('enough'))
    calls.close()
    await expect(asked).rejects.toThrow('enough')
  })
})
