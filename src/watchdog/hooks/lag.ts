/** Whether hooks keep up with what happens. */
export type HookPace =
  /** So many streams wait to be told. */
  | { readonly kind: 'behind'; readonly waiting: number }
  /** No more are remembered: what moves now is found after the next restart or takeover, from how far hooks have come. */
  | { readonly kind: 'full'; readonly waiting: number }
  | { readonly kind: 'caught-up' }

/** For people. */
export function paceText(pace: HookPace): string {
  if (pace.kind === 'caught-up') return 'hooks have caught up'
  const { kind, waiting } = pace
  const more =
    kind === 'full' ? ', and no more are remembered: the rest is told after the next restart or takeover' : ''
  return `hooks are behind: ${waiting} streams wait${more}`
}

/** Tells once when hooks fall behind, once when no more can wait, and once when they have caught up. */
export class LagMonitor {
  readonly #limit: number
  readonly #tell: (pace: HookPace) => void
  #told: HookPace['kind'] = 'caught-up'

  /** @param limit more streams than that do not usually wait */
  constructor(limit: number, tell: (pace: HookPace) => void) {
    this.#limit = limit
    this.#tell = tell
  }

  waits(waiting: number): void {
    if (this.#told === 'caught-up' && waiting > this.#limit) this.#change({ kind: 'behind', waiting })
    // not at the same number, or it would go to and fro
    if (this.#told !== 'caught-up' && waiting <= this.#limit / 10) this.#change({ kind: 'caught-up' })
  }

  isFull(waiting: number): void {
    if (this.#told !== 'full') this.#change({ kind: 'full', waiting })
  }

  #change(pace: HookPace): void {
    this.#told = pace.kind
    this.#tell(pace)
  }
}
