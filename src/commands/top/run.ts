import { openOutput } from '../../cli/output.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { filterArguments } from '../../cli/selection/flags.ts'
import { filterOf } from '../../cli/selection/read.ts'
import { checkMayChange, openStoreFor, requireFile, storeChoice } from '../../cli/store.ts'
import type { StreamFilter } from '../../ops/filter.ts'
import { defined } from '../../util/defined.ts'
import type { ProgramRuntime } from './dashboard.ts'
import type { TopStart } from './open.ts'
import type { TopOptions } from './options.ts'

/** Opens the dashboard on a terminal; prints lines elsewhere. */
export async function top(options: TopOptions, runtime: ProgramRuntime): Promise<Problem | undefined> {
  const filter = filterOf(options, runtime.nowMs())
  checkTogether(options, filter)
  if (options.contexts !== undefined) return topOfSeveral({ ...options, contexts: options.contexts }, filter, runtime)
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  // The dashboard retries faults of a store, and would wait for a mistyped path forever.
  if (runtime.opened?.source !== 'default') requireFile(store.address)
  const lines = linesOnly(options, runtime)
  if (lines !== undefined) {
    checkLines(options, lines)
    const { plainTop } = await import('./plain.ts')
    return plainTop(options, store, runtime)
  }
  if (options.write && runtime.opened !== undefined) await checkMayChange(runtime.opened)
  if (!options.readOnly) await checkProtection(options, runtime)
  const { openTop } = await import('./open.ts')
  await openTop(startWith(options, filter, runtime), runtime)
  return undefined
}

/** Shows the stores of several contexts in one dashboard. */
async function topOfSeveral(
  options: TopOptions & { readonly contexts: readonly string[] },
  filter: StreamFilter | undefined,
  runtime: ProgramRuntime,
): Promise<Problem | undefined> {
  if (options.stream !== undefined)
    throw new UsageError('STREAM and several contexts do not go together', {
      hint: 'Name the context of the stream alone, or open it with enter.',
    })
  const { openTop, openContexts } = await import('./open.ts')
  const stores = await openContexts(options.contexts, runtime)
  const lines = linesOnly(options, runtime)
  if (lines !== undefined) {
    checkLines(options, lines)
    const { plainSeveral } = await import('./plain.ts')
    return plainSeveral(options, stores, runtime)
  }
  await openTop(startWith(options, filter, runtime), runtime, stores)
  return undefined
}

function startWith(options: TopOptions, filter: StreamFilter | undefined, { argv }: Runtime): TopStart {
  return { ...startOf(options), ...(filter && { selection: { filter, argv: filterArguments(argv) } }) }
}

/** Why lines are printed instead of a screen, if they are. */
function linesOnly({ accessible }: TopOptions, runtime: Runtime): string | undefined {
  return accessible ? '--accessible is set' : noScreen(runtime)
}

/** @throws UsageError */
function checkLines({ sort }: TopOptions, why: string): void {
  if (sort === undefined) return
  throw new UsageError(`--sort is for the screen, and top prints lines: ${why}`, { hint: 'ls --sort sorts a list.' })
}

/** @throws UsageError */
function checkTogether({ write, readOnly, stream }: TopOptions, filter: StreamFilter | undefined): void {
  if (write && readOnly)
    throw new UsageError('--write and --read-only do not go together', { hint: 'Without either, ! unlocks changes.' })
  if (stream !== undefined && filter !== undefined)
    throw new UsageError('filters and STREAM do not go together', {
      hint: 'Leave STREAM out and open a matching stream with enter.',
    })
}

/**
 * Reads the contexts: the dashboard can write to the store, which a context may protect. Commands that only read a named
 * store do without.
 *
 * @throws UsageError for unreadable contexts
 */
async function checkProtection(options: TopOptions, runtime: Runtime): Promise<void> {
  const { kind } = runtime
  runtime.begin('writes')
  try {
    await runtime.describeStore(storeChoice(options))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const hint = [error.hint, '--read-only opens it without contexts'].filter(text => text !== undefined).join('; ')
    throw new UsageError(error.message, { hint, cause: error })
  } finally {
    runtime.begin(kind)
  }
}

function startOf(options: TopOptions): TopStart {
  const { stream, interval, ascii, time, theme, color, write, readOnly, bell, mouse, sort } = options
  return {
    writes: readOnly ? 'never' : write ? 'unlocked' : 'locked',
    ...defined({ stream, bell, mouse, sort: sort && { by: sort.field, isDescending: sort.descending } }),
    ...defined({ intervalMs: interval, theme, color, isAscii: ascii }),
    ...(time === undefined ? {} : { time: time === 'iso' ? 'utc' : time }),
  }
}

/** Why the dashboard cannot use the screen; `undefined` if it can. */
export function noScreen({ stdin, stdout, env }: Pick<Runtime, 'stdin' | 'stdout' | 'env'>): string | undefined {
  if (!stdout.isTty) return 'standard output is not a terminal'
  if (!stdin.isTty) return 'standard input is not a terminal'
  if (env.TERM === 'dumb') return 'TERM is dumb'
  if (env.CI) return 'CI is set'
  return env.ACCESSIBLE === '1' ? 'ACCESSIBLE is set' : undefined
}
