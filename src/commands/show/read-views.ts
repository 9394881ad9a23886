import { errorProblem } from '../../cli/error-problem.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { readStream, type StreamView } from '../../ops/read-stream.ts'
import type { EventStore } from '../../store/store.ts'
import { StreamFault } from '../../stream/errors.ts'

/** What became of the streams named. */
export interface ReadViews {
  readonly views: readonly StreamView[]
  /** Documents that cannot be read. */
  readonly unreadable: readonly Problem[]
}

/** Reads all streams named before anything is shown; a missing one is a problem. @throws the store's faults */
export async function readViews(
  names: readonly string[],
  store: EventStore,
  runtime: Runtime,
): Promise<ReadViews | Problem> {
  const views: StreamView[] = []
  const unreadable: Problem[] = []
  for (const name of names) {
    try {
      const view = await readStream(store, name, runtime.signal)
      if (view === undefined) return missingProblem(name)
      views.push(view)
    } catch (error) {
      if (!(error instanceof StreamFault)) throw error
      unreadable.push(errorProblem(error, runtime))
    }
  }
  return { views, unreadable }
}

/** The problem that unreadable documents are; with several each has been told before. `undefined` if there is none. */
export function unreadableProblem({ views, unreadable }: ReadViews): Problem | undefined {
  const [only, ...others] = unreadable
  if (only === undefined || others.length === 0) return only
  const all = views.length + unreadable.length
  const isStored = unreadable.every(({ code }) => code === 'bad-document')
  return problem('bad-document', `${unreadable.length} of ${all} streams cannot be read`, {
    ...(isStored ? { hint: 'show -o xml prints each as it is stored.' } : {}),
  })
}
