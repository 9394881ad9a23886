/** One measured figure against its limit. */
export interface Row {
  /** What was measured, and against what: `leasectl --help / node -e ""`. */
  readonly figure: string
  /** The ratio to the reference of the same run; both were measured in turns. */
  readonly ratio: number
  /** Without one it is only told. */
  readonly limit?: number
  /** Whether `limit` is an upper bound, the default, or a lower one. */
  readonly bound?: 'at most' | 'at least'
  /** Absolute numbers, for the reader only. */
  readonly note?: string
}

/** What a `bench/NAME.bench.ts` exports. */
export interface Bench {
  readonly name: string
  run(): Promise<readonly Row[]>
}

/** Whether the measured ratio keeps its limit, if it has one. */
export function isWithin({ ratio, limit, bound = 'at most' }: Row): boolean {
  if (limit === undefined) return true
  return bound === 'at most' ? ratio <= limit : ratio >= limit
}
