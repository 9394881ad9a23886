import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StreamStore } from '../../../src/store/store.ts'
import { storeWith } from '../../unit/commands/store-with.ts'
import { cli, newWorld } from '../../unit/commands/support.ts'
import { folder } from '../../unit/commands/transfer/support.ts'

export type Cli = typeof cli

/** A store of other programs: it contains every name, also those that our stores refuse. */
export async function storeOf(names: readonly string[], run: Cli = cli): Promise<{ store: StreamStore }> {
  const world = newWorld()
  await run(world, ['init', 's'])
  const seed = await world.store.read('s')
  const [listed] = await Array.fromAsync(world.store.list({})).then(pages => pages.flat())
  if (seed === undefined || listed === undefined) throw new Error('no stream')
  const store = storeWith(world.store, {
    read: async name => ({ ...seed, name }),
    async *list() {
      yield names.map(name => ({ ...listed, name }))
    },
  })
  return { store }
}

/** All entries below a folder: their kind and content. */
export function snapshot(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .map(entry => join(entry.parentPath, entry.name))
    .map(full => {
      const stat = lstatSync(full)
      if (stat.isSymbolicLink()) return `${full} -> ${readlinkSync(full)}`
      return stat.isFile() ? `${full} ${stat.mode} ${readFileSync(full, 'base64')}` : full
    })
    .sort()
}

/** A target among valuable files; the changes to those, and new files beside the target. */
export async function escapesOf(names: readonly string[], act: (target: string, around: string) => Promise<unknown>) {
  const around = folder()
  const home = join(around, 'a', 'b', 'c')
  const target = join(home, 'target')
  mkdirSync(target, { recursive: true })
  writeFileSync(join(around, 'precious'), 'precious')
  writeFileSync(join(home, 'out.xml'), 'precious')
  const outside = () => snapshot(around).filter(line => !line.startsWith(`${target}/`))
  const before = outside()
  await act(target, around)
  const after = outside()
  const changed = [...after.filter(line => !before.includes(line)), ...before.filter(line => !after.includes(line))]
  return { target, changed, names: names.length }
}
