import { type Command, Option } from 'commander'
import { act, describe, describeGroup, parsed, type Run, reads } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { count, duration, nonEmpty } from '../cli/values.ts'
import type { ListRunsOptions, PruneRunsOptions, ShowRunOptions } from './runs/run.ts'

const READS = 'Only reads: your run files, no store.'

/** `runs …`: the run files of batches. */
export function register(parent: Command, runtime: Runtime): void {
  const group = parent.command('runs').usage('COMMAND …')
  describeGroup(group, runtime, {
    summary: 'manage run files of batches: ls, show, prune',
    description:
      'List what cancel, abort, retry, ack, rm and lease break did to several streams, and what they left. Every such batch ' +
      'writes a run file; ' +
      '--rerun FILE does the rest of it, --rerun last the rest of the latest run of that command.',
    examples: [
      ['runs ls', 'the batches of this user, latest first, and what they left'],
      ['runs show last', 'what the latest one did not do, and why'],
      ['cancel --rerun last', 'do the rest of the latest cancel'],
      ['runs prune --older-than 30d', 'remove old run files'],
    ],
  })
  for (const registerIn of [registerLs, registerShow, registerPrune]) registerIn(group, runtime)
}

export function registerLs(parent: Command, runtime: Runtime, go: Run<ListRunsOptions> = runLs): void {
  const command = parent
    .command('ls')
    .alias('list')
    .addOption(new Option('--limit <n>', 'at most N runs, the latest (default: all)').argParser(count('--limit', 1)))
  const description = {
    summary: 'list run files, latest first: when, command, store, counts, what is left',
    examples: [
      ['runs ls', 'all of them'],
      ['runs ls -o name --limit 1', 'the path of the latest'],
    ],
    formats: ['table', 'name', 'json', 'ndjson', 'csv'],
    effect: READS,
  } as const
  reads(command, runtime, description, [], go)
}

const runLs: Run<ListRunsOptions> = async (...given) => (await import('./runs/run.ts')).listRuns(...given)

export function registerShow(parent: Command, runtime: Runtime, go: Run<ShowRunOptions> = runShow): void {
  const command = parent
    .command('show')
    .argument('<RUN>', 'run file: its path, or its name as runs ls prints it; last is the latest', nonEmpty('RUN'))
  const description = {
    summary: 'show a run: reason, actor, and each stream that was not done; with -v all streams',
    examples: [
      ['runs show last', 'the latest run'],
      ['runs show last -o json', 'with every outcome'],
    ],
    formats: ['table', 'json'],
    effect: READS,
  } as const
  reads(command, runtime, description, ['run'], go)
}

const runShow: Run<ShowRunOptions> = async (...given) => (await import('./runs/run.ts')).showRun(...given)

export function registerPrune(parent: Command, runtime: Runtime, go: Run<PruneRunsOptions> = runPrune): void {
  const command = parent
    .command('prune')
    .addOption(
      new Option('--older-than <duration>', 'only runs that started longer ago than this: 30d')
        .argParser(duration('--older-than', { zero: true }))
        .makeOptionMandatory(),
    )
    .option('--dry-run', 'show what would be removed, remove nothing')
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: removes run files, also of runs with a rest. Streams and their history stay as they are.',
    summary: 'remove old run files',
    examples: [
      ['runs prune --older-than 30d', 'those of more than 30 days ago'],
      ['runs prune --older-than 30d --dry-run', 'list them first'],
    ],
    formats: ['text', 'json'],
  })
  act(command, runtime, 'writes', own => parsed<PruneRunsOptions>(own, []), go)
}

const runPrune: Run<PruneRunsOptions> = async (...given) => (await import('./runs/run.ts')).pruneRuns(...given)
