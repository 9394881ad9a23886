import { standBack } from './backoff.ts'

/** So long others count as waiting for a stream after a sign of them, ms. */
const RECENT_MS = 2_000
/** So many changes in a row make one turn: what they cost together is less than what each costs alone. */
const CHANGES_OF_A_TURN = 4
/** They are in a row where the next one comes so soon after the one before, ms. */
const SOON_MS = 50
/** Turns of so many streams are remembered. */
const KEPT = 1_000

interface Turn {
  /** The ETag at its end. */
  etag: string | undefined
  /** Monotonic ms. */
  endedMs: number
  /** Monotonic ms of the last sign that others want the stream too. */
  metMs: number
  /** Monotonic ms since which the first change of the turn wants the stream. */
  askedMs: number
  /** How long that took, ms. */
  waitedMs: number
  /** How long to stand back, ms; 0 as long as the turn goes on. */
  backMs: number
  /** How many changes it had so far. */
  changes: number
}

/**
 * Who had a stream and comes again at once is always sooner than those who wait: they sleep between their tries. So,
 * where others were met lately, it stands back for at least about the first sleep of one who waits, and for about as
 * long as it waited for its turn itself: that is how long the others need for theirs. Where nobody was met it costs
 * nothing.
 */
export class AzureTurns {
  readonly #nowMs: () => number
  readonly #random: () => number
  readonly #turns = new Map<string, Turn>()

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
  met(name: string): void {
    this.#of(name).metMs = this.#nowMs()
  }

  /** The state a change begins with: another's write since our own of a moment ago is a sign of others. */
  saw(name: string, etag: string): void {
    const turn = this.#turns.get(name)
    if (turn?.etag !== undefined && turn.etag !== etag && this.#isRecent(turn.endedMs)) turn.metMs = this.#nowMs()
  }

  /** Whether this process is in the middle of its turn: what it wrote last is most likely what is there. */
  isOurs(name: string): boolean {
    return (this.#turns.get(name)?.changes ?? 0) > 0
  }

  /** A change ended, with a write of this ETag or with none. */
  ended(name: string, etag: string | undefined): void {
    const turn = this.#of(name)
    this.#turns.delete(name)
    this.#turns.set(name, turn)
    turn.etag = etag ?? turn.etag
    turn.changes += 1
    turn.endedMs = this.#nowMs()
    if (turn.changes === 1) turn.waitedMs = turn.endedMs - turn.askedMs
    const isOver = turn.changes >= CHANGES_OF_A_TURN
    turn.backMs = isOver ? standBack(turn.waitedMs, this.#random) : 0
    if (isOver) turn.changes = 0
  }

  /**
   * A change begins. `justNow`: only now the lease of the one before was given back.
   *
   * @returns how long to stand back before, ms; 0 where nobody waits
   */
  begin(name: string, justNow: boolean): number {
    const turn = this.#turns.get(name)
    if (turn === undefined) return 0
    const nowMs = this.#nowMs()
    if (!justNow && nowMs - turn.endedMs >= SOON_MS) turn.changes = 0
    const backMs = !this.#isRecent(turn.metMs)
      ? 0
      : justNow
        ? turn.backMs
        : Math.max(turn.endedMs + turn.backMs - nowMs, 0)
    if (turn.changes === 0) turn.askedMs = nowMs + backMs
    return backMs
  }

  #isRecent(ms: number): boolean {
    return this.#nowMs() - ms < RECENT_MS
  }

  #of(name: string): Turn {
    const known = this.#turns.get(name)
    if (known !== undefined) return known
    const never = Number.NEGATIVE_INFINITY
    const turn: Turn = {
      etag: undefined,
      endedMs: never,
      metMs: never,
      backMs: 0,
      changes: 0,
      askedMs: this.#nowMs(),
      waitedMs: 0,
    }
    const [oldest] = this.#turns.keys()
    if (this.#turns.size >= KEPT && oldest !== undefined) this.#turns.delete(oldest)
    this.#turns.set(name, turn)
    return turn
  }
}
