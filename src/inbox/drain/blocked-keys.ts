import { comparePositions, type LogPosition } from '../../store/block-log.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Inbox } from '../inbox.ts'
import { type DeadLetter, deadLettersEnd, readDeadLetters } from './dead-letters.ts'

/** The code of a record that waits behind a dead letter of its key. */
export const BEHIND = 'blocked'

/** What a dead letter keeps waiting, in an inbox whose order is strict. */
export interface BlockedKey {
  readonly key: string
  /** The first one, on which the others wait. */
  readonly letter: DeadLetter
  /** Number of records that wait behind it. */
  readonly records: number
}

/** The keys that dead letters block. */
export function blockedKeys(letters: readonly DeadLetter[]): BlockedKey[] {
  const blocked = [
    ...Map.groupBy(
      letters.filter(({ blocks }) => blocks),
      ({ partition, key }) => `${partition} ${key}`,
    ),
  ]
  return blocked.flatMap(([, [letter, ...rest]]) =>
    letter === undefined || mayGoOn(letter) ? [] : [{ key: letter.key, letter, records: rest.length }],
  )
}

/** Whether a drain can do the first record that waits in a key: it was retried, or only waited behind one that is gone. */
export function mayGoOn({ code, isRetried }: DeadLetter): boolean {
  return isRetried || code === BEHIND
}

/** The keys of a partition of which records wait as dead letters: those that come later wait behind them. */
export class BlockedKeys {
  readonly #store: StreamStore
  readonly #inbox: Inbox
  readonly #partition: number
  /** Ends a read of the letters. */
  readonly #signal: AbortSignal
  /** The names of the letters by key. */
  #letters = new Map<string, Set<string>>()
  #seen: LogPosition | undefined

  constructor(store: StreamStore, inbox: Inbox, partition: number, signal: AbortSignal) {
    this.#store = store
    this.#inbox = inbox
    this.#partition = partition
    this.#signal = signal
  }

  has(key: string): boolean {
    return this.#letters.has(key)
  }

  /** Whether the letter is kept already: a drain that died has not written its checkpoint. */
  isKept({ key, letter }: DeadLetter): boolean {
    return this.#letters.get(key)?.has(letter) ?? false
  }

  add({ key, letter }: DeadLetter): void {
    this.#letters.set(key, (this.#letters.get(key) ?? new Set()).add(letter))
  }

  remove(key: string): void {
    this.#letters.delete(key)
  }

  /** What waits in a key, in order. @throws the store's faults */
  async lettersOf(key: string): Promise<DeadLetter[]> {
    return (await this.#read()).filter(letter => letter.key === key)
  }

  /** Reads the keys at the beginning. @returns those that can go on. @throws the store's faults */
  async load(): Promise<string[]> {
    const letters = await this.#read()
    for (const letter of letters) this.add(letter)
    return this.#freeKeys(letters)
  }

  /** The keys that can go on, if anything was done about dead letters since the last time. @throws the store's faults */
  async freed(): Promise<string[]> {
    if (this.#letters.size === 0) return []
    const end = await deadLettersEnd(this.#store, this.#inbox, this.#signal)
    if (end === undefined || (this.#seen !== undefined && comparePositions(end, this.#seen) <= 0)) return []
    const letters = await this.#read()
    this.#seen = end
    return this.#freeKeys(letters)
  }

  /** Those whose first letter can be done, and those that have none any more. */
  #freeKeys(letters: readonly DeadLetter[]): string[] {
    const first = new Map<string, DeadLetter>()
    for (const letter of letters) if (!first.has(letter.key)) first.set(letter.key, letter)
    return [...this.#letters.keys()].filter(key => {
      const letter = first.get(key)
      return letter === undefined || mayGoOn(letter)
    })
  }

  async #read(): Promise<DeadLetter[]> {
    const letters = await readDeadLetters(this.#store, this.#inbox, this.#signal)
    return letters.filter(({ partition, blocks }) => blocks && partition === this.#partition)
  }
}
