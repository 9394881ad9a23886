/**
 * A copy of the text in its own memory, for texts that are kept long: a name sliced from a listing's answer would keep
 * the whole answer, megabytes of it.
 */
export function ownText(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}

/** The candidate nearest to the word, if it is near enough to be meant. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(word.length * 0.4)) + 1
  for (const candidate of candidates) {
    const distance = candidate.startsWith(word) && word !== '' ? 1 : editDistance(word, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Insertions, deletions and replacements between two short words. */
function editDistance(a: string, b: string): number {
  if (a.length > 64 || b.length > 64) return Number.POSITIVE_INFINITY
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The words of a command about streams and events. Names that look like flags follow `--`. */
export function commandWords(
  verb: readonly string[],
  names: readonly string[],
  flags: readonly string[] = [],
): readonly string[] {
  return names.some(name => name.startsWith('-')) ? [...verb, ...flags, '--', ...names] : [...verb, ...names, ...flags]
}
