import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { ShowOptions } from './options.ts'

/** @throws UsageError for flags that make no sense together */
export function checkOptions(options: ShowOptions, runtime: Runtime): void {
  const { output = 'tree', at, diff, select, must, watch, interval, streams } = options
  if (output === 'xml' && new Set(streams).size > 1)
    throw new UsageError('-o xml shows one stream', { hint: 'Name one.' })
  if (must && select === undefined) throw new UsageError('--must needs --select')
  if (interval !== undefined && !watch) throw new UsageError('--interval needs -w')
  if (at !== undefined && output === 'xml')
    throw new UsageError('--at does not go with -o xml: the stored document is only as it is now', {
      hint: 'Use -o json or -o yaml.',
    })
  if (diff !== undefined && select !== undefined) throw new UsageError('--diff does not go with --select')
  if (diff !== undefined && !['tree', 'table', 'json', 'yaml'].includes(output))
    throw new UsageError(`--diff does not go with -o ${output}`, { hint: 'It is a table, json or yaml.' })
  if (watch) checkWatch(options, output, runtime)
}

function checkWatch({ at, must }: ShowOptions, output: string, { stdout, env }: Runtime): void {
  if (!stdout.isTty || env.TERM === 'dumb')
    throw new UsageError('-w draws in place, and standard output is no terminal that can', {
      hint: 'tail -f tells each change as it happens; or run show again in a loop.',
    })
  if (!['tree', 'table', 'timeline'].includes(output))
    throw new UsageError(`-w does not go with -o ${output}`, { hint: 'It draws a tree, a table or a timeline.' })
  if (at !== undefined) throw new UsageError('-w does not go with --at: what has been does not change')
  if (must) throw new UsageError('-w does not go with --must', { hint: 'wait --for event=ID:STATUS waits for one.' })
}
