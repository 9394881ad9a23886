import { yieldDelay } from '../../backoff.ts'
import type { OthersLately } from '../../store.ts'

/** After a sign of other writers the stream counts as contended for this long, ms. */
const RECENT_MS = 2_000
/** The most changes in a turn: together they cost less than each alone. */
const MAX_CHANGES = 4
/** The fewest changes in a turn, and those in the first turn, when other writers are not known yet. */
const MIN_CHANGES = 2
/** The turns of all writers together have about this many changes: the more writers there are, the shorter is each turn. */
const CHANGES_OF_A_ROUND = 20
/** Changes belong to the same turn if the next one begins this soon after the one before, ms. */
const SOON_MS = 50
/** Assumed duration of another writer's turn without a history, in own turns without their waits. */
const TURN_OF_ANOTHER = 1.75
/** Its upper limit, in the same unit: some writers write rarely. */
const LONGEST_TURN_OF_ANOTHER = 4
/** How long a process counts as alone after it yielded in vain, ms. */
const ALONE_MS = 10_000
/** Budget of yields in vain of a process, over all streams. */
const MAX_VAIN_YIELDS = 2
/** Number of changes that add one yield to that budget. */
const CHANGES_PER_VAIN_YIELD = 2_000
/** Maximum number of remembered streams. */
const MAX_STREAMS = 1_000

const NO_OTHERS: OthersLately = { count: 0, turnMs: undefined }

interface Turn {
  /** The ETag after its last change. */
  etag: string | undefined
  /** End of its last change, monotonic ms. */
  endedMs: number
  /** Last sign of other writers, monotonic ms. */
  contendedMs: number
  /** End of the last yield without any sign of other writers, monotonic ms. */
  vainMs: number
  /** Start of the current change, after its waits, monotonic ms. */
  startedMs: number
  /** Total time for which the changes of this turn had the stream to themselves, ms. */
  heldMs: number
  /** Expected number of other writers; infinite before the end of the first turn. */
  others: number
  /** How long to yield before the next change, ms; 0 during the turn. */
  yieldMs: number
  /** Number of changes so far. */
  changes: number
  maxChanges: number
}

/**
 * Fairness between the writers of a stream. A process that just wrote is always faster than waiting ones, because they sleep
 * between their attempts. So a process takes turns of a few changes, and after each turn it yields for as long as the others need
 * for one turn each, according to the history of the stream.
 *
 * It yields if there were signs of others in the last seconds. Writers that wait for a lease leave no sign, so the first writer
 * would never notice them. Therefore a process that does not know whether it is alone yields as well. If no one came
 * meanwhile, it counts as alone for the next seconds; yields in vain take only a small share of its time.
 */
export class WriterFairness {
  readonly #nowMs: () => number
  readonly #random: () => number
  readonly #turns = new Map<string, Turn>()
  /** Current budget of yields in vain. */
  #vainYields = MAX_VAIN_YIELDS

  constructor(nowMs: () => number, random: () => number) {
    this.#nowMs = nowMs
    this.#random = random
  }

  /** Whether there were signs of other writers in the last seconds. */
  isContended(name: string): boolean {
    const turn = this.#turns.get(name)
    return turn !== undefined && this.#isRecent(turn.contendedMs)
  }

  /** Whether this process wrote the stream in the last seconds, without any sign of other writers. */
  isAloneLately(name: string): boolean {
    const turn = this.#turns.get(name)
    return turn !== undefined && this.#isRecent(turn.endedMs) && !this.#isRecent(turn.contendedMs)
  }

  /** Another writer's lease was in the way, or its write came first. */
  contentionSeen(name: string): void {
    this.#of(name).contendedMs = this.#nowMs()
    // Writers that share one stream may share others.
    this.#vainYields = MAX_VAIN_YIELDS
  }

  /** A change begins with this ETag: if it differs from our own recent one, there are other writers. */
  observeEtag(name: string, etag: string): void {
    const turn = this.#turns.get(name)
    if (turn?.etag !== undefined && turn.etag !== etag && this.#isRecent(turn.endedMs)) this.contentionSeen(name)
  }

  /** Whether this process is in the middle of its turn: its last write is most likely still current. */
  isActive(name: string): boolean {
    return (this.#turns.get(name)?.changes ?? 0) > 0
  }

  /** A change has finished waiting, and now has the stream to itself or tries to. */
  changeStarted(name: string): void {
    this.#of(name).startedMs = this.#nowMs()
  }

  /** A change ended without a write, on a state of this ETag. */
  recordSkip(name: string, etag: string): void {
    const turn = this.#of(name)
    turn.etag = etag
    turn.endedMs = this.#nowMs()
    turn.yieldMs = 0
  }

  /** A change ended with a write of this ETag. */
  recordChange(name: string, etag: string, othersLately: () => OthersLately = () => NO_OTHERS): void {
    const turn = this.#of(name)
    this.#turns.delete(name)
    this.#turns.set(name, turn)
    this.#vainYields = Math.min(this.#vainYields + 1 / CHANGES_PER_VAIN_YIELD, MAX_VAIN_YIELDS)
    turn.etag = etag
    turn.changes += 1
    turn.endedMs = this.#nowMs()
    turn.heldMs += turn.endedMs - turn.startedMs
    turn.startedMs = turn.endedMs
    turn.yieldMs = 0
    if (turn.changes >= turn.maxChanges) this.#endTurn(turn, this.#isAlone(turn) ? NO_OTHERS : othersLately())
    else if (this.#isRecent(turn.contendedMs)) {
      const others = othersLately()
      // The last yield was too short, because some of them were not known.
      if (others.count > turn.others) this.#endTurn(turn, others)
    }
  }

  /**
   * How long a change yields before it begins, ms; 0 if no one is expected to wait.
   *
   * @param isJustReleased whether the lease of the previous change was released only now
   */
  yieldDelayMs(name: string, isJustReleased: boolean): number {
    const turn = this.#turns.get(name)
    if (turn === undefined) return 0
    const nowMs = this.#nowMs()
    if (!isJustReleased && nowMs - turn.endedMs >= SOON_MS) beginTurn(turn)
    const yieldMs = isJustReleased ? turn.yieldMs : Math.max(turn.endedMs + turn.yieldMs - nowMs, 0)
    if (yieldMs === 0 || this.#isRecent(turn.contendedMs)) return yieldMs
    if (this.#isAlone(turn) || this.#vainYields < 1) return 0
    this.#vainYields -= 1
    turn.vainMs = nowMs + yieldMs
    return yieldMs
  }

  #endTurn(turn: Turn, { count, turnMs }: OthersLately): void {
    // The duration of a whole turn, even if this one ended early.
    const ownMs = (turn.heldMs / turn.changes) * turn.maxChanges
    turn.others = Math.max(count, 1)
    const most = Math.floor(CHANGES_OF_A_ROUND / (turn.others + 1))
    turn.maxChanges = Math.min(MAX_CHANGES, Math.max(MIN_CHANGES, most))
    const othersMs = Math.min(turnMs ?? ownMs * TURN_OF_ANOTHER, ownMs * LONGEST_TURN_OF_ANOTHER)
    turn.yieldMs = yieldDelay(turn.others * othersMs, this.#random)
    beginTurn(turn)
  }

  /** Whether it yielded recently and no one came. */
  #isAlone(turn: Turn): boolean {
    return !this.#isRecent(turn.contendedMs) && this.#nowMs() - turn.vainMs < ALONE_MS
  }

  #isRecent(ms: number): boolean {
    return this.#nowMs() - ms < RECENT_MS
  }

  #of(name: string): Turn {
    const known = this.#turns.get(name)
    if (known !== undefined) return known
    const [oldest] = this.#turns.keys()
    if (this.#turns.size >= MAX_STREAMS && oldest !== undefined) this.#turns.delete(oldest)
    const turn = newTurn(this.#nowMs())
    this.#turns.set(name, turn)
    return turn
  }
}

function newTurn(nowMs: number): Turn {
  const never = Number.NEGATIVE_INFINITY
  return {
    etag: undefined,
    endedMs: never,
    contendedMs: never,
    vainMs: never,
    startedMs: nowMs,
    heldMs: 0,
    others: Number.POSITIVE_INFINITY,
    yieldMs: 0,
    changes: 0,
    maxChanges: MIN_CHANGES,
  }
}

function beginTurn(turn: Turn): void {
  turn.changes = 0
  turn.heldMs = 0
}
