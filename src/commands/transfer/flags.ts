import { type Command, Option } from 'commander'
import { concurrency, count, duration, requiredText, storedText } from '../../cli/values.ts'

/** Flags shared by `import` and by `export` to a store. */
export interface TransferFlags {
  /** Replace documents whose content differs. */
  readonly replace?: boolean
  readonly skipExisting?: boolean
  /** Copy documents only. */
  readonly withoutData?: boolean
  readonly createContainer?: boolean
  /** How many streams at a time. */
  readonly concurrency?: number
  readonly by?: string
  readonly reason?: string
  /** How long to wait for a lease that another process holds, ms. */
  readonly leaseWait?: number
  /** `import`: write one document over a stream under this lease, which the caller holds. */
  readonly leaseId?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  /** The exact number of streams to replace. */
  readonly expect?: number
}

const EXISTING = 'Existing streams:'
const HOW = 'Writing:'

/** Adds the flags. @param what what `--replace` replaces */
export function transferFlags(command: Command, what: string): Command {
  const existing = [
    new Option('--replace', `replace ${what} if the content differs`),
    new Option('--skip-existing', 'skip existing streams whose content differs, without an error'),
    new Option('--yes', 'with --replace: do not ask; from 50 streams --expect is required too'),
    new Option('--expect <n>', 'with --replace: proceed only if exactly N streams would be replaced').argParser(
      count('--expect', 0),
    ),
  ]
  const how = [
    new Option('--without-data', 'leave out the data of events that is kept beside the documents'),
    new Option('--dry-run', 'show what would be copied, copy nothing'),
    new Option('--concurrency <n>', 'streams copied at a time, 1 to 64 (default: 8)').argParser(concurrency),
    new Option('--create-container', 'create the container if it is missing (automatic on azurite)'),
    new Option('-m, --reason <text>', 'why: kept in the audit log').argParser(storedText('-m', 'reason')),
    new Option('--by <actor>', 'who makes the change (default: user@host)').argParser(requiredText('--by')),
    new Option('--lease-wait <duration>', 'how long to wait for a lease held by another (default: 10s)').argParser(
      duration('--lease-wait', { zero: true }),
    ),
  ]
  for (const option of existing) command.addOption(option.helpGroup(EXISTING))
  for (const option of how) command.addOption(option.helpGroup(HOW))
  return command
}
