import { type BlockLog, comparePositions, type LogPosition } from '../../store/block-log.ts'
import { isObject } from '../../stream/values.ts'
import { linesIn } from './line.ts'

const READ_BYTES = 256 * 1024

/**
 * Removes the drained records of a partition that were put before a time, as far as the store can: it drops whole parts.
 * @param start where an earlier call came to
 * @param drained below it all is done
 * @returns where it came to
 */
export async function trimDrained(
  log: BlockLog,
  {
    start,
    drained,
    beforeMs,
  }: { readonly start: LogPosition; readonly drained: LogPosition; readonly beforeMs: number },
): Promise<LogPosition> {
  let from = start
  for (;;) {
    const chunk = await log.read(from, READ_BYTES)
    const lines = linesIn(chunk, from)
    if (lines.length === 0 || comparePositions(chunk.next, drained) > 0) break
    // Lines that are no records have no time: those before them say how old they are.
    const last = lines.findLast(({ text }) => !Number.isNaN(putMs(text)))
    if (last !== undefined && putMs(last.text) >= beforeMs) break
    from = chunk.next
  }
  if (comparePositions(from, start) > 0) await log.trim(from)
  return from
}

/** NaN if the line is not a record. */
function putMs(line: string): number {
  try {
    const fields: unknown = JSON.parse(line)
    return isObject(fields) && typeof fields.at === 'string' ? Date.parse(fields.at) : Number.NaN
  } catch {
    return Number.NaN
  }
}
