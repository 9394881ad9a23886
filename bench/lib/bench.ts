/** One measured figure against its limit. */
export interface Row {
  /** Subject and reference: `leasectl --help / node -e ""`. */
  readonly figure: string
  /** The ratio to the reference of the same run, measured in turns. */
  readonly ratio: number
  /** Without a limit the figure is only reported. */
  readonly limit?: number
  /** Whether `limit` is an upper bound, the default, or a lower one. */
  readonly bound?: 'at most' | 'at least'
  /** Absolute figures, for the reader only. */
  readonly note?: string
}

/** Export of a `bench/NAME.bench.ts`. */
export interface Bench {
  readonly name: string
  run(): Promise<readonly Row[]>
}

/** Whether the measured ratio is within its limit, if it has one. */
export function isWithin({ ratio, limit, bound = 'at most' }: Row): boolean {
  if (limit === undefined) return true
  return bound === 'at most' ? ratio <= limit : ratio >= limit
}
