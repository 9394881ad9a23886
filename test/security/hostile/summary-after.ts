import type { Summary } from '../../../src/stream/summary.ts'
import { cli, newWorld } from '../../unit/commands/support.ts'

/** The row of stream `s` in a listing after a command that creates it. */
export async function summaryAfter(line: string): Promise<Summary> {
  const world = newWorld()
  await cli(world, line.split(' '))
  const summary = (await world.store.read('s'))?.summary
  if (summary === undefined) throw new Error(`no summary after ${line}`)
  return summary
}
