import type { StreamStore } from '../../../../src/store/store.ts'
import { LeasectlError } from '../../../../src/stream/errors.ts'
import { Poll, type PollClock, type PollOptions } from '../../../../src/tui/data/poll/poll.ts'
import { DataStore } from '../../../../src/tui/data/store.ts'
import { NOTHING_VISIBLE, type VisibleData } from '../../../../src/tui/data/types.ts'

/** A clock that only the test advances. */
export class StepClock implements PollClock {
  /** The length of each pause of the poll. */
  readonly waits: number[] = []
  #nowMs = 0
  #wake: (() => void) | undefined
  #onRest: () => void = () => {}

  nowMs = (): number => this.#nowMs

  async pause(ms: number, signal: AbortSignal): Promise<void> {
    this.waits.push(ms)
    await new Promise<void>(resolve => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
      if (signal.aborted) this.#wake()
      signal.addEventListener('abort', () => this.#wake?.(), { once: true })
      this.#onRest()
    })
  }

  /** Duration of a poll. */
  goOn(ms: number): void {
    this.#nowMs += ms
  }

  /** Resolves when the poll has nothing to do. */
  async resting(): Promise<void> {
    if (this.#wake === undefined) {
      await new Promise<void>(resolve => {
        this.#onRest = resolve
      })
    }
    await othersDone()
  }

  /** Ends the pause: resolves at the next one. */
  async next(): Promise<void> {
    this.#nowMs += this.waits.at(-1) ?? 0
    const wake = this.#wake
    if (wake === undefined) throw new Error('the poll does not rest')
    wake()
    await this.resting()
  }
}

/** Background work beside the polls has ended: it only waits for promises. */
export async function othersDone(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

export interface Polled {
  readonly poll: Poll
  readonly data: DataStore
  readonly clock: StepClock
  /** Stops it; rethrows its error. */
  stop(): Promise<void>
}

export const LISTED: VisibleData = { ...NOTHING_VISIBLE, streams: true }

/** A running poll after its first round. */
export async function polling(
  store: StreamStore,
  demand: VisibleData = LISTED,
  options: Partial<PollOptions> = {},
  data = new DataStore(),
): Promise<Polled> {
  const clock = new StepClock()
  const poll = new Poll(store, data, { intervalMs: 1_000, clock, explain, ...options })
  poll.setVisible(demand)
  const end = new AbortController()
  const ended = poll.run(end.signal)
  ended.catch(() => {})
  await Promise.race([clock.resting(), ended])
  return {
    poll,
    data,
    clock,
    stop() {
      end.abort()
      return ended
    },
  }
}

function explain(error: unknown) {
  return error instanceof LeasectlError ? { code: error.code, message: error.message } : { code: '?', message: '?' }
}

export function namesIn({ streams }: DataStore): string[] {
  return Array.from(streams.values(), ({ name }) => name).sort()
}

/** The same store without the method by which it can report that nothing was written. */
export function withoutMarks(store: StreamStore): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      if (key === 'changeToken') return undefined
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
