/** What is known of the names that are still to be listed. */
export interface Stretch {
  /** The last name that was listed: all others are behind it. */
  readonly last: string
  /** They are before this one, if it is given. */
  readonly to: string | undefined
  /** They all begin with this. */
  readonly prefix: string
}

/** The first name there is at or behind the given one. */
export type FirstName = (from: string) => Promise<string | undefined>

const MAX_PROBES = 16
const MAX_CUTS = 9
/** As many as there may be readers that wait for a part. */
const ENOUGH = 3

/**
 * Looks for names at which a stretch of a listing may be cut into parts of about the same size, in ascending order. All
 * names that are left differ from the last one from some place on; the first such place parts them best: into those that
 * have one character there, those that have another, and so on. It is found by asking for the first name behind all that
 * have a beginning in common with the last, longer and shorter ones; the characters, by asking on from there. At most
 * sixteen questions. What is found need only be good, not right: cut anywhere, the parts together are the stretch.
 */
export function findCuts(first: FirstName, stretch: Stretch): Promise<string[]> {
  return new CutSearch(first, stretch).run()
}

class CutSearch {
  readonly #first: FirstName
  readonly #last: string
  readonly #prefix: string
  /** The search goes on before this. */
  #to: string | undefined
  #cuts: string[] = []
  #probes = 0

  constructor(first: FirstName, { last, to, prefix }: Stretch) {
    this.#first = first
    this.#last = last
    this.#to = to
    this.#prefix = prefix
  }

  async run(): Promise<string[]> {
    for (let from = this.#prefix.length; this.#cuts.length < ENOUGH; ) {
      const branch = await this.#firstBranch(from)
      if (branch === undefined) break
      from = commonLength(branch, this.#last) + 1
      await this.#addCuts(branch, from)
    }
    return this.#cuts
  }

  /** A name that differs from the last one as early as any behind it, but not before this place. */
  async #firstBranch(from: number): Promise<string | undefined> {
    let branch: string | undefined
    let low = from
    for (let high = this.#last.length - 1; low <= high; ) {
      const at = (low + high) >> 1
      const name = await this.#probe(this.#last, at)
      if (name === undefined) low = at + 1
      else {
        branch = name
        high = commonLength(name, this.#last) - 1
      }
    }
    return branch
  }

  /** Cuts before this name and those behind it, each of a length. */
  async #addCuts(branch: string, length: number): Promise<void> {
    const cuts: string[] = []
    for (let name: string | undefined = branch; name !== undefined; ) {
      const cut = name.slice(0, length)
      if (isSafe(cut)) cuts.push(cut)
      name = this.#cuts.length + cuts.length < MAX_CUTS ? await this.#probe(name, length - 1) : undefined
    }
    this.#cuts = [...cuts, ...this.#cuts]
    this.#to = this.#cuts[0] ?? this.#to
  }

  /** The first name behind all that are the same as this one up to and with the character at this place. */
  async #probe(name: string, at: number): Promise<string | undefined> {
    const from = behind(name, at)
    if (from === undefined || !this.#isBefore(from) || this.#probes >= MAX_PROBES) return undefined
    this.#probes += 1
    const found = await this.#first(from)
    return found !== undefined && found >= from && this.#isBefore(found) ? found : undefined
  }

  #isBefore(name: string): boolean {
    return this.#to === undefined || name < this.#to
  }
}

/** What is behind all names that are the same up to and with the character at this place. */
function behind(name: string, at: number): string | undefined {
  const next = name.charCodeAt(at) + 1
  // The service refuses control characters.
  const from = name.slice(0, at) + String.fromCharCode(next >= 0x7f && next < 0xa0 ? 0xa0 : next)
  return isSafe(from) ? from : undefined
}

/** Below the surrogates the order of code units is that of UTF-8 bytes: names are on the same side of it in either. */
function isSafe(name: string): boolean {
  return !/[\ud800-\uffff]/.test(name)
}

function commonLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}
