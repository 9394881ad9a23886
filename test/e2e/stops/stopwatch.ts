import type { trustRow } from '../../guarantees/record.ts'
import type { Ended, Running } from '../program.ts'

/** Measures the time that programs need to end, for the report. Tests do not judge the time: machines may be slow. */
export class Stopwatch {
  /** Leases still held after they had ended. */
  leases = 0
  readonly #trust: ReturnType<typeof trustRow<'stops'>>
  readonly #longestMs = { idle: 0, busy: 0 }
  #stops = 0

  constructor(trust: ReturnType<typeof trustRow<'stops'>>) {
    this.#trust = trust
  }

  /** Stops a program. */
  stop(running: Running, kind: 'idle' | 'busy'): Promise<Ended> {
    return this.time(kind, () => {
      running.process.kill('SIGTERM')
      return running.ended
    })
  }

  async time<T>(kind: 'idle' | 'busy', end: () => Promise<T>): Promise<T> {
    const askedAt = performance.now()
    const ended = await end()
    this.took(kind, performance.now() - askedAt)
    return ended
  }

  took(kind: 'idle' | 'busy', ms: number): void {
    this.#stops += 1
    this.#longestMs[kind] = Math.max(this.#longestMs[kind], Math.round(ms))
  }

  /** @param what the kind of programs */
  tell(what: string): void {
    if (this.#stops === 0) return
    this.#trust.figure('stops', this.#stops, what)
    this.#trust.figure('longest idle stop, ms', this.#longestMs.idle, `at most 1000, ${what}`)
    this.#trust.figure('longest busy stop, ms', this.#longestMs.busy, `at most 10000, ${what}`)
    this.#trust.figure('leases left', this.leases, `0, ${what}`)
    this.#trust.injected(`SIGTERM, ${what}`, this.#stops)
  }
}
