import type { ChangeResult } from '../../../src/stream/operations/operation.ts'
import type { Job } from '../../../src/worker/types.ts'
import type { Actor } from '../scheduler.ts'

/** An end that a worker was told is written. */
export interface Report {
  readonly stream: string
  readonly event: string
  readonly owner: string
  readonly op: string
  readonly result: ChangeResult
}

/** An operator's command, and what it was told of it. `given-up`: nothing. */
export interface Answer {
  readonly stream: string
  readonly commandId: string
  readonly kind: 'done' | 'refused' | 'given-up'
}

/** Who was stopped, or whose clock was set, asks once more whether the event is still its own, for so long, ms. */
export const DOUBT_MS = 6_000

/** Two were at the same event at the same time, neither of them told to stop; each under a fence of its own. */
export interface Clash {
  readonly stream: string
  readonly event: string
  readonly who: readonly string[]
  readonly fences: readonly number[]
}

/** A time at which somebody was at an event, as it really was. */
interface Stretch {
  readonly job: Job
  readonly actor: Actor
  /** Whose clock is slow trusts its claim for too long: then only the fence keeps it from harm. */
  readonly isSlow: boolean
}

/** What the people of a town really did, and what they were told. */
export class Register {
  readonly reports: Report[] = []
  readonly answers: Answer[] = []
  /** How often work on an attempt was begun: by stream, event and attempt. */
  readonly begun = new Map<string, number>()
  readonly clashing = new Map<string, Clash>()
  readonly #stretches = new Set<Stretch>()

  /** @returns what to call when the work is over */
  begins(job: Job, actor: Actor, rate: number): () => void {
    const attempt = [job.stream, job.event.id, job.attempt].join(' ')
    this.begun.set(attempt, (this.begun.get(attempt) ?? 0) + 1)
    const stretch = { job, actor, isSlow: rate < 1 }
    this.#stretches.add(stretch)
    this.clashes()
    return () => this.#stretches.delete(stretch)
  }

  reported(report: Report): void {
    this.reports.push(report)
  }

  answered(answer: Answer): void {
    this.answers.push(answer)
  }

  died(actor: Actor): void {
    for (const stretch of this.#stretches) if (stretch.actor === actor) this.#stretches.delete(stretch)
  }

  /** Looks who is at what now. */
  clashes(): void {
    const at = new Map<string, Stretch>()
    for (const stretch of this.#stretches) {
      const { job, actor, isSlow } = stretch
      const isInDoubt = actor.scheduler.nowMs < actor.stoppedUntilMs + DOUBT_MS
      if (job.signal.aborted || isInDoubt || isSlow) continue
      const { stream, event } = job
      const key = `${stream} ${event.id}`
      const other = at.get(key)
      at.set(key, stretch)
      if (other === undefined) continue
      const both = [other, stretch].sort((a, b) => a.job.fence - b.job.fence)
      const fences = both.map(({ job }) => job.fence)
      const who = both.map(({ actor }) => actor.name)
      this.clashing.set(`${key} ${fences}`, { stream, event: event.id, who, fences })
    }
  }
}
