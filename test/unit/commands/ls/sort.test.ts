import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SORT_FIELDS } from '../../../../src/commands/ls/options.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/store.ts'
import type { ListQuery } from '../../../../src/store/store.ts'
import { listing, storeWith } from '../store-with.ts'
import { cli, json, newWorld, type World } from '../support.ts'

/** Created in this order, an hour apart: c, a, b, d. */
async function four(world: World = newWorld()): Promise<World> {
  const make = async (...argv: string[]) => {
    expect(await cli(world, ['init', ...argv])).toMatchObject({ exit: 0 })
    world.nowMs += 3_600_000
  }
  await make('c', '--fork', 'A,B', '--timeout', '30h', '--key', 'z')
  await make('a', '--fork', 'A,B,C', '--timeout', '9h', '--tag', 'x')
  await make('b', '--fork', 'A')
  await make('d', '--key', 'k')
  await cli(world, ['event', 'fail', 'c', '01.00'])
  world.nowMs += 1_000
  await cli(world, ['event', 'fail', 'a', '02.00'])
  await cli(world, ['event', 'fail', 'a', '03.00'])
  return world
}

async function order(world: World, ...argv: string[]): Promise<string> {
  const ran = await cli(world, ['ls', '-o', 'name', ...argv])
  expect(ran).toMatchObject({ exit: 0 })
  return ran.stdout.trimEnd().replaceAll('\n', ' ')
}

test('streams are sorted by a field, ascending or descending; those without the value come last, equal ones by name', async () => {
  const world = await four()
  expect(await order(world)).toBe('a b c d')
  expect(await order(world, '--sort', '-name')).toBe('d c b a')
  expect(await order(world, '--sort', 'created')).toBe('c a b d')
  expect(await order(world, '--sort', 'age')).toBe('d b a c')
  expect(await order(world, '--sort', 'age:desc')).toBe('c a b d')
  expect(await order(world, '--sort', 'due')).toBe('a c b d')
  expect(await order(world, '--sort', '-due')).toBe('c a b d')
  expect(await order(world, '--sort', 'failedAt:asc')).toBe('c a b d')
  expect(await order(world, '--sort', '-failedAt')).toBe('a c b d')
  expect(await order(world, '--sort', '-failed')).toBe('a c b d')
  expect(await order(world, '--sort', 'failed')).toBe('b d c a')
  expect(await order(world, '--sort', 'open')).toBe('d a b c')
  expect(await order(world, '--sort', 'key')).toBe('d c a b')
  expect(await order(world, '--sort', '-key')).toBe('c d a b')
  expect(await order(world, '--sort', 'modified')).toBe('b d c a')
  expect(await order(world, '--sort', '-version')).toBe('a c b d')
})

test('every documented field sorts', async () => {
  const world = await four()
  for (const field of SORT_FIELDS) expect((await order(world, '--sort', field)).length).toBe(7)
})

test('with a limit only the first are shown, and the total is printed', async () => {
  const world = await four()
  const ran = await cli(world, ['ls', '--sort', 'created', '--limit', '2', '-o', 'json'])
  expect(json(ran.stdout)).toMatchObject({ items: [{ name: 'c' }, { name: 'a' }], total: 4, truncated: true })
  expect(ran.stderr).toMatch(/^showing 2 of 4 \(/)
})

test('a long listing keeps only as many rows as the limit needs, the first of all pages', async () => {
  const world = await four()
  let row: object | undefined
  for await (const [first] of world.store.list({})) row = first
  const store = storeWith(world.store, {
    async *list() {
      for (let page = 0; page < 40; page++) {
        yield Array.from({ length: 100 }, (_, at) => ({
          ...row,
          name: `s${String(page * 100 + at).padStart(4, '0')}`,
          modifiedMs: ((page * 100 + at) * 7919) % 4_001,
        })) as never
      }
    },
  })
  const ran = await cli(world, ['ls', '--sort', '-modified', '--limit', '3', '-o', 'json'], { store })
  const { items, total } = json(ran.stdout) as { items: { modified: string }[]; total: number }
  expect(total).toBe(4_000)
  expect(items.map(({ modified }) => Date.parse(modified))).toEqual([4_000, 3_999, 3_998])
})

test('an unreadable stream comes last', async () => {
  const world = await four()
  const store = storeWith(world.store, {
    ...listing(world.store, row => (row.name === 'a' ? { ...row, summary: undefined as never } : row)),
    read: async name => {
      const stored = await world.store.read(name)
      return name === 'a' && stored !== undefined ? { ...stored, body: Buffer.from('<x') } : stored
    },
  })
  const ran = await cli(world, ['ls', '--sort', '-due', '-o', 'name'], { store })
  expect(ran.stdout).toBe('c\na\nb\nd\n')
})

test('a progress line on a terminal shows the progress of a slow listing, and is removed', async () => {
  const world = await four()
  const store = storeWith(world.store, {
    async *list(query) {
      for await (const page of world.store.list(query)) {
        for (const row of page) {
          world.nowMs += 600
          yield [row]
        }
      }
    },
  })
  const ran = await cli(world, ['ls', '--sort', 'due', '-o', 'name'], { store, terminal: true })
  expect(ran.stderr).toMatch(/2 streams listed.*3 streams listed.*4 streams listed\r\u001b\[2K$/s)
  expect((await cli(world, ['ls', '--sort', 'due', '-o', 'name'], { store })).stderr).toBe('')
})

test('on SQLite the index lists by due time, so rows are not collected; other filters and stores collect', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'leasectl-sort-'))
  const world = newWorld()
  const sqlite = openSqliteStore(join(folder, 'a.db'), { clock: () => world.nowMs })
  try {
    const orders: ListQuery['order'][] = []
    const store = storeWith(sqlite, {
      list: query => {
        orders.push(query.order)
        return sqlite.list(query)
      },
    })
    await four({ ...world, store })
    const names = async (...argv: string[]) => {
      orders.length = 0
      return (await cli(world, ['ls', '-o', 'name', ...argv], { store })).stdout.trimEnd().replaceAll('\n', ' ')
    }
    expect(await names('--sort', 'due')).toBe('a c b d')
    expect(orders).toEqual(['due', undefined])
    expect(await names('--sort', 'due', '--match', '?', '--limit', '1')).toBe('a')
    expect(orders).toEqual(['due'])
    expect(await names('--sort', '-due')).toBe('c a b d')
    expect(await names('--sort', 'due', '--failed')).toBe('a c')
    expect(orders).toEqual([undefined])
    orders.length = 0
    await cli(world, ['ls', '--sort', 'due'])
    expect(orders).toEqual([])
  } finally {
    await sqlite.close()
    await rm(folder, { recursive: true })
  }
})
