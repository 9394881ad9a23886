import { cli, newWorld, type World } from './support.ts'

/** Stores a truncated document under a name. */
export async function badStream(world: World, name: string): Promise<void> {
  const other = newWorld()
  await cli(other, ['init', name])
  const summary = (await other.store.read(name))?.summary
  if (summary === undefined) throw new Error('no summary')
  await world.store.create(name, Buffer.from('<EventStream><Event'), summary)
}
