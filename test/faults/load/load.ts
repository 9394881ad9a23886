import { readStream } from '../../../src/ops/read-stream.ts'
import { type RemoveStreamOutcome, removeStream } from '../../../src/ops/remove.ts'
import { type TransactOptions, type TransactOutcome, transact } from '../../../src/ops/transact/transact.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import type { Operation } from '../../../src/stream/operations/operation.ts'
import type { Entry, HistoryWriter, Told } from '../history/history.ts'

/** A change whose outcome is unknown. */
export interface OpenChange {
  readonly stream: string
  readonly id: string
  readonly born: string
}

export interface LoadOptions {
  readonly store: StreamStore
  readonly who: string
  readonly history: HistoryWriter
  readonly random: () => number
  /** These exist all the time, `bornOf` them. */
  readonly streams: readonly string[]
  /** These are removed and created again by any worker. */
  readonly shortLived: readonly string[]
  /** Open changes of a dead worker: some are repeated. */
  readonly open: OpenChange[]
  readonly isOver: () => boolean
  /** A change was made. */
  readonly made: () => void
  /** The command id of a change. Default: a new one each time. */
  readonly commandId?: (id: string) => string
  /** The id of a change, by its command id. */
  readonly idOf?: (commandId: string) => string
  /** The share of reads among its steps, 0 to 1. Default 0.15. */
  readonly reads?: number
  /** The rate at which it dies during a change: the answer is lost, and the change is repeated. */
  readonly crashes?: number
}

const MAX_BURST = 60

export function bornOf(stream: string): string {
  return `life of ${stream}`
}

export function changeOf(id: string): Operation {
  return { op: 'set', event: '00', attributes: { tag: id } }
}

export function creation(born: string): Operation {
  return { op: 'init', root: { name: 'Start' }, forks: [], hold: false, born }
}

/** One worker that changes, reads, creates and removes streams, each change with an id of its own, until it is over. */
export async function load(options: LoadOptions): Promise<void> {
  const worker = new LoadWorker(options)
  while (!options.isOver()) await worker.step()
}

class LoadWorker {
  readonly #options: LoadOptions
  #ids = 0

  constructor(options: LoadOptions) {
    this.#options = options
  }

  async step(): Promise<void> {
    const { open, random, shortLived, streams, reads = 0.15 } = this.#options
    const again = random() < 0.3 ? open.pop() : undefined
    // Creating again a stream that was removed meanwhile would be another creation.
    if (again !== undefined && again.id !== again.born) return this.#changes([again], {})
    const dice = random()
    if (dice < reads) return this.#read(this.#pick(streams))
    if (dice < reads + 0.15 && shortLived.length > 0) return this.#comeOrGo(this.#pick(shortLived))
    const stream = this.#pick(streams)
    const count = 1 + Math.floor(random() ** 2 * MAX_BURST)
    const changes = Array.from({ length: count }, () => ({ stream, id: this.#newId(), born: bornOf(stream) }))
    // Most of these are refused: their stream is at another version by now.
    return this.#changes(changes, random() < 0.1 ? { ifVersion: 1 } : {})
  }

  async #changes(changes: readonly OpenChange[], pin: Partial<TransactOptions>): Promise<void> {
    const how = { ...this.#how(), ...pin }
    await Promise.all(changes.map(change => this.#change(change, changeOf(change.id), { ifBorn: change.born, ...how })))
  }

  async #change(change: OpenChange, operation: Operation, how: Partial<TransactOptions>): Promise<void> {
    const { store, who, history, made, open, random, commandId = (same: string) => same, crashes = 0 } = this.#options
    const { stream, id, born } = change
    const answer = history.ask(stream, { what: 'change', id, born })
    const told = await transact(store, stream, operation, { commandId: commandId(id), by: who, ...how }).then(
      toldOf,
      notMade,
    )
    if (told.kind === 'done') made()
    const isCrash = random() < crashes
    if (!isCrash) answer(told)
    if (isCrash || told.kind === 'unknown') open.push(change)
  }

  async #read(stream: string): Promise<void> {
    const { store, history } = this.#options
    const answer = history.ask(stream, { what: 'read' })
    const view = await readStream(store, stream).catch(notMade)
    if (view === undefined) answer({ kind: 'seen', born: bornOf(stream), version: 0, id: '' })
    else if ('document' in view) {
      const { born, version } = view.document
      answer({ kind: 'seen', born, version, id: view.stream.root?.tag ?? '' })
    }
  }

  /** Creates it if it is missing; otherwise changes or removes the version it reads. */
  async #comeOrGo(stream: string): Promise<void> {
    const { store, history, random, idOf = (same: string) => same } = this.#options
    const view = await readStream(store, stream).catch(notMade)
    const id = this.#newId()
    if (view === undefined) return this.#change({ stream, id, born: id }, creation(id), this.#how())
    if (!('document' in view)) return
    const { born } = view.document
    if (random() < 0.7) return this.#changes([{ stream, id, born }], {})
    const journal = view.transactions().map(({ version, commandId }) => ({ version, id: idOf(commandId) }))
    const { etag } = view.stored
    const answer = history.ask(stream, { what: 'remove', born, journal, etag })
    const removed = removeStream(store, stream, { etag, born, leaseWaitMs: 0 })
    answer(await removed.then(outcome => removalTold(outcome, journal), notMade))
  }

  #how(): Partial<TransactOptions> {
    const { random } = this.#options
    const write = random() < 0.4 ? 'optimistic' : 'lease'
    const leaseWaitMs = random() < 0.3 ? 0 : 100
    return random() < 0.1
      ? { write, leaseWaitMs, signal: AbortSignal.timeout(Math.floor(random() * 60)) }
      : { write, leaseWaitMs }
  }

  #newId(): string {
    return `${this.#options.who}-${++this.#ids}`
  }

  #pick(names: readonly string[]): string {
    return names[Math.floor(this.#options.random() * names.length)] ?? ''
  }
}

export function toldOf(outcome: TransactOutcome): Told {
  if (outcome.kind === 'done') return { kind: 'done', version: outcome.result.version }
  if (outcome.kind === 'unknown') return { kind: 'unknown' }
  return { kind: 'not-made', why: outcome.kind === 'refused' ? outcome.refusal.code : outcome.kind }
}

/** An exception means that nothing was changed. */
function notMade(error: unknown): Told & { readonly kind: 'not-made' } {
  return { kind: 'not-made', why: `threw ${error instanceof Error ? error.name : String(error)}` }
}

export function removalTold(outcome: RemoveStreamOutcome, journal: readonly Entry[]): Told {
  if (outcome.kind === 'removed') return { kind: 'done', version: journal.at(-1)?.version ?? 0 }
  if (outcome.kind === 'unknown') return { kind: 'unknown' }
  return { kind: 'not-made', why: outcome.kind }
}
