import type { StreamStore } from '../store/store.ts'
import { LeasectlError } from '../stream/errors.ts'
import { visibleText } from '../util/visible-text.ts'
import { sameStore } from './contexts/contexts.ts'
import { errorProblem } from './error-problem.ts'
import type { GlobalOptions } from './options.ts'
import { openProgressLine } from './output/progress-line.ts'
import { CommandFailed, type Problem, UsageError } from './problem.ts'
import type { Runtime, RuntimeStore } from './runtime.ts'

/** The store of one of several contexts. */
export interface ContextStore {
  /** Name of the context. */
  readonly name: string
  readonly address: string
  open(): Promise<StreamStore>
}

export type ContextOutcome<Result> = Pick<ContextStore, 'name' | 'address'> &
  ({ readonly kind: 'done'; readonly result: Result } | { readonly kind: 'failed'; readonly problem: Problem })

/**
 * Reads the stores of several contexts side by side, so that a slow one delays no other. A store that fails has a
 * problem. Progress names those that have not answered.
 *
 * @throws UsageError as `describeEach`, before any store is asked; bugs; the reason of an interruption
 */
export async function readEachStore<Result>(
  contexts: readonly string[],
  options: GlobalOptions,
  runtime: Runtime,
  read: (store: ContextStore) => Promise<Result>,
): Promise<readonly ContextOutcome<Result>[]> {
  const places = await describeEach(contexts, runtime)
  const progress = openProgressLine(options, runtime)
  const waiting = new Set(contexts)
  const readOne = async (name: string, at: number): Promise<ContextOutcome<Result>> => {
    const place = places[at]
    const address = place?.address ?? ''
    const open = async () => (await runtime.openOther({ context: name })).store
    try {
      return { kind: 'done', name, address, result: await read({ name, address, open }) }
    } catch (error) {
      const isExpected = error instanceof LeasectlError || error instanceof CommandFailed
      if (runtime.signal.aborted || !isExpected) throw error
      return { kind: 'failed', name, address, problem: errorProblem(error, runtime, place) }
    } finally {
      waiting.delete(name)
      if (waiting.size > 0) await progress.show(`waiting for ${[...waiting].join(', ')}`)
    }
  }
  try {
    return await Promise.all(contexts.map(readOne))
  } finally {
    await progress.clear()
  }
}

/** The stores of several contexts, unopened. @throws UsageError for an unknown context, and for two of the same store */
export async function describeEach(
  contexts: readonly string[],
  runtime: Pick<Runtime, 'describeStore'>,
): Promise<readonly Omit<RuntimeStore, 'store'>[]> {
  const places = await Promise.all(contexts.map(context => runtime.describeStore({ context })))
  const same = sameStore(places)
  if (same === undefined) return places
  const names = same.map(({ context }) => context).join(' and ')
  throw new UsageError(`the contexts ${names} are the same store: ${visibleText(same[0].address)}`, {
    hint: 'Each stream would be there twice: name one of them.',
  })
}
