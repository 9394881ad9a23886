import { setImmediate as otherWork } from 'node:timers/promises'
import { errorProblem } from '../../cli/error-problem.ts'
import { missingProblem } from '../../cli/outcome-problem.ts'
import type { Problem } from '../../cli/problem.ts'
import { openProgressLine } from '../../cli/progress-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { tellProblem } from '../../cli/tell-problem.ts'
import type { Selection } from '../../ops/selection.ts'
import type { TriedStream } from '../../ops/stats/read.ts'
import type { StepTally } from '../../ops/stats/stats.ts'
import type { StatsOptions } from './options.ts'

/** What became of the streams. */
export interface Collected {
  /** Streams that were read, or could not be. */
  readonly streams: number
  readonly unreadable: number
  /** The first of these. */
  readonly named: readonly string[]
  /** Nothing is printed then. */
  readonly fatal: Problem | undefined
}

const PROGRESS_EVERY = 500
/** An embedded store answers without a pause: signals have to get their turn. */
const TURN_EVERY = 50
/** Further streams that cannot be read are only counted. */
const MOST_TOLD = 20
const MOST_NAMED = 5

/** Adds up all streams as they are read. What cannot be read is told; the rest goes on. */
export async function collect(
  tried: AsyncIterable<TriedStream>,
  tally: StepTally,
  selection: Selection,
  options: StatsOptions,
  runtime: Runtime,
): Promise<Collected> {
  const progress = openProgressLine(options, runtime)
  const named: string[] = []
  const missing: Problem[] = []
  let streams = 0
  let unreadable = 0
  try {
    for await (const item of tried) {
      runtime.signal.throwIfAborted()
      // what vanished between listing and reading is no longer one of those that were asked for
      if (item.kind === 'missing' && selection.kind === 'filter') continue
      if (++streams % PROGRESS_EVERY === 0) await progress.show(`${streams} streams read`)
      if (streams % TURN_EVERY === 0) await otherWork()
      if (item.kind === 'read') tally.add(item.stream, item.events)
      else if (item.kind === 'missing' && selection.kind === 'names') missing.push(missingProblem(item.stream))
      else {
        const fault = item.kind === 'missing' ? missingProblem(item.stream) : errorProblem(item.cause, runtime)
        if (isOnly(selection)) return { streams, unreadable, named, fatal: fault }
        if (++unreadable <= MOST_NAMED) named.push(item.stream)
        if (unreadable > MOST_TOLD) continue
        await progress.clear()
        await tellProblem(fault, options, runtime)
      }
    }
  } finally {
    await progress.clear()
  }
  return { streams, unreadable, named, fatal: allMissing(missing) }
}

function isOnly(selection: Selection): boolean {
  return selection.kind === 'names' && selection.names.length === 1
}

/** Of names that were typed each has to exist, and all that do not are told. */
function allMissing([first, ...others]: readonly Problem[]): Problem | undefined {
  if (first === undefined || others.length === 0) return first
  return { ...first, facts: others.map(({ message }) => ['also', message] as const) }
}
