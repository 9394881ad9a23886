import { readStream } from '../ops/read-stream.ts'
import type { StreamStore } from '../store/store.ts'
import { resultFromJournal } from '../stream/operations/apply.ts'
import type { Job, SelfReported, WorkOutcome } from './types.ts'

/** State of an event in its stream after its claim was lost. */
export interface AfterLoss {
  /** Result written under this claim, by a program that knows its fencing token. */
  readonly ownEnd?: SelfReported
  /** Whether the event is ready again: without a pause the loop would claim it over and over. */
  readonly isBack: boolean
}

type ClaimOf = Pick<Job, 'stream' | 'fence' | 'born'> & { readonly event: Pick<Job['event'], 'id'> }

/** Operations that only the holder of a claim applies to its event. */
const BY_HOLDER: readonly SelfReported['op'][] = ['complete', 'fail', 'advance', 'release']

/** Losses that need no read: the event has no result, or the stream is gone. */
const NOT_BY_HOLDER: readonly string[] = ['claim-expired', 'stream-not-found']

const NOTHING_FOUND: AfterLoss = { isBack: false }

/** State of the event after the work on it. It is read only if the claim was lost. */
export function aftermathOf(store: StreamStore, outcome: WorkOutcome): Promise<AfterLoss> | AfterLoss {
  if (outcome.kind === 'lost') return aftermath(store, outcome.job, outcome.lost.code)
  if (outcome.kind !== 'unreported' || outcome.undone.kind !== 'refused') return NOTHING_FOUND
  return aftermath(store, outcome.job, outcome.undone.refusal.code)
}

/**
 * Whether the event of a lost claim was ended, advanced or released under this claim, that is by the program itself, which
 * knows the fencing token. A cancel, an abort, an end from above and a later claim come from others. False if the stream
 * cannot be read.
 *
 * @param code reason of the loss, see `LostClaim`
 */
export async function endedByHolder(store: StreamStore, job: ClaimOf, code: string): Promise<boolean> {
  return (await aftermath(store, job, code)).ownEnd !== undefined
}

async function aftermath(store: StreamStore, job: ClaimOf, code: string): Promise<AfterLoss> {
  if (NOT_BY_HOLDER.includes(code)) return NOTHING_FOUND
  // A read error is reported elsewhere.
  return inspect(store, job).catch(() => NOTHING_FOUND)
}

async function inspect(store: StreamStore, { stream, event: { id }, fence, born }: ClaimOf): Promise<AfterLoss> {
  const view = await readStream(store, stream)
  // Another incarnation may repeat the versions. A foreign program may have dropped the incarnation id.
  const lives = new Set([view?.document.born, born].filter(life => life !== ''))
  if (view === undefined || lives.size > 1) return NOTHING_FOUND
  const event = view.stream.find(id)
  const isBack = event?.status === 'init'
  const since = view.transactions().filter(({ version, provisional }) => !provisional && version > fence)
  const first = since.find(({ op, changes }) => op !== 'set' && changes.some(change => change.event === id))
  const op = first?.on === id ? BY_HOLDER.find(op => op === first.op) : undefined
  if (first === undefined || op === undefined) return { isBack }
  const { version, added, done } = resultFromJournal(view.document, first)
  const msg = (op === 'complete' || op === 'fail') && !isBack ? event?.msg : undefined
  const again = first.changes.some(({ how }) => how === 'again') ? { isAgain: true as const } : {}
  return { ownEnd: { op, version, added, done, ...(msg ? { msg } : {}), ...again }, isBack: isBack || op === 'release' }
}
