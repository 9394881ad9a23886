/** `ci`: minutes, part of `npm test`. `nightly`: hours, by `npm run trust`. */
export type Size = 'ci' | 'nightly'

export const SIZE: Size = process.env.LEASECTL_TRUST_SIZE === 'nightly' ? 'nightly' : 'ci'

/** The value for the size of this run. */
export function sized<T>(ci: T, nightly: T): T {
  return SIZE === 'nightly' ? nightly : ci
}

/** The seed from `LEASECTL_TRUST_SEED`, to repeat a failure, otherwise the test's own: the same in each run. */
export function trustSeed(own: number): number {
  return Number(process.env.LEASECTL_TRUST_SEED ?? own)
}

/** The line that repeats a failure, for its message. */
export function repeatWith(file: string, seed: number, test = ''): string {
  const only = test === '' ? '' : ` -t '${test}'`
  return `repeat: LEASECTL_TRUST_SEED=${seed} LEASECTL_TRUST_SIZE=${SIZE} npx vitest run ${file}${only}`
}
