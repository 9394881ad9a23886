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

/** Ends only when it is given up. */
const silent = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

describe('closing', () => {
  it('leaves what is under way without an answer: it may have been applied', async () => {
    const calls = callsOf()
    const asked = calls.send(silent, { limitMs })
    calls.close()
    const answer = await asked
    expect(answer).toMatchObject({ kind: 'unanswered', unansweredAttempts: 1 })
    if (answer.kind === 'done') throw new Error('no answer came')
    expect(calls.fault(answer.error)).toEqual(new StoreClosed('the store was closed'))
  })

  it('counts an answer that came all the same', async () => {
    const calls = callsOf()
    const send = async () => {
      calls.close()
      throw new ServiceError('BlobNotFound', { status: 404 })
    }
    expect(await calls.send(send, { limitMs })).toMatchObject({ kind: 'refused', error: { code: 'BlobNotFound' } })
  })

  it('lets nothing be sent afterwards, and says that nothing was', async () => {
    const calls = callsOf()
    calls.close()
    const send = vi.fn()
    expect(await calls.send(send, { limitMs })).toMatchObject({ kind: 'unanswered', unansweredAttempts: 0 })
    expect(await calls.sendWithRetry(send, { limitMs })).toMatchObject({ kind: 'unanswered', unansweredAttempts: 0 })
    expect(send).not.toHaveBeenCalled()
  })

  it('between two tries does not forget that the first one had no answer', async () => {
    const calls = callsOf()
    const send = vi.fn(async () => {
      // The pause before the next try has begun by then.
      setImmediate(() => calls.close())
      throw new ServiceError('ServerBusy', { status: 503 })
    })
    expect(await calls.sendWithRetry(send, { limitMs })).toMatchObject({ kind: 'unanswered', unansweredAttempts: 1 })
    expect(send).toHaveBeenCalledOnce()
  })

  it('does not speak for the caller who gave up', async () => {
    const calls = callsOf()
    const caller = new AbortController()
    const asked = calls.send(silent, { limitMs, signal: caller.signal })
    caller.abort(new Error('enough'))
    calls.close()
    await expect(asked).rejects.toThrow('enough')
  })
})
