import type { Command } from 'commander'
import type { Run } from '../cli/command.ts'
import { everyRemoval } from '../cli/options.ts'
import type { Runtime } from '../cli/runtime.ts'
import { blobNames, streamNames } from '../cli/values.ts'
import { RUN_FILES, registerBatch } from './batch/command.ts'
import type { BatchCommandOptions } from './batch/options.ts'

export function register(parent: Command, runtime: Runtime, go: Run<BatchCommandOptions> = run): void {
  const command = parent
    .command('rm')
    .alias('delete')
    .argument('[STREAM...]', 'names of streams', streamNames)
    .option('--force', 'open streams too, and documents that cannot be read')
    .option('--blob <name>', 'a blob whose name no stream can have, exactly as it is', blobNames)
  const description = {
    summary: 'removes streams for good, their history too; always asks',
    examples: [
      ['export orders/4711 -o xml > 4711.xml', 'first: nothing brings a removed stream back'],
      ['rm orders/4711 -m "wrong import"', 'asks, then removes it'],
      ["rm --match 'import-17/**' --status canceled --dry-run", 'what would go'],
      ['rm --blob orders/', 'a mark of a folder that another program left'],
    ],
    effect: `Writes: removes under the lease of each stream, and leaves no journal. ${RUN_FILES}`,
  } as const
  registerBatch(command, runtime, description, go, everyRemoval)
}

const run: Run<BatchCommandOptions> = async (options, runtime) => {
  const { removeStreams } = await import('./rm/run.ts')
  const { blob = [], names } = options
  return removeStreams({ ...options, names: [...names, ...blob] }, runtime)
}
