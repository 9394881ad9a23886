import { StoreUnreachable } from '../store/errors.ts'
import type { StreamStore } from '../store/store.ts'
import type { WorkerTiming } from '../util/clock.ts'
import type { Finder, FoundEvent } from './finder.ts'
import type { PollBackoff } from './poll-backoff.ts'
import { type AfterLoss, aftermathOf } from './self-reported.ts'
import type {
  Job,
  LoopOptions,
  LoopReport,
  NotCommitted,
  SelfReported,
  Work,
  WorkerEvent,
  WorkOutcome,
  WorkResult,
} from './types.ts'
import { RELEASE, workEvent } from './work-event.ts'

type Target = Extract<FoundEvent, { readonly kind: 'found' }>

interface Surroundings {
  readonly finder: Finder
  readonly tally: WorkerCounters
  readonly contact: OutageReporter
  readonly idle: PollBackoff
  readonly timing: WorkerTiming
  readonly observe: (happening: WorkerEvent) => void
  /** Aborts when nothing more is to be begun. */
  readonly over: AbortSignal
}

const MAX_ATTEMPTS = 5
/** How long is left alone, ms: what was refused without an apparent reason, what is leased, handed back or at fault. */
const REST_MS = { refused: 500, leased: 5_000, released: 5_000, fault: 30_000 } as const

/** What a loop does with the events it has found. */
export class EventRunner {
  readonly #store: StreamStore
  readonly #options: LoopOptions
  readonly #work: Work
  readonly #at: Surroundings
  #begun = 0

  constructor(store: StreamStore, options: LoopOptions, work: Work, surroundings: Surroundings) {
    this.#store = store
    this.#options = options
    this.#work = work
    this.#at = surroundings
  }

  /** On how many events work was begun. */
  get begun(): number {
    return this.#begun
  }

  /**
   * Claims the event, works on it and reports; never throws.
   * @param leave called once the work itself is over: the next may begin
   */
  async run(target: Target, leave: () => void): Promise<void> {
    const { finder, tally, contact, over } = this.#at
    const state = { isBegun: false, isGivenUp: false }
    finder.begin(target)
    try {
      const outcome = await workEvent(this.#store, target, this.#options, job =>
        this.#workOn(job, target, state, leave),
      )
      contact.answered('change')
      const after = await aftermathOf(this.#store, outcome)
      if (!state.isGivenUp) tally.ended(outcome, after.ownEnd)
      this.#follow(target, outcome, after)
      this.#tell(target, outcome, after, state.isGivenUp)
    } catch (error) {
      if (state.isBegun) tally.threw()
      else if (!(error instanceof StoreUnreachable)) tally.fault()
      if (!over.aborted || state.isBegun) await this.#failed(target, error)
    } finally {
      finder.end(target)
    }
  }

  /** An attempt too many is not worked on: it is failed, under a claim of its own that no late sign of life can be behind. */
  async #workOn(job: Job, { silent }: Target, state: { isBegun: boolean; isGivenUp: boolean }, leave: () => void) {
    const { maxAttempts = MAX_ATTEMPTS } = this.#options
    if (silent !== undefined && job.attempt > maxAttempts) {
      state.isGivenUp = true
      return givenUp(silent.attempts, silent.owner)
    }
    // Drained while it was claimed.
    if (this.#at.over.aborted) return RELEASE
    state.isBegun = true
    this.#begun += 1
    this.#at.observe({ kind: 'started', job })
    try {
      return await this.#work(job)
    } finally {
      leave()
      // What is claimed next in this stream is then written together with the report.
      await this.#at.timing.tick()
    }
  }

  #follow(target: Target, outcome: WorkOutcome, { ownEnd, isBack }: AfterLoss): void {
    const { finder, idle } = this.#at
    if (outcome.kind === 'not-claimed') this.#notClaimed(target, outcome.undone)
    else if (outcome.kind === 'reported') {
      if (outcome.ending.op === 'release') this.#setback(target, REST_MS.released)
      else idle.success()
      finder.wrote(target.stream)
    } else {
      // Ready again, often as the same attempt: without a rest it would be claimed over and over.
      if (isBack) this.#setback(target, REST_MS.released)
      else if (ownEnd !== undefined) idle.success()
      finder.mistook(target.stream)
    }
  }

  /** A loop that is to end by itself tries each such event once; any other tries again, ever more slowly. */
  #setback(target: Target, restMs: number): void {
    if (this.#options.until === undefined) this.#at.idle.setback()
    this.#rest(target, this.#options.until === undefined ? restMs : Number.POSITIVE_INFINITY)
  }

  #notClaimed({ stream, event }: Target, { kind }: NotCommitted): void {
    if (kind === 'held') this.#rest({ stream }, REST_MS.leased)
    else {
      this.#rest({ stream, event }, REST_MS.refused)
      this.#at.finder.mistook(stream)
    }
  }

  async #failed(target: Target, error: unknown): Promise<void> {
    const { contact, finder, timing, over } = this.#at
    const { stream, event } = target
    contact.failed('change', error, { stream, event })
    finder.mistook(stream)
    if (error instanceof StoreUnreachable) {
      this.#rest({ stream, event }, REST_MS.refused)
      // Its place stays taken meanwhile: an outage is not hammered with one event after the other.
      await timing.pause(REST_MS.refused * (1 + timing.random()), over)
    } else this.#setback(target, REST_MS.fault)
  }

  /** By chance up to twice as long: others wait for the same. */
  #rest({ stream, event }: { readonly stream: string; readonly event?: string }, ms: number): void {
    const target = event === undefined ? { stream } : { stream, event }
    this.#at.finder.rest(target, ms * (1 + this.#at.timing.random()))
  }

  #tell({ stream, event, silent }: Target, outcome: WorkOutcome, { ownEnd }: AfterLoss, isGivenUp: boolean): void {
    const { observe, tally } = this.#at
    if (isGivenUp && outcome.kind === 'reported') {
      tally.gaveUp()
      observe({ kind: 'given-up', stream, event, attempts: silent?.attempts ?? 0 })
    } else observe({ kind: 'outcome', outcome, ...(ownEnd === undefined ? {} : { ownEnd }) })
  }
}

function givenUp(attempts: number, owner: string): WorkResult {
  return {
    op: 'fail',
    msg: `given up after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}; the last was ${owner}'s`,
  }
}

/** Counts what a loop does. */
export class WorkerCounters {
  readonly #counts = { claimed: 0, completed: 0, failed: 0, released: 0, lost: 0, racesLost: 0, givenUp: 0, faults: 0 }

  get counts(): Omit<LoopReport, 'locked'> {
    return { ...this.#counts }
  }

  fault(): void {
    this.#counts.faults += 1
  }

  gaveUp(): void {
    this.#counts.givenUp += 1
  }

  /** Claimed, and nobody knows what became of it. */
  threw(): void {
    this.#counts.claimed += 1
    this.#counts.lost += 1
  }

  /** @param ownEnd what the work did itself, where its end could not be reported */
  ended(outcome: WorkOutcome, ownEnd?: SelfReported): void {
    const counts = this.#counts
    if (outcome.kind === 'not-claimed') {
      counts.racesLost += outcome.undone.kind === 'refused' ? 1 : 0
      return
    }
    counts.claimed += 1
    const op = outcome.kind === 'reported' ? outcome.ending.op : ownEnd?.op
    if (op === undefined) counts.lost += 1
    else if (op === 'fail') counts.failed += 1
    else if (op === 'release') counts.released += 1
    else counts.completed += 1
  }
}

/** What a store was asked for: to find events, or to change them. */
type Asked = 'look' | 'change'

/** Tells of an outage once, when it begins, and of its end; and of what keeps it from looking for events, once. */
export class OutageReporter {
  readonly #tell: (happening: WorkerEvent) => void
  readonly #silent = new Set<Asked>()
  #lookFault: string | undefined

  constructor(tell: (happening: WorkerEvent) => void) {
    this.#tell = tell
  }

  /** An answer of one kind says nothing of the other: a store may be read and not written. */
  answered(asked: Asked): void {
    if (asked === 'look') this.#lookFault = undefined
    if (this.#silent.delete(asked) && this.#silent.size === 0) this.#tell({ kind: 'resumed' })
  }

  /** The store could not do what it was asked for. */
  failed(asked: Asked, error: unknown, where: { readonly stream?: string; readonly event?: string } = {}): void {
    if (!(error instanceof StoreUnreachable)) {
      const fault = asked === 'look' ? String(error) : undefined
      if (fault === undefined || fault !== this.#lookFault) this.#tell({ kind: 'fault', ...where, error })
      this.#lookFault = fault ?? this.#lookFault
    } else {
      if (this.#silent.size === 0) this.#tell({ kind: 'interrupted', cause: error })
      this.#silent.add(asked)
    }
  }
}
