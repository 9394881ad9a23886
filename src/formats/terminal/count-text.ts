/** A count for people, its thousands apart: `12 431`. */
export function countText(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ' ')
}

/** A count that was not taken to its end, rounded down to two digits: `more than 85 000`. */
export function moreThanText(atLeast: number): string {
  const below = Math.max(0, atLeast - 1)
  const unit = 10 ** Math.max(0, String(below).length - 2)
  return `more than ${countText(below < 1_000 ? below : Math.floor(below / unit) * unit)}`
}

/** How many there are, with the word for them: `1 stream`, `12 431 streams`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`
}
