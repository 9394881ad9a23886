/** `ci`: minutes, part of `npm test`. `nightly`: hours, by `npm run trust`. */
export type Size = 'ci' | 'nightly'

export const SIZE: Size = process.env.LEASECTL_TRUST_SIZE === 'nightly' ? 'nightly' : 'ci'

/** What belongs to the size of this run. */
export function sized<T>(ci: T, nightly: T): T {
  return SIZE === 'nightly' ? nightly : ci
}

/** The seed that `LEASECTL_TRUST_SEED` names, to repeat a failure, else the test's own: the same in each run. */
export function trustSeed(own: number): number {
  return Number(process.env.LEASECTL_TRUST_SEED ?? own)
}

/** The one line that repeats a failure; belongs into its message. */
export function repeatWith(file: string, seed: number, test = ''): string {
  const only = test === '' ? '' : ` -t '${test}'`
  return `repeat: LEASECTL_TRUST_SEED=${seed} LEASECTL_TRUST_SIZE=${SIZE} npx vitest run ${file}${only}`
}
