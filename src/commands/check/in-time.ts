import { CommandFailed, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { formatDuration } from '../../stream/time/durations.ts'
import { Deadline } from '../wait/deadline.ts'

/**
 * Does something that must come to an end in time. What does not listen to the signal, as signing in, is left behind: the
 * process ends soon.
 *
 * @throws CommandFailed with `timed-out`, the signal's reason, what `work` throws
 */
export async function inTime<Result>(
  ms: number,
  runtime: Runtime,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = new Deadline(ms)
  deadline.cutLooks()
  const signal = AbortSignal.any([runtime.signal, deadline.signal])
  try {
    return await Promise.race([work(signal), endOf(signal)])
  } catch (cause) {
    if (!deadline.passed || runtime.signal.aborted) throw cause
    throw new CommandFailed(problem('timed-out', `no answer within ${formatDuration(ms)} (--within)`, { cause }))
  } finally {
    deadline.clear()
  }
}

function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
}
