import { UsageError } from '../../cli/problem.ts'
import { count, inFlag } from '../../cli/values.ts'
import { checkInboxName, MOST_PARTITIONS } from '../../inbox/inbox.ts'

/** The name of an inbox. */
export function inboxName(text: string): string {
  inFlag('NAME', () => checkInboxName(text))
  return text
}

/** The value of `--partitions`. */
export function partitionCount(text: string): number {
  const value = count('--partitions', 1)(text)
  if (value <= MOST_PARTITIONS) return value
  throw new UsageError(`--partitions ${value} is too many`, { hint: `a whole number from 1 to ${MOST_PARTITIONS}` })
}
