import { UsageError } from '../../cli/problem.ts'
import { count, duration, inFlag } from '../../cli/values.ts'
import { MOST_PARTITIONS, type Pointer, parsePointer } from '../../inbox/record.ts'
import { checkFolderName } from '../../store/names.ts'

/** The name of an inbox. */
export function inboxName(text: string): string {
  inFlag('NAME', () => checkFolderName(text, 'an inbox'))
  return text
}

/** The value of `--partitions`. */
export function partitionCount(text: string): number {
  const value = count('--partitions', 1)(text)
  if (value <= MOST_PARTITIONS) return value
  throw new UsageError(`--partitions ${value} is too many`, { hint: `a whole number from 1 to ${MOST_PARTITIONS}` })
}

/** A JSON pointer. */
export function jsonPointer(flag: string): (text: string) => Pointer {
  return text => inFlag(flag, () => parsePointer(text))
}

const LONGEST_LINGER_MS = 1_000

/** The value of `--linger`. */
export function lingerTime(text: string): number {
  const ms = duration('--linger', { zero: true })(text)
  if (ms <= LONGEST_LINGER_MS) return ms
  throw new UsageError(`--linger ${text}: must be at most 1s`, { hint: 'Records wait that long for others.' })
}
