import { readStream } from '../ops/read-stream.ts'
import type { EventStore } from '../store/store.ts'
import type { Job } from './job.ts'

/** What only the holder of a claim does to its event. */
const BY_HOLDER: readonly string[] = ['complete', 'fail', 'advance', 'release']

/** Codes of losses of which nobody need be asked: no end of ours was seen, or there is nothing left to see. */
const NOT_BY_HOLDER: readonly string[] = ['claim-expired', 'stream-not-found']

/**
 * Whether the event of a lost claim was ended, advanced or handed back under this very claim: by the program itself, which
 * knows its fence. A cancel, an abort, an end from above and a later claim are others' doing. Where the store cannot tell, it
 * counts as not.
 *
 * @param code how it was lost, see `LostClaim`
 */
export async function endedByHolder(
  store: EventStore,
  job: Pick<Job, 'stream' | 'fence'> & { readonly event: Pick<Job['event'], 'id'> },
  code: string,
): Promise<boolean> {
  if (NOT_BY_HOLDER.includes(code)) return false
  const view = await readStream(store, job.stream).catch(() => undefined)
  const since = view?.transactions().filter(({ version, provisional }) => !provisional && version > job.fence)
  const first = since?.find(({ op, changes }) => op !== 'set' && changes.some(({ event }) => event === job.event.id))
  return first !== undefined && first.on === job.event.id && BY_HOLDER.includes(first.op)
}
