/** Whether hooks keep up with the changes. */
export type HookPace =
  /** This number of streams waits to be read. */
  | { readonly kind: 'behind'; readonly waiting: number }
  /**
   * The backlog is full: streams that change now are found by a later sweep.
   */
  | { readonly kind: 'full'; readonly waiting: number }
  | { readonly kind: 'caught-up' }

/** A sentence for users. */
export function paceText(pace: HookPace): string {
  if (pace.kind === 'caught-up') return 'hooks have caught up'
  const { kind, waiting } = pace
  const more = kind === 'full' ? ', and the backlog is full: a later sweep finds further streams' : ''
  return `hooks are behind: ${waiting} streams wait${more}`
}

/** Reports once when hooks fall behind, once when the backlog is full, and once when they have caught up. */
export class LagMonitor {
  readonly #limit: number
  readonly #report: (pace: HookPace) => void
  #reported: HookPace['kind'] = 'caught-up'

  /** @param limit number of waiting streams that still counts as normal */
  constructor(limit: number, report: (pace: HookPace) => void) {
    this.#limit = limit
    this.#report = report
  }

  waits(waiting: number): void {
    if (this.#reported === 'caught-up' && waiting > this.#limit) this.#change({ kind: 'behind', waiting })
    // Hysteresis: with a single threshold the state would flap.
    if (this.#reported !== 'caught-up' && waiting <= this.#limit / 10) this.#change({ kind: 'caught-up' })
  }

  isFull(waiting: number): void {
    if (this.#reported !== 'full') this.#change({ kind: 'full', waiting })
  }

  #change(pace: HookPace): void {
    this.#reported = pace.kind
    this.#report(pace)
  }
}
