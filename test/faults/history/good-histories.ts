import type { Random } from '../../simulation/random.ts'
import { type Asked, type Call, type Entry, isOpen, type Told } from './history.ts'
import type { FinalStream, Removal } from './lives.ts'

/** The reports to workers, and the final streams. */
export interface History {
  readonly calls: readonly Call[]
  readonly streams: ReadonlyMap<string, FinalStream>
}

const WORKERS = 4
const CALLS_EACH = 14
/** This one stays; the other one is removed and created again. */
const STREAMS = ['stays', 'comes-and-goes'] as const

interface Stream {
  readonly born: string
  readonly journal: Entry[]
}

interface Open {
  readonly stream: string
  readonly id: string
  readonly born: string
}

/** The history of a correct store, over an unreliable network and with dying workers. */
export function goodHistory(random: Random): History {
  return new Model(random).live()
}

class Model {
  readonly #random: Random
  readonly #agenda: { readonly us: number; readonly go: () => void }[] = []
  readonly #calls: Call[] = []
  readonly #streams = new Map<string, Stream>()
  readonly #open: Open[] = []
  #nowUs = 0
  #names = 0

  constructor(random: Random) {
    this.#random = random
  }

  live(): History {
    for (let at = 0; at < WORKERS; at++) this.#later(() => this.#step(CALLS_EACH))
    this.#run()
    this.#settle()
    const streams = [...this.#streams].map(([name, { born, journal }]): [string, FinalStream] => {
      return [name, { born, journal, id: journal.at(-1)?.id ?? '' }]
    })
    return { calls: this.#calls, streams: new Map(streams) }
  }

  #step(left: number): void {
    if (left === 0) return
    const next = () => this.#later(() => this.#step(left - 1))
    const again = this.#random.chance(0.5) ? this.#open.pop() : undefined
    // Repeating the creation of a stream that was removed meanwhile would create it again.
    if (again !== undefined && again.id !== again.born) this.#change(again, next)
    else this.#begin(next)
  }

  #begin(next: () => void): void {
    const stream = this.#random.pick(STREAMS)
    const found = this.#streams.get(stream)
    const name = `change-${++this.#names}`
    if (found === undefined) this.#change({ stream, id: name, born: name }, next)
    else if (this.#random.chance(0.2)) this.#read(stream, next)
    else if (stream === 'comes-and-goes' && this.#random.chance(0.3)) this.#remove(stream, found, next)
    else this.#change({ stream, id: name, born: found.born }, next)
  }

  #change(open: Open, next: () => void): void {
    const { stream, id, born } = open
    const answer = this.#ask(stream, { what: 'change', id, born })
    const fate = this.#random.fraction()
    const isFirst = !this.#calls.slice(0, -1).some(({ asked }) => asked.what === 'change' && asked.id === id)
    if (fate < 0.1 && isFirst) this.#later(() => answer({ kind: 'not-made', why: 'refused' }), next)
    else if (fate < 0.8) {
      this.#later(() => {
        const told = this.#make(open)
        this.#later(() => answer(told), next)
      })
    } else this.#doubt(open, fate < 0.9 ? answer : () => {}, next)
  }

  /** Its answer is lost, or its worker dies; it may land anyway, and later. */
  #doubt(open: Open, answer: (told: Told) => void, next: () => void): void {
    if (this.#random.chance(0.6)) this.#later(() => this.#make(open))
    this.#later(() => {
      answer(this.#createAgain(open) ?? { kind: 'unknown' })
      this.#open.push(open)
    }, next)
  }

  /** A create without an answer that finds no stream is retried. */
  #createAgain(open: Open): Told | undefined {
    const { stream, id, born } = open
    if (id !== born || this.#streams.has(stream)) return undefined
    this.#streams.set(stream, { born, journal: [{ version: 1, id }] })
    return { kind: 'done', version: 1 }
  }

  /** Applied unless it was applied before or is impossible: its version; the outcome is reported a little later. */
  #make(open: Open): Told {
    const known = this.#versionOf(open)
    if (known !== undefined) return { kind: 'done', version: known }
    const { stream, id, born } = open
    const found = this.#streams.get(stream)
    if (id === born && found === undefined && !this.#hasLived(born)) {
      this.#streams.set(stream, { born, journal: [{ version: 1, id }] })
      return { kind: 'done', version: 1 }
    }
    if (found?.born !== born || id === born) return { kind: 'not-made', why: 'refused' }
    found.journal.push({ version: found.journal.length + 1, id })
    return { kind: 'done', version: found.journal.length }
  }

  #read(stream: string, next: () => void): void {
    const answer = this.#ask(stream, { what: 'read' })
    this.#later(() => {
      const found = this.#streams.get(stream)
      const last = found?.journal.at(-1)
      const told: Told | undefined = found && last && { kind: 'seen', born: found.born, ...last }
      this.#later(() => told && answer(told), next)
    })
  }

  #remove(stream: string, { born, journal }: Stream, next: () => void): void {
    const asked = { what: 'remove', born, journal: [...journal], etag: `${born}/${journal.length}` } as const
    const answer = this.#ask(stream, asked)
    const fate = this.#random.fraction()
    if (fate < 0.7) {
      this.#later(() => {
        const told = this.#takeAway(stream, asked)
        this.#later(() => answer(told), next)
      })
    } else {
      if (this.#random.chance(0.6)) this.#later(() => this.#takeAway(stream, asked))
      this.#later(fate < 0.9 ? () => answer({ kind: 'unknown' }) : () => {}, next)
    }
  }

  /** Applied if the stream is as it was read. */
  #takeAway(stream: string, { born, journal }: Removal['asked']): Told {
    const found = this.#streams.get(stream)
    if (found === undefined) return { kind: 'not-made', why: 'missing' }
    if (found.born !== born || found.journal.length !== journal.length) return { kind: 'not-made', why: 'changed' }
    this.#streams.delete(stream)
    return { kind: 'done', version: journal.length }
  }

  /** Everything has healed: reports from now on are final. */
  #settle(): void {
    for (const call of this.#calls.filter(isOpen)) {
      const { stream, asked } = call
      if (asked.what === 'remove') this.#ask(stream, { ...asked, last: true })(this.#takeAway(stream, asked))
    }
    for (const { stream, id, born } of this.#unsettled())
      this.#ask(stream, { what: 'change', id, born, last: true })(this.#make({ stream, id, born }))
  }

  #unsettled(): Open[] {
    const open = new Map<string, Open>()
    for (const { stream, asked } of this.#calls.filter(isOpen)) {
      if (asked.what === 'change') open.set(asked.id, { stream, id: asked.id, born: asked.born })
    }
    return [...open.values()]
  }

  #versionOf({ stream, id, born }: Open): number | undefined {
    const found = this.#streams.get(stream)
    return found?.born === born ? found.journal.find(entry => entry.id === id)?.version : undefined
  }

  #hasLived(born: string): boolean {
    return this.#calls.some(({ asked }) => asked.what === 'remove' && asked.born === born)
  }

  #ask(stream: string, asked: Asked): (told: Told) => void {
    const at = this.#calls.length
    const call: Call = { stream, asked, fromUs: this.#nowUs }
    this.#calls.push(call)
    return told => (this.#calls[at] = { ...call, toUs: this.#nowUs, told })
  }

  #later(go: () => void, then: () => void = () => {}): void {
    const both = () => {
      go()
      then()
    }
    this.#agenda.push({ us: this.#nowUs + this.#random.whole(1, 100), go: both })
  }

  #run(): void {
    for (;;) {
      const [first, ...others] = this.#agenda
      if (first === undefined) return
      const next = others.reduce((soonest, each) => (each.us < soonest.us ? each : soonest), first)
      this.#agenda.splice(this.#agenda.indexOf(next), 1)
      this.#nowUs = next.us
      next.go()
    }
  }
}
