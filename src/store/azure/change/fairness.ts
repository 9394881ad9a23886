import { standBack } from '../../backoff.ts'
import type { OthersLately } from '../../store.ts'

/** So long others count as waiting for a stream after a sign of them, ms. */
const RECENT_MS = 2_000
/** A turn has at most so many changes in a row: what they cost together is less than what each costs alone. */
const CHANGES_OF_A_TURN = 4
/** A turn has at least so many, and the first one no more: nothing is known yet of others who begin as well. */
const FEWEST_CHANGES = 2
/** All turns of a round have about so many together: the more others there are, the shorter is each turn. */
const CHANGES_OF_A_ROUND = 20
/** Changes are in a row where the next one comes so soon after the one before, ms. */
const SOON_MS = 50
/** What a turn of another takes if nothing is known of it, and at most, in own turns without their waiting: some write seldom. */
const TURN_OF_ANOTHER = 1.75
const LONGEST_TURN_OF_ANOTHER = 4
/** Who stood back and met nobody counts as alone for so long, ms. */
const ALONE_MS = 5_000
/** Without having met anybody it stands back so often over all streams, and once more after so many changes. */
const MOST_IN_VAIN = 4
const CHANGES_FOR_ONE_IN_VAIN = 500
/** Turns of so many streams are remembered. */
const KEPT = 1_000

const NOBODY: OthersLately = { count: 0, turnMs: undefined }

interface Turn {
  /** The ETag at its end. */
  etag: string | undefined
  /** Monotonic ms. */
  endedMs: number
  /** Monotonic ms of the last sign that others want the stream too. */
  metMs: number
  /** Monotonic ms of the end of a turn after which it stood back though nobody was met. */
  aloneMs: number
  /** Monotonic ms since which the present change has the stream to itself. */
  enteredMs: number
  /** How long the changes of this turn had the stream to themselves, ms. */
  heldMs: number
  /** How many others it reckons with; before the end of the first turn there may be any number. */
  others: number
  /** How long to stand back, ms; 0 as long as the turn goes on. */
  backMs: number
  /** How many changes it had so far, and how many it may have. */
  changes: number
  most: number
}

/**
 * Who had a stream and comes again at once is always sooner than those who wait: they sleep between their tries. So after
 * each turn of a few changes it stands back, for as long as the others need for a turn each, says the stream's history.
 *
 * It does so as long as there were signs of others in the last seconds. Under a lease the others leave none: who began
 * first would never hear of them. So whoever does not know whether it is alone stands back as well. If nobody came
 * meanwhile it is alone for the next seconds; and all that is spent so in vain is a small share of the time.
 */
export class WriterFairness {
  readonly #nowMs: () => number
  readonly #random: () => number
  readonly #turns = new Map<string, Turn>()
  /** How often it may stand back at present though nobody was met. */
  #vain = MOST_IN_VAIN

  constructor(nowMs: () => number, random: () => number) {
    this.#nowMs = nowMs
    this.#random = random
  }

  /** Whether others wanted this stream in the last seconds. */
  isContended(name: string): boolean {
    const turn = this.#turns.get(name)
    return turn !== undefined && this.#isRecent(turn.metMs)
  }

  /** Others want it: their lease was in the way, or their write came before ours. */
  contentionSeen(name: string): void {
    this.#of(name).metMs = this.#nowMs()
    // Where there are others they may be on any stream.
    this.#vain = MOST_IN_VAIN
  }

  /** The state a change begins with: another's write since our own of a moment ago is a sign of others. */
  observeEtag(name: string, etag: string): void {
    const turn = this.#turns.get(name)
    if (turn?.etag !== undefined && turn.etag !== etag && this.#isRecent(turn.endedMs)) this.contentionSeen(name)
  }

  /** Whether this process is in the middle of its turn: what it wrote last is most likely what is there. */
  isActive(name: string): boolean {
    return (this.#turns.get(name)?.changes ?? 0) > 0
  }

  /** A change has waited: from now on it has the stream to itself, or tries so. */
  changeStarted(name: string): void {
    this.#of(name).enteredMs = this.#nowMs()
  }

  /** A change ended without a write, on a state of this ETag. */
  recordSkip(name: string, etag: string | undefined): void {
    const turn = this.#of(name)
    turn.etag = etag ?? turn.etag
    turn.endedMs = this.#nowMs()
    turn.backMs = 0
  }

  /** A change ended with a write of this ETag. */
  recordChange(name: string, etag: string, othersLately: () => OthersLately = () => NOBODY): void {
    const turn = this.#of(name)
    this.#turns.delete(name)
    this.#turns.set(name, turn)
    this.#vain = Math.min(this.#vain + 1 / CHANGES_FOR_ONE_IN_VAIN, MOST_IN_VAIN)
    turn.etag = etag
    turn.changes += 1
    turn.endedMs = this.#nowMs()
    turn.heldMs += turn.endedMs - turn.enteredMs
    turn.enteredMs = turn.endedMs
    turn.backMs = 0
    if (turn.changes >= turn.most) this.#endTurn(turn, this.#isAlone(turn) ? NOBODY : othersLately())
    else if (this.#isRecent(turn.metMs)) {
      const others = othersLately()
      // It came back too soon: it did not know of them.
      if (others.count > turn.others) this.#endTurn(turn, others)
    }
  }

  /**
   * A change begins. `justNow`: only now the lease of the one before was given back.
   *
   * @returns how long to stand back before, ms; 0 where nobody waits
   */
  yieldDelayMs(name: string, justNow: boolean): number {
    const turn = this.#turns.get(name)
    if (turn === undefined) return 0
    const nowMs = this.#nowMs()
    if (!justNow && nowMs - turn.endedMs >= SOON_MS) beginTurn(turn)
    const backMs = justNow ? turn.backMs : Math.max(turn.endedMs + turn.backMs - nowMs, 0)
    if (backMs === 0 || this.#isRecent(turn.metMs)) return backMs
    if (this.#isAlone(turn) || this.#vain < 1) return 0
    this.#vain -= 1
    turn.aloneMs = nowMs + backMs
    return backMs
  }

  #endTurn(turn: Turn, { count, turnMs }: OthersLately): void {
    const changeMs = turn.heldMs / turn.changes
    turn.others = Math.max(count, 1)
    const most = Math.floor(CHANGES_OF_A_ROUND / (turn.others + 1))
    turn.most = Math.min(CHANGES_OF_A_TURN, Math.max(FEWEST_CHANGES, most))
    const ownMs = changeMs * turn.most
    const othersMs = Math.min(turnMs ?? ownMs * TURN_OF_ANOTHER, ownMs * LONGEST_TURN_OF_ANOTHER)
    turn.backMs = standBack(turn.others * othersMs, this.#random)
    beginTurn(turn)
  }

  /** Whether it stood back lately, and nobody came. */
  #isAlone(turn: Turn): boolean {
    return !this.#isRecent(turn.metMs) && this.#nowMs() - turn.aloneMs < ALONE_MS
  }

  #isRecent(ms: number): boolean {
    return this.#nowMs() - ms < RECENT_MS
  }

  #of(name: string): Turn {
    const known = this.#turns.get(name)
    if (known !== undefined) return known
    const [oldest] = this.#turns.keys()
    if (this.#turns.size >= KEPT && oldest !== undefined) this.#turns.delete(oldest)
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
    metMs: never,
    aloneMs: never,
    enteredMs: nowMs,
    heldMs: 0,
    others: Number.POSITIVE_INFINITY,
    backMs: 0,
    changes: 0,
    most: FEWEST_CHANGES,
  }
}

function beginTurn(turn: Turn): void {
  turn.changes = 0
  turn.heldMs = 0
}
