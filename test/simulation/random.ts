/** Randomness from a seed: the same draws in every run. Each actor has its own, so that no draw affects another actor. */
export class Random {
  readonly #seed: string
  readonly #next: () => number

  constructor(seed: string) {
    this.#seed = seed
    this.#next = sfc32(...hashOf(seed))
  }

  /** A separate source for a part of the simulation. */
  for(name: string): Random {
    return new Random(`${this.#seed}/${name}`)
  }

  /** In [0, 1). */
  readonly fraction = (): number => this.#next()

  between(least: number, most: number): number {
    return least + this.#next() * (most - least)
  }

  /** A whole number, both ends included. */
  whole(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1))
  }

  /** Between two positive numbers, with equal probability for each doubling. */
  spread(least: number, most: number): number {
    return Math.exp(this.between(Math.log(least), Math.log(most)))
  }

  chance(probability: number): boolean {
    return this.#next() < probability
  }

  pick<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[Math.floor(this.#next() * items.length)] ?? items[0]
  }
}

/** Four numbers of 32 bits from a text (cyrb128). */
function hashOf(text: string): [number, number, number, number] {
  let [a, b, c, d] = [1779033703, 3144134277, 1013904242, 2773480762]
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    a = b ^ Math.imul(a ^ unit, 597399067)
    b = c ^ Math.imul(b ^ unit, 2869860233)
    c = d ^ Math.imul(c ^ unit, 951274213)
    d = a ^ Math.imul(d ^ unit, 2716044179)
  }
  return [a >>> 0, b >>> 0, c >>> 0, d >>> 0]
}

/** Small Fast Counter, 32 bits (Chris Doty-Humphrey, PractRand). */
function sfc32(first: number, second: number, third: number, counter: number): () => number {
  let [a, b, c, d] = [first | 0, second | 0, third | 0, counter | 0]
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 4294967296
  }
  for (let at = 0; at < 12; at++) next()
  return next
}
