import { type Command, Option } from 'commander'
import { selectionFlags } from '../../cli/selection/flags.ts'
import { atOnce, count, nonEmpty } from '../../cli/values.ts'
import { outcomeWords } from './outcome-words.ts'

const SEVERAL = 'Several streams:'

/** Adds selections and what goes with changing many streams: preview, confirmation, repeating. */
export function batchFlags(command: Command): Command {
  selectionFlags(command)
  const options = [
    new Option('--skip-missing', 'go on with the others where one of several is missing'),
    new Option('--dry-run', 'show what would be changed, change nothing'),
    new Option('--yes', 'do not ask; from 50 streams on also --expect'),
    new Option('--expect <n>', 'only if it is exactly so many streams').argParser(count('--expect', 0)),
    new Option('--concurrency <n>', 'how many at a time, 1 to 64 (default: 8, 32 in the embedded store)').argParser(
      atOnce,
    ),
    new Option('--rerun <file>', 'repeat what the batch of this run file did not do').argParser(nonEmpty('--rerun')),
    new Option('--only <outcome>', 'with --rerun: what was not begun and these outcomes; joined by commas').argParser(
      outcomeWords,
    ),
  ]
  for (const option of options) command.addOption(option.helpGroup(SEVERAL))
  return command
}

/** Said of each of these commands in its help. */
export const RUN_FILES =
  'A batch leaves a run file in $XDG_STATE_HOME/leasectl/runs (default ~/.local/state); it is yours to delete.'
