import { readStream } from '../ops/read-stream.ts'
import type { StreamStore } from '../store/store.ts'
import { resultFromJournal } from '../stream/operations/apply.ts'
import type { Job, SelfReported, WorkOutcome } from './types.ts'

/** What the stream says of an event whose claim is gone. */
export interface AfterLoss {
  /** Done under this very claim, by whoever knows its fence. */
  readonly ownEnd?: SelfReported
  /** Whether the event can be claimed again at once: nothing came of the work that would keep it from being done for ever. */
  readonly isBack: boolean
}

type ClaimOf = Pick<Job, 'stream' | 'fence' | 'born'> & { readonly event: Pick<Job['event'], 'id'> }

/** What only the holder of a claim does to its event. */
const BY_HOLDER: readonly SelfReported['op'][] = ['complete', 'fail', 'advance', 'release']

/** Codes of losses of which nobody need be asked: no end of ours was seen, or there is nothing left to see. */
const NOT_BY_HOLDER: readonly string[] = ['claim-expired', 'stream-not-found']

const NOTHING_SEEN: AfterLoss = { isBack: false }

/** What came of an event beside the outcome of the work on it; there is something to see only where its claim was gone. */
export function aftermathOf(store: StreamStore, outcome: WorkOutcome): Promise<AfterLoss> | AfterLoss {
  if (outcome.kind === 'lost') return aftermath(store, outcome.job, outcome.lost.code)
  if (outcome.kind !== 'unreported' || outcome.undone.kind !== 'refused') return NOTHING_SEEN
  return aftermath(store, outcome.job, outcome.undone.refusal.code)
}

/**
 * Whether the event of a lost claim was ended, advanced or handed back under this very claim: by the program itself, which
 * knows its fence. A cancel, an abort, an end from above and a later claim are others' doing. Where the store cannot tell, it
 * counts as not.
 *
 * @param code how it was lost, see `LostClaim`
 */
export async function endedByHolder(store: StreamStore, job: ClaimOf, code: string): Promise<boolean> {
  return (await aftermath(store, job, code)).ownEnd !== undefined
}

async function aftermath(store: StreamStore, job: ClaimOf, code: string): Promise<AfterLoss> {
  if (NOT_BY_HOLDER.includes(code)) return NOTHING_SEEN
  // That it cannot be read, others tell.
  return seen(store, job).catch(() => NOTHING_SEEN)
}

async function seen(store: StreamStore, { stream, event: { id }, fence, born }: ClaimOf): Promise<AfterLoss> {
  const view = await readStream(store, stream)
  // Another life has come to the same versions; a writer who knows nothing of lives may have dropped this one's.
  const lives = new Set([view?.document.born, born].filter(life => life !== ''))
  if (view === undefined || lives.size > 1) return NOTHING_SEEN
  const event = view.stream.find(id)
  const isBack = event?.status === 'init'
  const since = view.transactions().filter(({ version, provisional }) => !provisional && version > fence)
  const first = since.find(({ op, changes }) => op !== 'set' && changes.some(change => change.event === id))
  const op = first?.on === id ? BY_HOLDER.find(op => op === first.op) : undefined
  if (first === undefined || op === undefined) return { isBack }
  const { version, added, done } = resultFromJournal(view.document, first)
  const msg = (op === 'complete' || op === 'fail') && !isBack ? event?.msg : undefined
  return { ownEnd: { op, version, added, done, ...(msg ? { msg } : {}) }, isBack: isBack || op === 'release' }
}
