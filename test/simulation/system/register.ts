import type { ChangeResult } from '../../../src/stream/operations/operation.ts'
import type { Job } from '../../../src/worker/types.ts'
import type { Actor } from '../scheduler.ts'

/** A result that a worker was told is written. */
export interface Report {
  readonly stream: string
  readonly event: string
  readonly owner: string
  readonly op: string
  readonly result: ChangeResult
}

/** An operator's command, and its report. `given-up`: none. `edited`: a whole document was written. */
export interface Answer {
  readonly stream: string
  readonly commandId: string
  readonly kind: 'done' | 'refused' | 'edited' | 'given-up'
  /** `done` means that something new was written: a step or a signal. */
  readonly isNew?: boolean
}

/** After a suspension or a set clock, a worker may take this long to check that the event is still its own, ms. */
export const DOUBT_MS = 6_000

/** Two workers on the same event at the same time, neither of them stopped; each with its own fence. */
export interface Clash {
  readonly stream: string
  readonly event: string
  readonly who: readonly string[]
  readonly fences: readonly number[]
}

/** An actual time of work on an event. */
interface Stretch {
  readonly job: Job
  readonly actor: Actor
  /** A worker with a slow clock trusts its claim for too long: then only the fence prevents damage. */
  readonly isSlow: boolean
}

/** The actual actions of all actors, and the reports they got. */
export class Register {
  readonly reports: Report[] = []
  readonly answers: Answer[] = []
  /** The number of starts of an attempt: by stream, event and attempt. */
  readonly begun = new Map<string, number>()
  readonly clashing = new Map<string, Clash>()
  readonly #stretches = new Set<Stretch>()
  /** When the lease of another program on a stream ends, ms. */
  readonly #keptOutUntilMs = new Map<string, number>()

  /** @returns a function to call when the work is over */
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

  /**
   * Another program holds the lease of a stream: its workers go on while the document has their claims. When the lease ends,
   * another may take over at once, and the first learns it by its next look.
   */
  keptOut(stream: string, untilMs: number): void {
    this.#keptOutUntilMs.set(stream, Math.max(untilMs, this.#keptOutUntilMs.get(stream) ?? 0))
  }

  died(actor: Actor): void {
    for (const stretch of this.#stretches) if (stretch.actor === actor) this.#stretches.delete(stretch)
  }

  /** Checks the current workers of all events. */
  clashes(): void {
    const at = new Map<string, Stretch>()
    for (const stretch of this.#stretches) {
      const { job, actor, isSlow } = stretch
      const certainMs = Math.max(actor.stoppedUntilMs, this.#keptOutUntilMs.get(job.stream) ?? 0) + DOUBT_MS
      const isInDoubt = actor.scheduler.nowMs < certainMs
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
