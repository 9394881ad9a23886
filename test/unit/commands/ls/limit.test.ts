import { expect, test, vi } from 'vitest'
import { runCommandLine } from '../../../../src/commands/main.ts'
import { StoreUnreachable } from '../../../../src/store/errors.ts'
import type { ListQuery, StreamRow, StreamStore } from '../../../../src/store/store.ts'
import { storeWith } from '../store-with.ts'
import { cli, fakeRuntime, json, newWorld, type World } from '../support.ts'

/** A store that lists copies of one stream, in pages of this size; `page` is called before each. */
async function copies(
  count: number,
  page: (number: number, query: ListQuery) => unknown = () => {},
  pageRows = 1_000,
): Promise<{ world: World; store: StreamStore }> {
  const world = newWorld()
  await cli(world, ['init', 's'])
  let row: StreamRow | undefined
  for await (const [first] of world.store.list({})) row = first
  const copy = (at: number) => ({ ...row, name: `s${String(at).padStart(6, '0')}` }) as StreamRow
  const store = storeWith(world.store, {
    async *list(query) {
      for (let at = 0, number = 0; at < count; at += pageRows, number++) {
        await page(number, query)
        yield Array.from({ length: Math.min(pageRows, count - at) }, (_, index) => copy(at + index))
      }
    },
  })
  return { world, store }
}

const rowsOf = (stdout: string) => stdout.trimEnd().split('\n').length - 1

test('a table on a terminal stops at 200 and prints the total; elsewhere it does not stop', async () => {
  const { world, store } = await copies(12_431)
  for (const more of [[], ['-o', 'wide']]) {
    const terminal = await cli(world, ['ls', ...more], { columns: 80, store })
    expect(rowsOf(terminal.stdout)).toBe(200)
    expect(terminal.stderr).toBe('showing 200 of 12431 (--limit N shows more, filters such as --match fewer)\n')
  }
  expect((await cli(world, ['ls', '-o', 'name'], { columns: 80, store })).stdout.trimEnd().split('\n')).toHaveLength(
    12_431,
  )
  expect(rowsOf((await cli(world, ['ls'], { store })).stdout)).toBe(12_431)
  expect((await cli(world, ['ls', '-q'], { columns: 80, store })).stderr).toBe('')
})

test('a limit that includes all streams is not mentioned', async () => {
  const { world, store } = await copies(7, () => {}, 7)
  const ran = await cli(world, ['ls', '--limit', '7', '-o', 'json'], { store })
  expect(ran.stderr).toBe('')
  expect(json(ran.stdout)).toMatchObject({ total: 7, truncated: false })
})

test('streams beyond the limit are counted for two seconds, then the total is a minimum', async () => {
  let nowMs = () => {}
  const { world, store } = await copies(1_000_000, () => nowMs())
  nowMs = () => (world.nowMs += 25)
  // Only the clock of the world ends the counting, however slow the machine is.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const table = await cli(world, ['ls', '--limit', '3'], { store })
    expect(table.exit).toBe(0)
    expect(rowsOf(table.stdout)).toBe(3)
    expect(table.stderr).toMatch(/^showing 3 of more than 8\d000 \(/)
    const document = json((await cli(world, ['ls', '--limit', '3', '-o', 'json'], { store })).stdout)
    expect(document).toMatchObject({ total: null, truncated: true })
  } finally {
    vi.useRealTimers()
  }
})

test('a page that does not arrive is not waited for', async () => {
  const asked = Promise.withResolvers<void>()
  const late = (number: number, { signal }: ListQuery) => {
    if (number < 2) return undefined
    asked.resolve()
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  }
  const { world, store } = await copies(1_000_000, late)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const ran = cli(world, ['ls', '--limit', '3'], { store })
    await asked.promise
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await ran).stderr).toMatch(/^showing 3 of more than 1900 \(/)
  } finally {
    vi.useRealTimers()
  }
})

test('a store that fails during counting does not spoil the output; before that it is exit 9', async () => {
  const lost = (number: number) => {
    if (number === 2) throw new StoreUnreachable('gone')
  }
  const { world, store } = await copies(5_000, lost)
  const counting = await cli(world, ['ls', '--limit', '3'], { store })
  expect(counting.exit).toBe(0)
  expect(counting.stderr).toMatch(/^showing 3 of more than 1900 \(/)
  const listing = await cli(world, ['ls'], { store })
  expect(listing.exit).toBe(9)
  expect(rowsOf(listing.stdout)).toBe(2_000)
})

test('Ctrl-C ends the counting', async () => {
  const stop = new AbortController()
  const { world, store } = await copies(5_000, (number, { signal }) => {
    if (number === 2) stop.abort('SIGINT')
    signal?.throwIfAborted()
  })
  expect((await cli(world, ['ls', '--limit', '3'], { store, signal: stop.signal })).exit).toBe(130)
})

test.each(['name', 'ndjson'])('-o %s prints no total: nothing is listed beyond the limit', async format => {
  let pages = 0
  const { world, store } = await copies(50, () => pages++, 1)
  const ran = await cli(world, ['ls', '-o', format, '--limit', '5'], { store })
  expect(ran.stdout.trimEnd().split('\n')).toHaveLength(5)
  expect(ran.stderr).toMatch(/^showing the first 5; there are more \(/)
  expect(pages).toBe(6)
})

test('rows are written before the listing ends', async () => {
  const { world, store } = await copies(3, () => {}, 1)
  let seen = ''
  const marked = storeWith(store, {
    async *list(query) {
      for await (const page of store.list(query)) {
        seen += `[${page[0]?.name}]`
        yield page
      }
    },
  })
  const { runtime } = fakeRuntime(world, ['ls', '-o', 'name'], { store: marked })
  const write = async (chunk: string | Uint8Array) => {
    seen += String(chunk)
  }
  await runCommandLine({ ...runtime, stdout: { ...runtime.stdout, write } })
  expect(seen).toBe('[s000000]s000000\n[s000001]s000001\n[s000002]s000002\n')
})
