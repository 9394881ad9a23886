import type { Asked, Call, Entry, Told } from './history.ts'

/** Later than anything, µs. */
export const NEVER_US = Number.POSITIVE_INFINITY

/** The final state of a stream. */
export interface FinalStream {
  readonly born: string
  readonly journal: readonly Entry[]
  /** The last change, by the stream's root. */
  readonly id: string
}

/** One command with all its attempts. */
export interface Command {
  /** The time of the first request, µs. */
  fromUs: number
  readonly tries: Call[]
}

/** The time at which the existence of a version was reported. */
export interface Sight {
  /** A request at this time must return at least what was known by then, µs; `NEVER_US` if it need not. */
  readonly fromUs: number
  readonly toUs: number
  readonly version: number
  /** The last change of this version, if that was reported. */
  readonly id?: string
}

export type Removal = Call & { readonly asked: Asked & { readonly what: 'remove' } }

/** A stream from its creation to its removal: everything known about it. */
export interface Life {
  readonly name: string
  readonly born: string
  /** `undefined`: it was never read. */
  journal: readonly Entry[] | undefined
  readonly commands: Map<string, Command>
  readonly sights: Sight[]
  /** It is the final stream. */
  isThere: boolean
  /** The removal that is known to have been applied, µs. */
  removedUs: number | undefined
  readonly removals: Removal[]
}

/** Sorts calls and final streams by their incarnations. One walk over the calls. */
export function livesOf(calls: readonly Call[], streams: ReadonlyMap<string, FinalStream>): Life[] {
  const lives = new Lives()
  for (const [stream, { born, journal, id }] of streams) {
    const life = lives.of(stream, born)
    Object.assign(life, { journal, isThere: true })
    const version = journal.at(-1)?.version ?? 0
    life.sights.push({ fromUs: NEVER_US, toUs: NEVER_US, version, id })
  }
  for (const call of calls) lives.add(call)
  return lives.all
}

class Lives {
  readonly #lives = new Map<string, Life>()

  get all(): Life[] {
    return [...this.#lives.values()]
  }

  of(stream: string, born: string): Life {
    const name = `${stream}@${born}`
    const known = this.#lives.get(name)
    if (known !== undefined) return known
    const empty = { commands: new Map<string, Command>(), sights: [], removals: [] }
    const life: Life = { name, born, journal: undefined, ...empty, isThere: false, removedUs: undefined }
    this.#lives.set(name, life)
    return life
  }

  add(call: Call): void {
    const { asked, stream, fromUs, toUs, told } = call
    if (asked.what === 'change') this.#change(this.of(stream, asked.born), asked.id, call)
    else if (asked.what === 'remove') this.#removal(this.of(stream, asked.born), { ...call, asked })
    else if (told?.kind === 'seen' && toUs !== undefined)
      this.of(stream, told.born).sights.push({ fromUs, toUs, version: told.version, id: told.id })
  }

  #change({ commands, sights }: Life, id: string, call: Call): void {
    const { fromUs, toUs, told } = call
    const command = commands.get(id) ?? { fromUs, tries: [] }
    commands.set(id, command)
    command.fromUs = Math.min(command.fromUs, fromUs)
    command.tries.push(call)
    // A repeated command returns the version of its first attempt: that may be long ago.
    if (told?.kind === 'done' && toUs !== undefined) sights.push({ fromUs: NEVER_US, toUs, version: told.version })
  }

  #removal(life: Life, removal: Removal): void {
    const { asked, fromUs, toUs, told } = removal
    const { journal } = asked
    life.removals.push(removal)
    const version = journal.at(-1)?.version ?? 0
    life.sights.push({ fromUs: NEVER_US, toUs: fromUs, version })
    if (told?.kind === 'done') life.removedUs = Math.min(life.removedUs ?? NEVER_US, toUs ?? fromUs)
    // A removal names an ETag: of several attempts at most the last one was applied.
    const isLater = version >= (life.journal?.at(-1)?.version ?? 0)
    if (!life.isThere && mayBeMade(told) && isLater) life.journal = journal
  }
}

/**
 * Whether it was removed while its creation was in flight. A create without an answer that finds no stream is retried:
 * then the incarnation may have begun again, without its earlier changes.
 */
export function mayBeginAnew({ born, commands, removals }: Life): boolean {
  const tries = (commands.get(born)?.tries ?? []).filter(({ asked }) => asked.what === 'change' && asked.last !== true)
  const untilUs = Math.max(...tries.map(({ toUs = NEVER_US }) => toUs))
  return removals.some(({ fromUs, told }) => fromUs < untilUs && mayBeMade(told))
}

/** A copy of the removal made by the network finds no stream, or another one. */
function mayBeMade(told: Told | undefined): boolean {
  return told === undefined || told.kind !== 'not-made' || told.why === 'missing' || told.why === 'replaced'
}
