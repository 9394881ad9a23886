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
    .option('--force', 'also remove open streams and unreadable documents')
    .option('--blob <name>', 'a blob whose name no stream can have, written exactly', blobNames)
  const description = {
    summary: 'remove streams and their history permanently; always asks',
    examples: [
      ['export orders/4711 -o xml > 4711.xml', 'first save it: a removed stream cannot be restored'],
      ['rm orders/4711 -m "wrong import"', 'ask, then remove it'],
      ["rm --match 'import-17/**' --status canceled --dry-run", 'show which streams would be removed'],
      ['rm --status completed --older-than 30d --dry-run', 'what has not changed for 30 days'],
      ['rm --blob orders/', 'the folder marker of another program'],
    ],
    effect: `Writes: removes each stream under its lease, with its journal. ${RUN_FILES}`,
  } as const
  registerBatch(command, runtime, description, go, everyRemoval)
}

const run: Run<BatchCommandOptions> = async (options, runtime) => {
  const { removeStreams } = await import('./rm/run.ts')
  const { blob = [], names } = options
  return removeStreams({ ...options, names: [...names, ...blob] }, runtime)
}
