import type { Summary } from '../../../src/stream/summary.ts'
import { cli, newWorld } from '../../unit/commands/support.ts'

/** What a listing says of the stream `s` after a command that makes it. */
export async function summaryAfter(line: string): Promise<Summary> {
  const world = newWorld()
  await cli(world, line.split(' '))
  const summary = (await world.store.read('s'))?.summary
  if (summary === undefined) throw new Error(`no summary after ${line}`)
  return summary
}
