import { join } from 'node:path'
import { openStore } from '../../../src/store/open.ts'
import { cli, newWorld } from '../../unit/commands/support.ts'
import { writeState } from '../../unit/watchdog/state/world.ts'
import { hostileDocument, hostileSummary, hostileWatchdog, XML_HOSTILE } from './hostile-texts.ts'

/** The hostile texts that a store accepts as a name. */
export const HOSTILE_NAME = XML_HOSTILE.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '')
/** The part of it that is shown unchanged. */
export const PRINTABLE_NAME = '52;c;cm0gLXJm'

/** An embedded store below a folder whose names, documents, summaries and watchdogs are hostile; its address. */
export async function hostileSqlite(folder: string): Promise<string> {
  const address = `sqlite:${join(folder, 'a.db')}`
  const store = await openStore(address, {})
  const world = newWorld()
  await cli(world, ['init', 's'])
  const summary = (await world.store.read('s'))?.summary
  if (summary === undefined) throw new Error('no summary')
  const good = Buffer.from(hostileDocument())
  for (const name of ['s', HOSTILE_NAME]) await store.create(name, good, hostileSummary(summary))
  await store.create('bad', Buffer.from(`<EventStream><Event ${XML_HOSTILE}`), hostileSummary(summary))
  await writeState(store, [hostileWatchdog()])
  await store.close()
  return address
}
