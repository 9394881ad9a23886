import { isFinal } from '../event.ts'
import type { JournalChange, Transaction } from './journal.ts'

/** One attempt at an event: from a claim to its end. */
export interface Attempt {
  /** 1 for the first. A retry and a takeover begin the next; after a release the same one goes on. */
  readonly attempt: number
  /** The worker that claimed the event; `''` if nobody did. */
  readonly owner: string
  /** The time of the claim as written; `''` if nobody claimed the event. */
  readonly started: string
  /** Absent while it lasts. */
  readonly end?: AttemptEnd
}

/** How an attempt ended. */
export interface AttemptEnd {
  /**
   * The final status of the event; `failed`: for a passing reason, so it is tried again; `released`: handed back;
   * `abandoned`: another worker took over after the claim.
   */
  readonly outcome: 'completed' | 'aborted' | 'canceled' | 'failed' | 'released' | 'abandoned'
  /** As written. Of an abandoned attempt the time of the takeover. */
  readonly at: string
  /** Who ended it; `''` for a foreign writer. */
  readonly by: string
  /** The reason in the journal; `''` for an event that ended with the one above it. */
  readonly message: string
}

/**
 * The attempts at each event, oldest first, by id, from the transactions. Only attempts that were claimed or ended: a
 * ready event has none.
 */
export function attemptsByEvent(transactions: readonly Transaction[]): ReadonlyMap<string, readonly Attempt[]> {
  const found = new Map<string, EventAttempts>()
  for (const transaction of transactions) {
    for (const change of transaction.changes) {
      if (change.attr !== undefined) continue
      const own = found.get(change.event) ?? new EventAttempts()
      found.set(change.event, own)
      own.take(change, transaction)
    }
  }
  return new Map([...found].map(([id, { list }]) => [id, list]))
}

class EventAttempts {
  readonly list: Attempt[] = []
  #number = 1

  take({ from, to, how, owner, attempt }: JournalChange, transaction: Transaction): void {
    const { at, op } = transaction
    this.#number = attempt ?? this.#number
    const isForeign = op === 'foreign' || op === 'adopt'
    if (isFinal({ status: to })) {
      if (!isFinal({ status: from })) this.#end(to, how === 'target' ? transaction.why : '', transaction)
    } else if (how === 'again') {
      this.#end('failed', transaction.why, transaction, true)
    } else if (owner !== undefined || (isForeign && how === 'target' && to === 'inprocess')) {
      this.#end('abandoned', '', transaction, true)
      this.list.push({ attempt: this.#number, owner: owner ?? '', started: at })
    } else if (op === 'release' || (op === 'suspend' && how === 'cascade')) {
      this.#end('released', transaction.why, transaction, true)
    }
  }

  /** @param ifStarted only an attempt that lasts can end so */
  #end(outcome: string, message: string, { at, by }: Transaction, ifStarted = false): void {
    const last = this.list.at(-1)
    const open = last !== undefined && last.end === undefined ? last : undefined
    if (open === undefined && ifStarted) return
    const end = { outcome: outcome as AttemptEnd['outcome'], at, by, message }
    if (open !== undefined) this.list.splice(-1, 1, { ...open, end })
    else this.list.push({ attempt: this.#number, owner: '', started: '', end })
  }
}
