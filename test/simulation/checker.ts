import { Allowance, type DogSettings } from './allowance.ts'
import type { EntrySight, Happening, Wrote } from './happenings.ts'
import { isEnded, type ModelLimit, StreamModel } from './stream-model.ts'
import { WatchTimes } from './watch-times.ts'

/** A broken promise, and the explanation. */
export interface Violation {
  readonly kind: 'early' | 'double' | 'forgotten' | 'wrong' | 'resurrected'
  readonly atMs: number
  readonly stream: string
  readonly event: string
  readonly why: string
}

export interface CheckRules {
  readonly dogs: readonly DogSettings[]
  /** The maximum difference of two clocks that measure the time of the store, ms. */
  readonly skewMs: number
  /** The extra time of a due event, ms: when the clock was set, workers get time for a heartbeat. */
  readonly graceMs: number
  /** The action for events that specify none. */
  readonly onDue: string
  readonly endMs: number
  /** The store's clock at a true time. */
  storeMs(trueMs: number): number
}

/**
 * Judges the actions of watchdogs by the writes, independently of their implementation: no event with a heartbeat within
 * its timeout was ended, none twice, and no due event lasted longer than allowed. Time only goes forward: one walk.
 */
export function check(happenings: readonly Happening[], rules: CheckRules): Violation[] {
  const checker = new Checker(happenings, rules)
  for (const happening of happenings) checker.see(happening)
  return checker.end()
}

/** A time this little ahead of the clock is accepted. */
const TOLERATED_MS = 5 * 60_000

class Checker {
  readonly #rules: CheckRules
  readonly #allowance: Allowance
  readonly #times: WatchTimes
  readonly #streams = new Map<string, StreamModel>()
  readonly #silent = new Set<string>()
  /** Expiries in journals and in reports, by stream, event and attempt, and by stream and command id. */
  readonly #written = new Map<string, number>()
  readonly #reported = new Map<string, number>()
  readonly #violations: Violation[] = []
  /** An event that was not ended in time is reported once for each of its deadlines. */
  readonly #told = new Set<string>()

  constructor(happenings: readonly Happening[], rules: CheckRules) {
    this.#rules = rules
    this.#times = new WatchTimes(rules.dogs)
    this.#allowance = new Allowance(happenings, rules.dogs, rules.skewMs + rules.graceMs, rules.endMs)
  }

  see(happening: Happening): void {
    this.#times.see(happening)
    if (happening.kind === 'silent') this.#silent.add(key(happening.stream, happening.event))
    if (happening.kind === 'carried') this.#report(happening)
    if (happening.kind !== 'wrote') return
    const model = this.#streams.get(happening.stream) ?? new StreamModel()
    this.#streams.set(happening.stream, model)
    this.#forgotten(happening.stream, model, happening.atMs)
    for (const entry of happening.entries) if (isExpiry(entry)) this.#expiry(happening, model, entry)
    this.#resurrected(happening, model)
    model.apply(happening)
  }

  end(): Violation[] {
    for (const [stream, model] of this.#streams) this.#forgotten(stream, model, this.#rules.endMs)
    return this.#violations
  }

  /** Events that lasted too long: none was ended before this time. */
  #forgotten(stream: string, model: StreamModel, atMs: number): void {
    for (const id of model.ids) {
      const limit = model.limitOf(id)
      if (limit === undefined || this.#actionOf(model, id) === 'notify') continue
      const trueMs = this.#trueMs(limit)
      if (trueMs >= atMs) continue
      const deadlineMs = this.#allowance.deadlineMs(
        trueMs,
        model.sinceMs(id),
        limit.kind === 'silence' ? limit : undefined,
      )
      const about = key(stream, id, String(trueMs))
      if (deadlineMs >= atMs || this.#told.has(about)) continue
      this.#told.add(about)
      const late = `${limit.kind} limit of ${iso(trueMs)}, to be ended by ${iso(deadlineMs)}, stood at ${iso(atMs)}`
      this.#violate('forgotten', { atMs: deadlineMs, stream }, id, late)
    }
  }

  /** An entry that a watchdog wrote: its target, and whether it was due. */
  #expiry(wrote: Wrote, model: StreamModel, entry: EntrySight): void {
    const event = entry.commandId.split(':')[1] ?? ''
    const sight = model.find(event)
    if (sight === undefined) {
      this.#violate('wrong', wrote, event, 'there is no such event')
      return
    }
    const attempt = key(wrote.stream, event, sight.attempt || '1')
    const count = (this.#written.get(attempt) ?? 0) + 1
    this.#written.set(attempt, count)
    this.#written.set(key(wrote.stream, entry.commandId), 1)
    if (count > 1) this.#violate('double', wrote, event, `attempt ${sight.attempt} was ended ${count} times`)
    else if (isEnded(sight)) this.#violate('double', wrote, event, `it was ${sight.status} already`)
    else this.#early(wrote, model, event)
    this.#hasty(wrote, event)
    this.#action(wrote, model, event, entry)
  }

  #early(wrote: Wrote, model: StreamModel, event: string): void {
    const limit = model.limitOf(event)
    if (limit === undefined) {
      this.#violate('early', wrote, event, 'no limit of it ran')
      return
    }
    const missingMs = this.#missingMs(limit, wrote.atMs) - this.#rules.skewMs
    if (missingMs > 0) this.#violate('early', wrote, event, `${limit.kind} limit had ${missingMs} ms to go`)
    if (missingMs > 0 || limit.kind !== 'silence' || this.#silent.has(key(wrote.stream, event))) return
    // A clock that was set cannot be distinguished from a worker without heartbeats, except by later heartbeats.
    const trueMs = limit.lifeMs + limit.timeoutMs - wrote.atMs - this.#rules.skewMs
    if (trueMs > 0)
      this.#violate('early', wrote, event, `its worker was alive and had ${trueMs} ms, only the clock was set`)
  }

  /** Two observations take a while: a watchdog with a recent start or gap cannot have had them. */
  #hasty(wrote: Wrote, event: string): void {
    const seenMs = this.#times.tooShortMs(wrote.who, wrote.sentMs)
    if (seenMs !== undefined) this.#violate('early', wrote, event, `${wrote.who} had watched for ${seenMs} ms only`)
  }

  #action(wrote: Wrote, model: StreamModel, event: string, { on }: EntrySight): void {
    const action = this.#actionOf(model, event)
    const target = action === 'abort-stream' ? model.rootId : event
    if (action === 'notify') this.#violate('wrong', wrote, event, 'it was only to be told')
    else if (on !== target) this.#violate('wrong', wrote, event, `${action} ended ${on}`)
  }

  #actionOf(model: StreamModel, event: string): string {
    const action = model.find(event)?.onDue || this.#rules.onDue
    return model.isRoot(event) && action === 'abort-event' ? 'abort-stream' : action
  }

  /** Only a retry reopens an ended event. */
  #resurrected(wrote: Wrote, model: StreamModel): void {
    for (const sight of wrote.events) {
      const before = model.find(sight.id)
      if (before === undefined || !isEnded(before)) continue
      if (isEnded(sight) && sight.timestamp === before.timestamp) continue
      if (sight.attempt !== before.attempt && wrote.entries.some(({ op }) => op === 'retry')) continue
      this.#violate('resurrected', wrote, sight.id, `it was ${before.status} and changed to ${sight.status}`)
    }
  }

  #report({ atMs, stream, event, commandId, outcome }: Extract<Happening, { kind: 'carried' }>): void {
    if (outcome !== 'ended') return
    const id = key(stream, commandId)
    const count = (this.#reported.get(id) ?? 0) + 1
    this.#reported.set(id, count)
    if (count > 1) this.#violate('double', { atMs, stream }, event, 'two watchdogs say that they ended it')
    if (!this.#written.has(id))
      this.#violate('wrong', { atMs, stream }, event, 'it is said to be ended, and is not written')
  }

  /** The time of a deadline, by the store's clock. */
  /** The remaining time of a timeout: in true time, for one from a time ahead of a clock that was set back since. */
  #missingMs(limit: ModelLimit, atMs: number): number {
    const nowMs = this.#rules.storeMs(atMs)
    if (limit.kind === 'absolute') return limit.dueMs - nowMs
    const isSilence = limit.kind === 'silence'
    const fromMs = isSilence ? this.#rules.storeMs(limit.lifeMs) : limit.openedMs
    if (fromMs <= nowMs + TOLERATED_MS) return this.#dueMs(limit) - nowMs
    return (isSilence ? limit.lifeMs : limit.sinceMs) + limit.timeoutMs - atMs
  }

  #dueMs(limit: ModelLimit): number {
    return limit.kind === 'silence' ? this.#rules.storeMs(limit.lifeMs) + limit.timeoutMs : limit.dueMs
  }

  /** The same by true time: of several moments at which a clock that was set shows it, the last. */
  #trueMs(limit: ModelLimit): number {
    const dueMs = this.#dueMs(limit)
    return dueMs + Math.max(0, dueMs - this.#rules.storeMs(dueMs))
  }

  #violate(
    kind: Violation['kind'],
    { atMs, stream }: { atMs: number; stream: string },
    event: string,
    why: string,
  ): void {
    this.#violations.push({ kind, atMs, stream, event, why })
  }
}

export function isExpiry({ op, commandId }: EntrySight): boolean {
  return op === 'abort' && commandId.startsWith('watchdog:')
}

function key(...parts: readonly string[]): string {
  return parts.join('\n')
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
