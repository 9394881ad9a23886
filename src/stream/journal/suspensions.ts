import { isFinal } from '../event.ts'
import type { EventStream } from '../event-stream.ts'
import { readTime } from '../time/dates.ts'
import type { JournalFacts } from './facts.ts'
import type { JournalChange, Transaction } from './journal.ts'

/** Name of the attribute of the root that `suspend` sets and `resume` removes. */
export const SUSPENDED = 'suspended'

/** Whether the change suspends or resumes its stream. */
export function changesSuspension({ attr }: JournalChange): boolean {
  return attr === SUSPENDED
}

type Facts = Map<string, JournalFacts>

/**
 * Replays suspensions, holds and the pauses of timeouts, so that they can be restored after a writer that rebuilds
 * events has dropped them.
 */
export class SuspensionReplay {
  readonly #stream: EventStream
  readonly #facts: Facts
  readonly #final = new Set<string>()
  #suspendedMs: number | undefined
  #heldMs: number | undefined

  /** @param facts those of the transactions so far; changed in place */
  constructor(stream: EventStream, facts: Facts) {
    this.#stream = stream
    this.#facts = facts
  }

  /** Call it after the facts of the transaction's own changes are known. */
  take(transaction: Transaction): void {
    const { root } = this.#stream
    for (const change of transaction.changes) {
      if (change.event === root?.id) this.#takeRoot(change, transaction)
      if (change.attr !== undefined) continue
      if (isFinal({ status: change.to })) this.#final.add(change.event)
      else this.#final.delete(change.event)
    }
  }

  #takeRoot(change: JournalChange, transaction: Transaction): void {
    const { op, at, by, why } = transaction
    if (changesSuspension(change)) {
      if (op === 'suspend') this.#begin(change.event, { suspended: at, suspendedBy: by, info: why })
      else this.#end(change.event, at)
    } else if (change.attr === undefined) {
      if (isFinal({ status: change.to })) this.#endWithStream(change.event)
      this.#moveHold(change, transaction)
    }
  }

  #begin(root: string, { suspended, suspendedBy, info }: Record<'suspended' | 'suspendedBy' | 'info', string>): void {
    this.#suspendedMs = readTime(suspended)
    this.#set(root, { suspended, ...(suspendedBy === '' ? {} : { suspendedBy }), ...(info === '' ? {} : { info }) })
  }

  #end(root: string, at: string): void {
    if (this.#heldMs === undefined) this.#addPauses(this.#suspendedMs, at)
    this.#suspendedMs = undefined
    this.#set(root, { resumed: at })
  }

  /** The stream may end in the very transaction that suspends it: what is handed back may have been all that was open. */
  #endWithStream(root: string): void {
    this.#suspendedMs = undefined
    const known = this.#facts.get(root)
    if (known === undefined) return
    const { suspended: _, suspendedBy: __, info: ___, ...lc } = known.lc
    this.#facts.set(root, { ...known, lc })
  }

  #moveHold({ event, from, to, how }: JournalChange, { op, at }: Transaction): void {
    if (to === 'init') {
      this.#heldMs = readTime((how === 'add' && this.#stream.root?.created) || at)
      return
    }
    if (this.#heldMs !== undefined && from === 'init' && to === 'inprocess' && (op === 'start' || op === 'resume')) {
      this.#addPauses(this.#heldMs, at)
      this.#set(event, { resumed: at })
    }
    this.#heldMs = undefined
  }

  #addPauses(sinceMs: number | undefined, at: string): void {
    const untilMs = readTime(at)
    if (sinceMs === undefined || untilMs === undefined) return
    for (const [id, { lc }] of this.#facts) {
      const event = this.#stream.find(id)
      if (event === undefined || this.#final.has(id) || lc.superseded !== undefined) continue
      const lengthMs = untilMs - Math.max(sinceMs, readTime(lc.opened ?? event.created) ?? sinceMs)
      if (lengthMs > 0) this.#set(id, { paused: String(Number(lc.paused ?? 0) + lengthMs) })
    }
  }

  #set(id: string, lc: JournalFacts['lc']): void {
    const known = this.#facts.get(id)
    if (known !== undefined) this.#facts.set(id, { ...known, lc: { ...known.lc, ...lc } })
  }
}
