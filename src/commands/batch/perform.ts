import { errorProblem } from '../../cli/error-problem.ts'
import type { Problem } from '../../cli/problem.ts'
import type { EventStore } from '../../store/store.ts'
import { runBatch } from '../../util/concurrency.ts'
import type { Change, Done } from './action.ts'
import { firstPin, pinAfter } from './pins.ts'
import type { Job } from './plan.ts'
import { isProblem, type Result, type Told } from './result.ts'
import { targetCommandId } from './targets.ts'

export interface Performance {
  readonly store: EventStore
  readonly commandId: string
  /** Each change has an id of its own. */
  readonly isBatch: boolean
  readonly onResult: (result: Result) => void
}

const USUALLY_AT_ONCE = 8
/** The embedded store writes what is asked for together in one transaction. */
const AT_ONCE_EMBEDDED = 32
/** After so many in a row that the store as a whole refused, nothing more is begun. */
const MOST_FAULTS = 8

/** Changes the streams of a plan, some at a time; the events of one stream one after the other. */
export async function perform(jobs: readonly Job[], { verb, options, runtime }: Told, how: Performance): Promise<void> {
  const stop = stopWith(runtime.signal)
  const isEmbedded = how.store.address.startsWith('sqlite:')
  const concurrency = options.concurrency ?? (isEmbedded ? AT_ONCE_EMBEDDED : USUALLY_AT_ONCE)
  let faults = 0
  await runBatch(jobs, { concurrency, stop: stop.signal }, async ({ targets, pin: previewed, ...job }) => {
    let pin = firstPin(previewed, options.ifVersion)
    for (const target of targets) {
      if (stop.signal.aborted) return
      const commandId = targetCommandId(how.commandId, target, how.isBatch)
      const change = { ...job, target, commandId, pin, store: how.store, options, runtime }
      const outcome = await outcomeOf(verb.change, change)
      pin = pinAfter(pin, outcome)
      faults = isProblem(outcome) && STORE_FAULTS.has(outcome.code) ? faults + 1 : 0
      if (faults >= MOST_FAULTS) stop.abort()
      how.onResult({ target, commandId, outcome })
    }
  })
}

/** Not `AbortSignal.any`: that one looks at its sources whenever it is asked. */
function stopWith(signal: AbortSignal): AbortController {
  const stop = new AbortController()
  if (signal.aborted) stop.abort()
  else signal.addEventListener('abort', () => stop.abort(), { once: true })
  return stop
}

/** They say nothing of the one stream: the next one would meet them too. */
const STORE_FAULTS: ReadonlySet<string> = new Set([
  'store-unreachable',
  'store-full',
  'store-damaged',
  'store-incompatible',
  'not-permitted',
  'container-missing',
])

async function outcomeOf(change: (what: Change) => Promise<Done | Problem>, what: Change): Promise<Done | Problem> {
  try {
    return await change(what)
  } catch (error) {
    return { ...errorProblem(error, what.runtime), stream: what.target.stream }
  }
}
