import { describe, expect, test } from 'vitest'
import type { Selection } from '../../../../src/ops/selection.ts'
import { readTried, type TriedOptions } from '../../../../src/ops/stats/attempts.ts'
import type { StreamStore } from '../../../../src/store/store.ts'
import { listing, storeWith } from '../../commands/store-with.ts'
import { init, memoryStore, NOW, run } from '../support.ts'

async function played(): Promise<StreamStore> {
  const { store, advance } = memoryStore()
  await run(store, 'a', init(['A']))
  advance(600_000)
  await run(store, 'b', init(['B']))
  await run(store, 'c', init(['C']))
  await run(store, 'c', { op: 'cancel' })
  const summary = (await store.read('c'))?.summary
  if (summary === undefined) throw new Error('no summary')
  await store.create('bad', Buffer.from('<EventStream><Event'), summary)
  return store
}

async function kinds(store: StreamStore, selection: Selection, options?: TriedOptions) {
  const found: string[] = []
  for await (const { kind, stream } of readTried(store, selection, options)) found.push(`${stream} ${kind}`)
  return found
}

const ALL: Selection = { kind: 'filter', filter: {} }

test('each stream of a filter is read, and an unreadable one is reported', async () => {
  expect(await kinds(await played(), ALL)).toEqual(['a read', 'b read', 'bad unreadable', 'c read'])
  expect(await kinds(await played(), { kind: 'filter', filter: { status: ['canceled'] } })).toEqual([
    'bad unreadable',
    'c read',
  ])
})

test('without a summary in the listing the document decides', async () => {
  const store = await played()
  const without = storeWith(
    store,
    listing(store, ({ summary: _, ...row }) => row),
  )
  expect(await kinds(without, { kind: 'filter', filter: { status: ['canceled'] } })).toEqual(['c read'])
})

test('names are read in the given order, each once; missing ones are reported', async () => {
  expect(await kinds(await played(), { kind: 'names', names: ['c', 'nix', 'a', 'c'] })).toEqual([
    'c read',
    'nix missing',
    'a read',
  ])
})

describe('the following are not read:', () => {
  const reading = (store: StreamStore) => {
    const read: string[] = []
    const counted = storeWith(store, {
      read: (name, signal) => {
        read.push(name)
        return store.read(name, signal)
      },
    })
    return { counted, read }
  }

  test('streams last written before the requested time, with a minute for clock differences', async () => {
    const { counted, read } = reading(await played())
    await kinds(counted, ALL, { sinceMs: NOW + 120_000 })
    expect(read).toEqual(['b', 'bad', 'c'])
    expect(await kinds(counted, ALL, { sinceMs: NOW + 59_000 })).toContain('a read')
  })

  test('blobs under names that are not stream names, each of which is unreadable', async () => {
    const store = await played()
    const { counted, read } = reading(
      storeWith(
        store,
        listing(store, row => ({ ...row, name: `${row.name}/` })),
      ),
    )
    const all = await kinds(counted, ALL)
    expect(all).not.toEqual([])
    expect(all.filter(kind => !kind.endsWith('/ unreadable'))).toEqual([])
    expect(read).not.toContain('a')
  })
})

test('streams that vanish between listing and reading, which are missing', async () => {
  const store = await played()
  const vanishing = storeWith(store, {
    read: async (name, signal) => (name === 'b' ? undefined : store.read(name, signal)),
  })
  expect(await kinds(vanishing, ALL)).toContain('b missing')
})
