import type { StreamView } from '../../../src/ops/read-stream.ts'

/** The reports that writers got for their changes. */
export interface Told {
  /** `''` for a change that leaves no entry. */
  readonly commandId: string
  readonly kind: string
  /** It took an event that another held. */
  readonly tookAnothers?: boolean
}

export interface Verdict {
  /** Changes reported as done that do not exist once, and existing ones reported as not done. */
  readonly lost: readonly string[]
  readonly early: readonly string[]
  /** Times that go back, or that no true clock has shown. */
  readonly untimely: readonly string[]
  readonly changes: number
}

/**
 * Compares the reports with the journal of the stream.
 *
 * @param truth the range of all times, epoch ms; absent if there is no true clock
 */
export function judge(
  view: StreamView,
  told: readonly Told[],
  truth: { readonly fromMs: number; readonly toMs: number } | undefined,
): Verdict {
  const transactions = view.transactions()
  const countOf = (id: string) => transactions.filter(({ commandId }) => commandId === id).length
  const times = transactions.map(({ at }) => at)
  const stamps = view.document.events.flatMap(({ created, timestamp }) => [created, timestamp])
  const isFalse = (at: string) => truth !== undefined && (Date.parse(at) < truth.fromMs || Date.parse(at) > truth.toMs)
  return {
    changes: transactions.length,
    lost: told.flatMap(({ commandId, kind }) => {
      const count = commandId === '' ? 0 : countOf(commandId)
      const expected = kind === 'done' && commandId !== '' ? 1 : 0
      return count === expected ? [] : [`a change was told to be ${kind} and is there ${count} times`]
    }),
    early: told.flatMap(({ tookAnothers, commandId }) =>
      tookAnothers ? [`${commandId} took an event that was held`] : [],
    ),
    untimely: [
      ...times.flatMap((at, n) => (at >= (times[n - 1] ?? '') ? [] : [`after ${times[n - 1]} came ${at}`])),
      ...stamps.flatMap(at => (at <= view.document.at ? [] : [`${at} is after the last write, ${view.document.at}`])),
      ...[...times, ...stamps].filter(isFalse).map(at => `${at} is of no true clock`),
    ],
  }
}
