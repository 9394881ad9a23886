import { readStream } from '../ops/read-stream.ts'
import type { EventStore } from '../store/store.ts'
import type { Job } from './job.ts'

/** What only the holder of a claim does to its event. */
const BY_HOLDER: readonly string[] = ['complete', 'fail', 'advance', 'release']

/**
 * Whether the event of a lost claim was ended, advanced or handed back under this very claim: by the program itself, which
 * knows its fence. A cancel, an abort, an end from above and a later claim are others' doing.
 *
 * @throws the store's faults; BadDocument
 */
export async function endedByHolder(store: EventStore, job: Pick<Job, 'stream' | 'event' | 'fence'>): Promise<boolean> {
  const view = await readStream(store, job.stream)
  const since = view?.transactions().filter(({ version, provisional }) => !provisional && version > job.fence)
  const first = since?.find(({ op, changes }) => op !== 'set' && changes.some(({ event }) => event === job.event.id))
  return first !== undefined && first.on === job.event.id && BY_HOLDER.includes(first.op)
}
