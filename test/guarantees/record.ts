import { appendFileSync } from 'node:fs'
import type { FigureOf, RowId } from './rows.ts'
import { SIZE, type Size } from './size.ts'

/** A test's report on a row, one line of JSON each in the file that `LEASECTL_TRUST_LOG` names. */
export type Line = { readonly row: RowId; readonly size: Size } & (
  | { readonly kind: 'figure'; readonly name: string; readonly value: number | string; readonly limit?: string }
  /** Whether the test failed, as it must, without a protection. */
  | { readonly kind: 'control'; readonly name: string; readonly failed: boolean }
  /** The number of faults of a kind that reached the code under test. */
  | { readonly kind: 'injected'; readonly name: string; readonly count: number }
  /** An untested part, and the reason. */
  | { readonly kind: 'skipped'; readonly name: string; readonly why: string }
)

type Said = Line extends infer L ? (L extends Line ? Omit<L, 'row' | 'size'> : never) : never

/** Reports on one row. Without `npm run trust` it has no effect; the test itself asserts the reported facts. */
export function trustRow<Id extends RowId>(row: Id) {
  const say = (line: Said) => {
    const log = process.env.LEASECTL_TRUST_LOG
    if (log !== undefined) appendFileSync(log, `${JSON.stringify({ row, size: SIZE, ...line })}\n`)
  }
  return {
    /** @param limit the required value, as text: `0`, `at most 400`, `at least 20 000`; other numbers miss the promise */
    figure: (name: FigureOf<Id>, value: number | string, limit?: string) =>
      say({ kind: 'figure', name, value, ...(limit === undefined ? {} : { limit }) }),
    /** @param failed whether the test failed without the protection: `true`, or the promise is not tested */
    control: (name: string, failed: boolean) => say({ kind: 'control', name, failed }),
    injected: (name: string, count: number) => say({ kind: 'injected', name, count }),
    skipped: (name: string, why: string) => say({ kind: 'skipped', name, why }),
  }
}
