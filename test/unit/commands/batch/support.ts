import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StreamStore } from '../../../../src/store/store.ts'
import { init, run } from '../../ops/support.ts'
import { json, STATE_HOME, type World } from '../support.ts'

/** This number of names, in order. */
export const namesOf = (count: number, prefix = 's') =>
  Array.from({ length: count }, (_, at) => `${prefix}${String(at).padStart(3, '0')}`)

/** Streams with an open root, and these threads below it. */
export async function given(world: World, names: readonly string[], forks: readonly string[] = []): Promise<void> {
  for (const name of names) await run(world.store, name, init(forks))
}

/** An unreadable document. */
export async function unreadable(world: World, name: string): Promise<void> {
  await run(world.store, 'for-its-summary', init())
  const summary = (await world.store.read('for-its-summary'))?.summary
  await world.store.remove('for-its-summary', {})
  if (summary !== undefined) await world.store.create(name, Buffer.from('<x'), summary)
}

/** A store with an action before a call. */
export function before(store: StreamStore, method: keyof StreamStore, act: (name: string) => unknown): StreamStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      if (key !== method) return value.bind(target)
      return async (name: string, ...rest: unknown[]) => {
        await act(name)
        return value.call(target, name, ...rest)
      }
    },
  })
}

/** The run file that a batch has named. */
export function runFileOf({ stderr }: { readonly stderr: string }): string {
  return /run file: (.*)/.exec(stderr)?.[1] ?? ''
}

export const runFiles = () => {
  try {
    return readdirSync(join(STATE_HOME, 'leasectl', 'runs'))
  } catch {
    return []
  }
}

export const linesOf = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').map(json)
