import type { Asked, Call, Entry, Told } from './history.ts'

/** Later than anything, µs. */
export const NEVER_US = Number.POSITIVE_INFINITY

/** A stream as it stands in the end. */
export interface FinalStream {
  readonly born: string
  readonly journal: readonly Entry[]
  /** The last change, by what the stream's root says. */
  readonly id: string
}

/** One command, each time it was asked for. */
export interface Command {
  /** When it was asked for first, µs. */
  fromUs: number
  readonly tries: Call[]
}

/** At some time somebody was told that a version is there. */
export interface Sight {
  /** What was asked for at this time has to be told of what was known by then, µs; `NEVER_US` where it need not. */
  readonly fromUs: number
  readonly toUs: number
  readonly version: number
  /** The last change of this version, where that was told. */
  readonly id?: string
}

export type Removal = Call & { readonly asked: Asked & { readonly what: 'remove' } }

/** A stream from its creation to its removal: all that is known of it. */
export interface Life {
  readonly name: string
  readonly born: string
  /** `undefined`: nobody has seen it. */
  journal: readonly Entry[] | undefined
  readonly commands: Map<string, Command>
  readonly sights: Sight[]
  /** It is the stream that is there in the end. */
  isThere: boolean
  /** The removal of which it is known that it was made, µs. */
  removedUs: number | undefined
  readonly removals: Removal[]
}

/** Sorts calls and final streams by the lives they are about. One walk over the calls. */
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
    // A repeated command is told the version it got at its first try: that may be long ago.
    if (told?.kind === 'done' && toUs !== undefined) sights.push({ fromUs: NEVER_US, toUs, version: told.version })
  }

  #removal(life: Life, removal: Removal): void {
    const { asked, fromUs, toUs, told } = removal
    const { journal } = asked
    life.removals.push(removal)
    const version = journal.at(-1)?.version ?? 0
    life.sights.push({ fromUs: NEVER_US, toUs: fromUs, version })
    if (told?.kind === 'done') life.removedUs = Math.min(life.removedUs ?? NEVER_US, toUs ?? fromUs)
    // A removal names an ETag: of several tries at most the last one was made.
    const isLater = version >= (life.journal?.at(-1)?.version ?? 0)
    if (!life.isThere && mayBeMade(told) && isLater) life.journal = journal
  }
}

/**
 * Whether it was removed while its creation was under way. A creation without an answer that finds nothing is sent again: then
 * the life may have begun anew, and nothing is left of what was made in it before.
 */
export function mayBeginAnew({ born, commands, removals }: Life): boolean {
  const tries = (commands.get(born)?.tries ?? []).filter(({ asked }) => asked.what === 'change' && asked.last !== true)
  const untilUs = Math.max(...tries.map(({ toUs = NEVER_US }) => toUs))
  return removals.some(({ fromUs, told }) => fromUs < untilUs && mayBeMade(told))
}

/** The copy of a removal that the network made finds nothing any more, or another stream. */
function mayBeMade(told: Told | undefined): boolean {
  return told === undefined || told.kind !== 'not-made' || told.why === 'missing' || told.why === 'replaced'
}
