import { readContent } from '../ops/event-data.ts'
import { readStream, resultsFor } from '../ops/read-stream.ts'
import { StreamReplaced } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import { dataOf, type EventData } from '../stream/data.ts'
import { wrong } from '../stream/values.ts'
import type { Claim } from './claim.ts'
import type { Job, WorkResult } from './types.ts'

/** The result that the work has set so far. */
export interface ProducedResult {
  data: EventData | undefined
}

/** The methods of a job that read its inputs and set its result. */
export function dataOfJob(
  store: StreamStore,
  { stream, event, born, state }: Claim,
  produced: ProducedResult,
  signal: AbortSignal,
): Pick<Job, 'input' | 'inputs' | 'result'> {
  const life = { stream, born }
  return {
    input: async () => state.input && readContent(store, life, state.input, signal),
    async inputs() {
      const view = await readStream(store, stream, signal)
      if (view !== undefined && born !== '' && view.document.born !== born)
        throw new StreamReplaced(`${stream} was removed meanwhile, and another stream has its name now`)
      const found = view?.stream.find(event)
      if (view === undefined || found === undefined) return []
      return resultsFor(view, found).map(result => ({
        ...result,
        read: () => readContent(store, life, result.data, signal),
      }))
    },
    result(content, { type } = {}) {
      if (typeof content !== 'string' && !(content instanceof Uint8Array))
        throw wrong('the result', content, 'a text or a Uint8Array')
      produced.data = dataOf(typeof content === 'string' ? Buffer.from(content) : content, type)
    },
  }
}

/** The end of the work with the result that the work has set, unless it has its own. */
export function withResult(ending: WorkResult, { data }: ProducedResult): WorkResult {
  if (data === undefined || ending.op === 'release' || ending.result !== undefined) return ending
  return { ...ending, result: data }
}
