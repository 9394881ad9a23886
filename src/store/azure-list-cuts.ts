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

const MAX_PROBES = 12
const MAX_CUTS = 9
/** As many as there are readers waiting for a part. */
const ENOUGH = 3

/**
 * Looks for names at which a stretch of a listing may be cut into parts of about the same size, in ascending order: other
 * folders than that of the last name first, then the characters that names in its folder go on with. It asks for the first
 * name behind the one, behind the next, and so on, at most twelve times. What it finds need only be good, not right: cut
 * anywhere, the parts together are the stretch.
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
    const folder = this.#last.slice(0, this.#last.lastIndexOf('/') + 1)
    const begin = Math.max(folder.length, this.#prefix.length)
    if (folder.length > this.#prefix.length) await this.#among(folder, folder.length - 1)
    for (let at = begin; at < this.#last.length && this.#mayGoOn(); at += 1) await this.#among(this.#last, at)
    return this.#cuts
  }

  /** Cuts before names that are behind all names with this beginning, up to and with the character at this place. */
  async #among(name: string, at: number): Promise<void> {
    const found: string[] = []
    let next = await this.#probe(name, at)
    const level = next === undefined ? 0 : commonLength(next, this.#last)
    while (next !== undefined) {
      const cut = next.slice(0, level + 1)
      if (isSafe(cut)) found.push(cut)
      next = this.#cuts.length + found.length < MAX_CUTS ? await this.#probe(next, level) : undefined
    }
    this.#cuts = [...found, ...this.#cuts]
    this.#to = this.#cuts[0] ?? this.#to
  }

  async #probe(name: string, at: number): Promise<string | undefined> {
    const from = behind(name, at)
    if (from === undefined || !this.#isBefore(from) || this.#probes >= MAX_PROBES) return undefined
    this.#probes += 1
    const found = await this.#first(from)
    return found !== undefined && found >= from && this.#isBefore(found) ? found : undefined
  }

  #mayGoOn(): boolean {
    return this.#cuts.length < ENOUGH && this.#probes < MAX_PROBES
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
