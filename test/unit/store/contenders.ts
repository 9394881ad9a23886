import { WriterFairness } from '../../../src/store/azure/change/fairness.ts'
import { conflictDelay, leaseRetryDelay } from '../../../src/store/backoff.ts'
import type { OthersLately, WriteMode } from '../../../src/store/store.ts'
import { Random } from '../../simulation/random.ts'
import { Actor, Scheduler } from '../../simulation/scheduler.ts'

/** A nearby service, ms: its time for a request, one after the other, and the transport each way. */
const SERVICE_MS = { acquire: 1, read: 1, put: 2, release: 1 }
const WAY_MS = 0.5
/** The time that the process needs for a change, ms. */
const OWN_MS = 1
/** After this number of conflicts the next write is made under the lease. */
const LOSSES = 2
const NAME = 's'

export interface Contest {
  readonly processes: number
  /** The changes of all processes together, in any distribution. */
  readonly changes: number
  readonly write: WriteMode
  readonly seed: string
}

export interface ContestEnd {
  /** Changes of each process. */
  readonly shares: readonly number[]
  readonly tookMs: number
}

/** Processes that change one stream at once until all is done, like the Azure driver, in virtual time. */
export async function contend(contest: Contest): Promise<ContestEnd> {
  const scheduler = new Scheduler(0)
  const stream = new Stream(contest.changes)
  const random = new Random(contest.seed)
  const contenders = Array.from(
    { length: contest.processes },
    (_, at) => new Contender(new Actor(scheduler, `process-${at}`, random), stream, contest.write),
  )
  for (const contender of contenders) contender.begin()
  await scheduler.run(60_000)
  if (stream.left > 0) throw new Error(`${stream.left} changes are left`)
  return { shares: contenders.map(({ made }) => made), tookMs: stream.endedMs }
}

/** The stream on the service, which answers one request after the other. */
class Stream {
  left: number
  holder: Contender | undefined
  etag = 0
  endedMs = 0
  freeMs = 0
  readonly writes: { readonly by: Contender; readonly atMs: number }[] = []

  constructor(left: number) {
    this.left = left
  }

  /** `undefined`: no change is left. */
  write(by: Contender, atMs: number): number | undefined {
    if (this.left === 0) return undefined
    this.left -= 1
    this.writes.push({ by, atMs })
    this.endedMs = atMs
    by.made += 1
    this.etag += 1
    return this.etag
  }

  othersLately(by: Contender): OthersLately {
    const [first, last] = [this.writes.at(0), this.writes.at(-1)]
    const others = new Set(this.writes.map(write => write.by))
    others.delete(by)
    const changes = this.writes.filter((write, at) => at > 0 && write.by !== this.writes[at - 1]?.by).length
    const tookMs = (last?.atMs ?? 0) - (first?.atMs ?? 0)
    return { count: others.size, turnMs: changes > 1 ? tookMs / changes : undefined }
  }
}

type Written = number | undefined

class Contender {
  made = 0
  readonly #actor: Actor
  readonly #stream: Stream
  readonly #write: WriteMode
  readonly #fairness: WriterFairness
  #releasing: Promise<void> | undefined
  #isHeld = false
  #waitedMs = 0

  constructor(actor: Actor, stream: Stream, write: WriteMode) {
    this.#actor = actor
    this.#stream = stream
    this.#write = write
    this.#fairness = new WriterFairness(() => actor.scheduler.nowMs, this.#random)
  }

  begin(): void {
    this.#actor.spawn(async () => {
      await this.#actor.pause(this.#random())
      while (this.#stream.left > 0) await this.#change()
    })
  }

  readonly #random = (): number => this.#actor.random.fraction()

  async #change(): Promise<void> {
    this.#waitedMs = 0
    const goesOn = this.#isHeld
    if (!goesOn) {
      const hadIt = this.#releasing !== undefined
      await this.#releasing
      await this.#actor.pause(this.#fairness.yieldDelayMs(NAME, hadIt))
    }
    this.#fairness.changeStarted(NAME)
    const etag = goesOn
      ? await this.#put()
      : this.#write === 'lease'
        ? await this.#underLease()
        : await this.#optimistically()
    if (etag !== undefined) this.#fairness.recordChange(NAME, String(etag), () => this.#stream.othersLately(this))
    if (this.#isHeld && !this.#fairness.isActive(NAME)) this.#release()
  }

  async #underLease(): Promise<Written> {
    while (!(await this.#call('acquire', () => this.#acquire()))) await this.#sleepForLease()
    this.#fairness.changeStarted(NAME)
    this.#isHeld = true
    this.#fairness.observeEtag(NAME, String(await this.#call('read', () => this.#stream.etag)))
    return this.#put()
  }

  async #optimistically(): Promise<Written> {
    let known = this.#fairness.isActive(NAME) ? this.#stream.etag : undefined
    for (let losses = 0; losses < LOSSES; ) {
      this.#fairness.changeStarted(NAME)
      const base = known ?? (await this.#call('read', () => this.#stream.etag))
      known = undefined
      this.#fairness.observeEtag(NAME, String(base))
      await this.#actor.pause(OWN_MS * this.#random())
      const answer = await this.#call('put', () => {
        if (this.#stream.holder !== undefined) return 'held'
        return base === this.#stream.etag ? { etag: this.#writeNow() } : 'lost'
      })
      if (typeof answer === 'object') return answer.etag
      this.#fairness.contentionSeen(NAME)
      if (answer === 'held') await this.#sleepForLease()
      else if (++losses < LOSSES) await this.#actor.pause(conflictDelay(this.#random))
    }
    return this.#underLease()
  }

  async #put(): Promise<Written> {
    await this.#actor.pause(OWN_MS * this.#random())
    return this.#call('put', () => this.#writeNow())
  }

  #writeNow(): Written {
    return this.#stream.write(this, this.#actor.scheduler.nowMs)
  }

  #acquire(): boolean {
    if (this.#stream.holder !== undefined) return false
    this.#stream.holder = this
    return true
  }

  #release(): void {
    this.#isHeld = false
    const free = () => {
      this.#stream.holder = undefined
    }
    this.#releasing = this.#call('release', free).then(() => {
      this.#releasing = undefined
    })
  }

  async #sleepForLease(): Promise<void> {
    this.#fairness.contentionSeen(NAME)
    const ms = leaseRetryDelay(this.#waitedMs, this.#random)
    await this.#actor.pause(ms)
    this.#waitedMs += ms
  }

  async #call<T>(operation: keyof typeof SERVICE_MS, answer: () => T): Promise<T> {
    const { scheduler } = this.#actor
    await this.#actor.pause(WAY_MS * (0.8 + 0.4 * this.#random()))
    const stream = this.#stream
    stream.freeMs = Math.max(stream.freeMs, scheduler.nowMs) + SERVICE_MS[operation] * (0.7 + 0.6 * this.#random())
    await this.#actor.pause(stream.freeMs - scheduler.nowMs)
    const value = answer()
    await this.#actor.pause(WAY_MS * (0.8 + 0.4 * this.#random()))
    return value
  }
}
