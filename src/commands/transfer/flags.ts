import { type Command, Option } from 'commander'
import { concurrency, count, duration, requiredText } from '../../cli/values.ts'

/** What export to a store and import have in common: what to do where a name is taken, and how many at a time. */
export interface TransferFlags {
  /** Write over what is there with another content. */
  readonly replace?: boolean
  readonly skipExisting?: boolean
  readonly createContainer?: boolean
  /** How many streams at a time. */
  readonly concurrency?: number
  readonly by?: string
  /** How long to wait for a lease held by another, ms. */
  readonly leaseWait?: number
  readonly dryRun?: boolean
  readonly yes?: boolean
  /** How many streams may be replaced. */
  readonly expect?: number
}

const EXISTING = 'Where a name is taken:'
const HOW = 'How:'

/** Adds them. `what`: what is written over. */
export function transferFlags(command: Command, what: string): Command {
  const existing = [
    new Option('--replace', `write over ${what} with another content`),
    new Option('--skip-existing', 'leave streams that are there with another content as they are, without complaint'),
    new Option('--yes', 'with --replace: do not ask; from 50 streams on also --expect'),
    new Option('--expect <n>', 'with --replace: only if exactly so many are written over').argParser(
      count('--expect', 0),
    ),
  ]
  const how = [
    new Option('--dry-run', 'show what would be done, do nothing'),
    new Option('--concurrency <n>', 'how many at a time, 1 to 64 (default: 8)').argParser(concurrency),
    new Option('--create-container', 'create the container if it is missing (on azurite: without asking)'),
    new Option('--by <actor>', 'who does it (default: user@host)').argParser(requiredText('--by')),
    new Option('--lease-wait <duration>', 'how long to wait for a lease held by another (default: 10s)').argParser(
      duration('--lease-wait', { zero: true }),
    ),
  ]
  for (const option of existing) command.addOption(option.helpGroup(EXISTING))
  for (const option of how) command.addOption(option.helpGroup(HOW))
  return command
}
