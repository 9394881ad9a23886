import type { JournalChange, Transaction } from '../../../src/stream/journal/journal.ts'

const FINAL: ReadonlySet<string> = new Set(['completed', 'aborted', 'canceled'])

/** The allowed effects of each operation on its event; other changes are cascades, closings or joins. */
const REACHED: Record<string, readonly string[]> = {
  start: ['init>inprocess', 'inprocess>inprocess'],
  release: ['inprocess>init'],
  advance: ['init>inprocess', 'inprocess>inprocess'],
  complete: ['init>completed', 'inprocess>completed'],
  fail: ['init>aborted', 'inprocess>aborted'],
  abort: ['init>aborted', 'inprocess>aborted'],
  cancel: ['init>canceled', 'inprocess>canceled'],
  retry: ['aborted>init', 'canceled>init', 'aborted>inprocess', 'canceled>inprocess', 'completed>inprocess'],
}
const AT_ITS_HOLDERS: ReadonlySet<string> = new Set(['complete', 'fail', 'advance', 'release'])

/** Reads a journal from its beginning, without assumptions. */
export class JournalWalk {
  readonly faults: string[] = []
  readonly #statuses = new Map<string, string>()
  readonly #holders = new Map<string, string>()
  readonly #joins = new Set<string>()
  readonly #waits = new Set<string>()
  readonly #attempts = new Map<string, number>()
  readonly #releases = new Map<string, number>()
  readonly #commands = new Set<string>()
  #isSuspended = false

  constructor(journal: readonly Transaction[]) {
    for (const [at, transaction] of journal.entries()) {
      if (transaction.version !== at + 1) this.#fault(transaction, `version ${at + 1} is missing`)
      this.#see(transaction)
    }
  }

  /** The number of releases of an attempt. */
  releases(event: string, attempt: number): number {
    return this.#releases.get(`${event} ${attempt}`) ?? 0
  }

  /** Differences between the events and the journal. */
  differences(statuses: ReadonlyMap<string, string>): string[] {
    const ids = new Set([...statuses.keys(), ...this.#statuses.keys()])
    return [...ids]
      .filter(id => statuses.get(id) !== this.#statuses.get(id))
      .map(id => `${id} is ${statuses.get(id)}, by its journal ${this.#statuses.get(id)}`)
  }

  #see(transaction: Transaction): void {
    const { commandId, op, by, on, changes } = transaction
    if (commandId !== '' && this.#commands.has(commandId)) this.#fault(transaction, 'it was done before')
    this.#commands.add(commandId)
    const holder = this.#holders.get(on)
    if (AT_ITS_HOLDERS.has(op) && by.startsWith('worker') && holder !== by) {
      this.#fault(transaction, `${holder ?? 'nobody'} held the claim, not ${by}`)
    }
    if (op === 'release') {
      const attempt = `${on} ${this.#attempts.get(on) ?? 1}`
      this.#releases.set(attempt, (this.#releases.get(attempt) ?? 0) + 1)
    }
    for (const { event, how, to } of op === 'suspend' ? changes : []) {
      if (how !== 'cascade' || to !== 'init') continue
      const attempt = `${event} ${this.#attempts.get(event) ?? 1}`
      this.#releases.set(attempt, (this.#releases.get(attempt) ?? 0) + 1)
    }
    if (op === 'start' && this.#isSuspended) this.#fault(transaction, 'the stream is suspended')
    if (changes.some(({ attr }) => attr === 'suspended')) this.#isSuspended = op === 'suspend'
    if (changes.some(({ event, to }) => event === '00' && FINAL.has(to))) this.#isSuspended = false
    for (const change of changes) if (change.attr === undefined) this.#change(transaction, change)
  }

  #change(transaction: Transaction, change: JournalChange): void {
    const { event, from, to, how, owner, attempt } = change
    const { op } = transaction
    const before = this.#statuses.get(event) ?? ''
    if (before !== from) this.#fault(transaction, `${event} was ${before}, not ${from}`)
    this.#statuses.set(event, to)
    if (owner !== undefined) this.#holders.set(event, owner)
    else if (how !== 'close' && how !== 'add') this.#holders.delete(event)
    if (attempt !== undefined) {
      if (attempt < (this.#attempts.get(event) ?? 1)) this.#fault(transaction, `${event}: attempt ${attempt} again`)
      this.#attempts.set(event, attempt)
    }
    if (!this.#isLegal(op, change))
      this.#fault(transaction, `${event} cannot go from ${from} to ${to} by ${op} (${how})`)
  }

  #isLegal(op: string, { event, from, to, how }: JournalChange): boolean {
    switch (how) {
      case 'add': {
        if (to === 'inprocess' && event !== '00') {
          this.#joins.add(event)
          this.#waits.add(event)
        }
        return from === '' && (to === 'init' || to === 'inprocess')
      }
      case 'cascade':
        // A retry reopens the events above.
        if (op === 'retry' && to === 'inprocess') return FINAL.has(from)
        // Claimed events are handed back.
        if (op === 'suspend') return from === 'inprocess' && to === (event === '00' ? 'inprocess' : 'init')
        this.#waits.delete(event)
        return !FINAL.has(from) && to === 'canceled'
      case 'close':
        return !FINAL.has(from) && to === 'completed'
      case 'gate': {
        if (to === 'inprocess') return this.#waits.add(event) !== undefined
        if (to === 'completed') return from === 'init'
        return this.#waits.delete(event) && from === 'inprocess' && to === 'init'
      }
      case 'join': {
        if (op === 'retry' && to === 'inprocess') return this.#waits.add(event) !== undefined
        return this.#waits.delete(event) && from === 'inprocess' && to === 'init'
      }
      case 'target': {
        if (FINAL.has(to)) this.#waits.delete(event)
        // A retried join waits again.
        if (op === 'retry' && to === 'inprocess' && this.#joins.has(event)) this.#waits.add(event)
        return REACHED[op]?.includes(`${from}>${to}`) === true
      }
      case 'again':
        return op === 'fail' && from === 'inprocess' && to === 'inprocess' && this.#waits.add(event) !== undefined
      default:
        return how satisfies never
    }
  }

  #fault({ version, op, by, commandId }: Transaction, why: string): void {
    this.faults.push(`${version} ${op} by ${by} (${commandId}): ${why}`)
  }
}
