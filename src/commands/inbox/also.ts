import { type Command, Option } from 'commander'
import { UsageError } from '../../cli/problem.ts'
import { duration, nonEmpty } from '../../cli/values.ts'
import { LONGEST_PREFER_MS } from '../../inbox/record.ts'

/** The flags of a second region. */
export interface AlsoFlags {
  /** Address or context of the second store. */
  readonly also?: string
  /** ms */
  readonly prefer?: number
}

/** Adds `--also` and `--prefer`. */
export function alsoFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--also <store>',
        'put each record into the inbox of this name in a second store too: an address or a context; one of them may be away',
      ).argParser(nonEmpty('--also')),
    )
    .addOption(
      new Option(
        '--prefer <duration>',
        'how long a drain of the second store leaves a record to the first (default: 15s)',
      ).argParser(preference),
    )
}

function preference(text: string): number {
  const ms = duration('--prefer', { zero: true })(text)
  if (ms <= LONGEST_PREFER_MS) return ms
  throw new UsageError(`--prefer ${text}: must be at most 1h`, {
    hint: 'So long what is in the second store only waits: write 15s or 1m.',
  })
}

/** @throws UsageError for `--prefer` alone */
export function checkAlso({ also, prefer }: AlsoFlags): void {
  if (prefer === undefined || also !== undefined) return
  throw new UsageError('--prefer goes with --also: the first store is preferred to the second', {
    hint: '--also azure:b/inbox --prefer 15s',
  })
}

/** The end of the help. */
export const ALSO_NOTES = `
--also names a second region with an inbox of the same name and number of partitions. A record that is durable in one of them is
put; the end says how many are in one only. A region that fails or keeps records waiting for a second is away until it
answers again: that is told once, and the other goes on at full speed. While both are away it waits.
`
