import { setImmediate as otherWork } from 'node:timers/promises'
import type { Selection, Unread } from '../../ops/selection.ts'
import { visibleName } from '../../util/visible-text.ts'
import { errorProblem } from '../error-problem.ts'
import type { GlobalOptions } from '../options.ts'
import { missingProblem } from '../outcome-problem.ts'
import { openProgressLine } from '../output/progress-line.ts'
import { type Problem, problem, UsageError } from '../problem.ts'
import { tellProblem } from '../problem-text.ts'
import type { Runtime } from '../runtime.ts'
import type { SelectionOptions } from './flags.ts'
import { readSelection } from './read.ts'

/** The selection of a command whose `--since` and `--until` filter what the streams contain: alone it selects the whole store. */
export async function selectionSince(
  { since, until: _, ...which }: SelectionOptions,
  command: string,
  runtime: Runtime,
): Promise<Selection> {
  const selection = await readSelection(which, runtime)
  if (selection !== undefined) return selection
  if (since !== undefined) return { kind: 'filter', filter: {} }
  throw new UsageError(`${command} needs streams`, {
    hint: 'Give stream names, --since 1h, or a filter such as --match; --all selects the whole store.',
  })
}

/** The result of reading the selected streams. */
export interface Collected {
  /** Streams read, and those that could not be. */
  readonly streams: number
  readonly unreadable: number
  /** Names of the first unreadable streams. */
  readonly named: readonly string[]
  /** Ends the command before anything is printed. */
  readonly fatal: Problem | undefined
}

export interface CollectOptions {
  /** Whether the progress line may be shown; default true. */
  readonly showsProgress?: boolean
  /** Unreadable streams reported one by one; further ones are only counted. Default: all. */
  readonly mostReported?: number
}

const PROGRESS_EVERY = 500
/** An embedded store answers synchronously, so the loop yields now and then to let signals through. */
const YIELD_EVERY = 50
const MOST_NAMED = 5

/** Adds up the selected streams as they are read. Unreadable streams are reported and left out. */
export async function collect<Read extends { readonly kind: 'read' }>(
  items: AsyncIterable<Read | Unread>,
  add: (item: Read) => void | Promise<void>,
  selection: Selection,
  options: GlobalOptions,
  runtime: Runtime,
  { showsProgress, mostReported = Number.POSITIVE_INFINITY }: CollectOptions = {},
): Promise<Collected> {
  const progress = openProgressLine(options, runtime, showsProgress)
  const named: string[] = []
  const missing: string[] = []
  let streams = 0
  let unreadable = 0
  try {
    for await (const item of items) {
      runtime.signal.throwIfAborted()
      // A stream removed between the listing and the read no longer belongs to the selection.
      if (item.kind === 'missing' && selection.kind === 'filter') continue
      if (++streams % PROGRESS_EVERY === 0) await progress.show(`${streams} streams read`)
      if (streams % YIELD_EVERY === 0) await otherWork()
      if (item.kind === 'read') await add(item)
      else if (item.kind === 'missing' && selection.kind === 'names') missing.push(item.stream)
      else {
        const fault = item.kind === 'missing' ? missingProblem(item.stream) : errorProblem(item.cause, runtime)
        if (selection.kind === 'names' && selection.names.length === 1) {
          return { streams, unreadable, named, fatal: fault }
        }
        if (++unreadable <= MOST_NAMED) named.push(item.stream)
        if (unreadable > mostReported) continue
        await progress.clear()
        await tellProblem(fault, options, runtime)
      }
    }
  } finally {
    await progress.clear()
  }
  return { streams, unreadable, named, fatal: missing.length === 0 ? undefined : missingProblems(missing) }
}

/** Exit 7 if some streams could not be read. */
export function incompleteProblem({ streams, unreadable, named }: Collected, hint: string): Problem | undefined {
  if (unreadable === 0) return undefined
  const more = unreadable > named.length ? ` +${unreadable - named.length}` : ''
  return problem('batch-incomplete', `${unreadable} of ${streams} streams could not be read`, {
    facts: [['streams', named.map(visibleName).join(' ') + more]],
    hint,
  })
}

/** Each given name must exist; the problem names those that do not, the first `most` of the others one by one. */
export function missingProblems(
  [first = '', ...others]: readonly string[],
  most: number = Number.POSITIVE_INFINITY,
): Problem {
  const facts = others.slice(0, most).map(name => ['also', missingProblem(name).message] as const)
  const more = others.length - facts.length
  if (more > 0) facts.push(['also', `${more} more`])
  return { ...missingProblem(first), ...(facts.length === 0 ? {} : { facts }) }
}
