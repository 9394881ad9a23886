import type { JournalEntry } from '../../../../src/ops/read-stream.ts'
import { parsePosition, positionText, startPositionDocument } from '../../../../src/subscriptions/position/document.ts'
import { type FoundStream, ShardPosition, type StreamInHand } from '../../../../src/subscriptions/position/position.ts'

/** What happens to a store, a subscription and the process that runs it. */
export type Step =
  | { readonly kind: 'time'; readonly ms: number }
  /** `writtenAgoMs`: the writer stamped it so long before it became visible. */
  | { readonly kind: 'transaction'; readonly stream: number; readonly writtenAgoMs: number }
  | { readonly kind: 'heartbeat'; readonly stream: number }
  | { readonly kind: 'remove'; readonly stream: number }
  | { readonly kind: 'sweep' }
  /** The sweep lists so many streams. */
  | { readonly kind: 'list'; readonly streams: number }
  /** The sweep fails in the middle; the next one begins anew. */
  | { readonly kind: 'break' }
  /** The process looks at all streams again. */
  | { readonly kind: 'restart' }
  /** Reads one stream in hand and delivers up to so many transactions of it; `halts`: the next one fails then. */
  | { readonly kind: 'deliver'; readonly pick: number; readonly most: number; readonly halts: boolean }
  /** A stream moves between being read and its end. */
  | { readonly kind: 'race'; readonly pick: number }
  | { readonly kind: 'resume'; readonly pick: number }
  | { readonly kind: 'write' }
  | { readonly kind: 'kill' }

interface Life {
  readonly born: string
  readonly transactions: JournalEntry[]
  modifiedMs: number
}

const NAMES = ['a', 'b', 'b/1', 'c', 'z', 'ä']
const START = Date.UTC(2026, 0)

/** One shard, one process after the other, and everything that was delivered. */
export class PositionWorld {
  readonly violations: string[] = []
  readonly #streams = new Map<string, Life>()
  /** Highest version delivered of each life. */
  readonly #delivered = new Map<string, number>()
  /** Delivered since the last write, and what may be repeated because the process died then. */
  #unwritten: string[] = []
  readonly #repeatable: string[] = []
  #nowMs = START
  #lives = 0
  #text: string
  #position: ShardPosition
  #ready: StreamInHand[] = []
  /** What the poller remembers: cleared when it begins anew. */
  #polled = new Map<
    string,
    { readonly born: string; readonly version: number; readonly seenMs: number; etag: string }
  >()
  #listing: string[] | undefined

  constructor(fromMs: number) {
    this.#text = positionText(startPositionDocument(fromMs, START, 'test'))
    this.#position = new ShardPosition(parsePosition('position', this.#text), START)
  }

  step(step: Step): void {
    switch (step.kind) {
      case 'time':
        this.#nowMs += step.ms
        break
      case 'transaction':
        this.#write(nameOf(step.stream), step.writtenAgoMs)
        break
      case 'heartbeat':
        this.#touch(nameOf(step.stream))
        break
      case 'remove':
        this.#remove(nameOf(step.stream))
        break
      case 'sweep':
        this.#sweep()
        break
      case 'list':
        this.#list(step.streams)
        break
      case 'break':
        this.#listing = undefined
        break
      case 'restart':
        this.#polled.clear()
        this.#listing = undefined
        break
      case 'deliver':
        this.#deliver(step.pick, step.most, step.halts)
        break
      case 'race':
        this.#race(step.pick)
        break
      case 'resume':
        this.#resume(step.pick)
        break
      case 'write':
        this.#persist()
        break
      case 'kill':
        this.#kill()
        break
      default:
        step satisfies never
    }
  }

  /** Everything comes to rest: all streams are swept, delivered and written. */
  settle(): void {
    for (let round = 0; round < 3; round++) {
      this.#resumeAll()
      while (this.#ready.length > 0) this.#deliver(0, Number.POSITIVE_INFINITY, false)
      this.#listing = undefined
      this.#sweep()
      this.#list(Number.POSITIVE_INFINITY)
    }
    this.#persist()
    for (const [name, { born, transactions }] of this.#streams) {
      const last = transactions.at(-1)?.version ?? 0
      const delivered = this.#delivered.get(born) ?? 0
      if (delivered < last) this.violations.push(`${name} ${born}: delivered up to ${delivered} of ${last}`)
    }
  }

  /** How far the written watermark lies behind the clock, ms. */
  get watermarkAgeMs(): number {
    return this.#nowMs - this.#position.watermarkMs
  }

  #write(name: string, writtenAgoMs: number): void {
    const life = this.#streams.get(name) ?? { born: `life-${++this.#lives}`, transactions: [], modifiedMs: 0 }
    // Times in a journal do not go back.
    const lastMs = Date.parse(life.transactions.at(-1)?.at ?? '') || 0
    const at = new Date(Math.max(lastMs, this.#nowMs - writtenAgoMs)).toISOString()
    const version = life.transactions.length + 1
    life.transactions.push(entry(version, at))
    life.modifiedMs = this.#nowMs
    this.#streams.set(name, life)
  }

  #touch(name: string): void {
    const life = this.#streams.get(name)
    if (life !== undefined) life.modifiedMs = this.#nowMs
  }

  #remove(name: string): void {
    this.#streams.delete(name)
  }

  #sweep(): void {
    if (this.#listing !== undefined) return
    this.#position.beginSweep(this.#nowMs)
    this.#listing = [...NAMES]
  }

  #list(count: number): void {
    if (this.#listing === undefined) return
    for (let left = count; left > 0 && this.#listing.length > 0; left--) {
      const name = this.#listing.shift() ?? ''
      this.#find(name)
      this.#position.passed(name)
    }
    if (this.#listing.length > 0) return
    this.#position.endSweep()
    this.#listing = undefined
  }

  /** As the poller: a stream that has not moved since the last poll is not handed over. */
  #find(name: string): void {
    const life = this.#streams.get(name)
    const polled = this.#polled.get(name)
    if (life === undefined) {
      if (polled !== undefined) this.#position.forget(name)
      this.#polled.delete(name)
      return
    }
    const { born, transactions, modifiedMs } = life
    const version = transactions.length
    const etag = `${born} ${version} ${modifiedMs}`
    if (polled?.etag === etag) return
    this.#polled.set(name, { born, version, seenMs: modifiedMs, etag })
    const found: FoundStream = { name, modifiedMs, state: { born, version }, ...(polled && { before: polled }) }
    if (!this.#position.found(found)) return
    const inHand = this.#position.inHand.get(name)
    if (inHand !== undefined) this.#ready.push(inHand)
  }

  #pick(at: number): StreamInHand | undefined {
    this.#ready = this.#ready.filter(stream => this.#position.isInHand(stream))
    return this.#ready[at % Math.max(1, this.#ready.length)]
  }

  #deliver(pick: number, most: number, halts: boolean): void {
    const stream = this.#pick(pick)
    if (stream === undefined) return
    stream.isStale = false
    const life = this.#streams.get(stream.name)
    if (life === undefined) {
      this.#position.forget(stream.name)
      return
    }
    const { transactions } = this.#position.read(stream, { ...life, transactions: [...life.transactions] })
    for (const [index, { version }] of transactions.entries()) {
      if (index < most) {
        this.#record(stream.name, life.born, version)
        this.#position.handled(stream, version)
      } else if (halts) {
        const halt = {
          state: 'waiting',
          tries: 1,
          attempts: 1,
          nextMs: 0,
          why: 'it failed',
          sinceMs: this.#nowMs,
        } as const
        this.#position.halt(stream, halt)
        return
      } else return
    }
    this.#position.finish(stream)
  }

  /** Reads a stream, which moves and is found by a sweep before its transactions are delivered. */
  #race(pick: number): void {
    const stream = this.#pick(pick)
    const life = stream && this.#streams.get(stream.name)
    if (stream === undefined || life === undefined) return
    stream.isStale = false
    const { transactions } = this.#position.read(stream, { ...life, transactions: [...life.transactions] })
    this.#write(stream.name, 0)
    this.#find(stream.name)
    for (const { version } of transactions) {
      this.#record(stream.name, life.born, version)
      this.#position.handled(stream, version)
    }
    if (!stream.isStale) this.#position.finish(stream)
  }

  #resume(pick: number): void {
    const names = [...this.#position.halted.keys()].filter(name => !this.#position.inHand.has(name))
    const name = names[pick % Math.max(1, names.length)]
    if (name !== undefined) this.#ready.push(this.#position.resume(name))
  }

  #resumeAll(): void {
    while ([...this.#position.halted.keys()].some(name => !this.#position.inHand.has(name))) this.#resume(0)
  }

  #record(name: string, born: string, version: number): void {
    const id = `${born}@${version}`
    const last = this.#delivered.get(born) ?? 0
    if (version === last + 1) this.#delivered.set(born, version)
    else if (version > last) this.violations.push(`${name} ${id}: delivered before ${last + 1}`)
    else if (this.#repeatable.includes(id)) this.#repeatable.splice(this.#repeatable.indexOf(id), 1)
    else this.violations.push(`${name} ${id}: delivered again`)
    this.#unwritten.push(id)
  }

  #persist(): void {
    const status = { by: 'test', host: '', delivered: 0, lagMs: 0, rate: 0, atMs: this.#nowMs }
    this.#text = positionText(this.#position.document(status))
    this.#unwritten = []
  }

  /** The process dies; the next one reads what was written. */
  #kill(): void {
    this.#repeatable.push(...this.#unwritten)
    this.#unwritten = []
    this.#position = new ShardPosition(parsePosition('position', this.#text), this.#nowMs)
    this.#ready = [...this.#position.inHand.values()]
    this.#polled = new Map()
    this.#listing = undefined
  }
}

function nameOf(stream: number): string {
  return NAMES[stream % NAMES.length] ?? 'a'
}

function entry(version: number, at: string): JournalEntry {
  const fields = { by: 'test', op: 'signal', on: '', hash: '', why: '', other: false, changes: [], provisional: false }
  return { version, at, commandId: `${version}`, ...fields }
}
