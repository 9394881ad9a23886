import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { LsOptions } from './options.ts'

/** Refuses flags that do not go together. @throws UsageError */
export function checkTogether(options: LsOptions, runtime: Runtime): void {
  const { output = 'table', fields, groupBy, sort, interval, watch } = options
  if (interval !== undefined && !watch) throw new UsageError('--interval needs -w')
  if (fields !== undefined && (output === 'name' || output === 'wide')) {
    throw new UsageError(`--fields does not go with -o ${output}`, { hint: 'It takes -o table, json, ndjson or yaml.' })
  }
  if (groupBy !== undefined) checkGroups(output, fields !== undefined, sort !== undefined)
  if (watch) checkWatch(output, runtime)
}

function checkGroups(output: string, fields: boolean, sort: boolean): void {
  if (output === 'name' || output === 'wide') {
    throw new UsageError(`--group-by does not go with -o ${output}`, {
      hint: 'It takes -o table, json, ndjson or yaml.',
    })
  }
  const other = fields ? '--fields' : sort ? '--sort' : undefined
  if (other !== undefined) {
    throw new UsageError(`--group-by does not go with ${other}`, { hint: 'Groups are sorted by how many they are.' })
  }
}

function checkWatch(output: string, { stdout, env }: Runtime): void {
  if (output !== 'table' && output !== 'wide') {
    throw new UsageError(`-w does not go with -o ${output}`, {
      hint: 'tail -f -o ndjson tells each change as it happens; or run ls again in a loop.',
    })
  }
  if (!stdout.isTty || env.TERM === 'dumb') {
    throw new UsageError('-w draws in place, and standard output is no terminal that can', {
      hint: 'tail -f tells each change as it happens; or run ls again in a loop.',
    })
  }
}
