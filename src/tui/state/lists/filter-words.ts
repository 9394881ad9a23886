/** The words of a filter: all have to be found, `!word` must not be. Upper and lower case are the same. */
export interface FilterWords {
  /** Everything passes. */
  readonly isEmpty: boolean
  /** @param text as `searchable` makes it */
  accepts(text: string): boolean
}

export function filterWords(filter: string): FilterWords {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  const unwanted = words.filter(word => word.startsWith('!') && word.length > 1).map(word => word.slice(1))
  const wanted = words.filter(word => !word.startsWith('!'))
  return {
    isEmpty: wanted.length + unwanted.length === 0,
    accepts: text => wanted.every(word => text.includes(word)) && !unwanted.some(word => text.includes(word)),
  }
}

/** The texts of one thing, to be searched: no word reaches from one into the next. */
export function searchable(texts: readonly string[]): string {
  return texts.join('\n').toLowerCase()
}

/** What is searched of each thing, made once as long as the thing is the same. */
export class SearchTexts<Of extends object> {
  readonly #texts = new WeakMap<Of, string>()
  readonly #textsOf: (of: Of) => readonly string[]

  constructor(textsOf: (of: Of) => readonly string[]) {
    this.#textsOf = textsOf
  }

  get(of: Of): string {
    const known = this.#texts.get(of)
    if (known !== undefined) return known
    const text = searchable(this.#textsOf(of))
    this.#texts.set(of, text)
    return text
  }
}
