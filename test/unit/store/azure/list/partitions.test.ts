import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type {
  ListedPage,
  PageRequest,
  PageSource,
  RowFilter,
  TakeRows,
} from '../../../../../src/store/azure/list/pages.ts'
import { findCuts, type ListScope, listInPartitions } from '../../../../../src/store/azure/list/partitions.ts'
import { StoreIncompatible } from '../../../../../src/store/errors.ts'
import type { StreamRow } from '../../../../../src/store/store.ts'

/** A service with changing names, which counts its requests. */
class FakeSource implements PageSource {
  readonly pageSize: number
  isOrdered = true
  names: string[]
  requests: PageRequest[] = []
  underWay = 0
  mostAtOnce = 0
  readonly #pause: () => Promise<unknown>

  constructor(names: readonly string[], pageSize: number, pause: () => Promise<unknown> = () => turn()) {
    this.names = [...names]
    this.pageSize = pageSize
    this.#pause = pause
  }

  /** Yields some of the rows before the rest of the page has arrived. */
  async page(request: PageRequest, wanted: RowFilter, take?: TakeRows): Promise<ListedPage> {
    this.requests.push(request)
    this.underWay += 1
    this.mostAtOnce = Math.max(this.mostAtOnce, this.underWay)
    try {
      await this.#pause()
      request.signal?.throwIfAborted()
      const page = this.answer(request, wanted)
      if (take === undefined || page.rows.length < 2) return page
      const half = page.rows.length >> 1
      take(page.rows.slice(0, half))
      await this.#pause()
      return { ...page, rows: page.rows.slice(half) }
    } finally {
      this.underWay -= 1
    }
  }

  answer({ prefix = '', startFrom = '', marker, size }: PageRequest, wanted: RowFilter): ListedPage {
    const behind = this.sorted().filter(
      name => name.startsWith(prefix) && (marker === undefined ? name >= startFrom : name > marker),
    )
    const page = behind.slice(0, size)
    const rows = page.filter(name => wanted(name, 'etag', () => false)).map(name => ({ name }) as StreamRow)
    const last = page.at(-1)
    return { rows, first: page[0], last, marker: behind.length > size ? last : undefined, isSorted: true }
  }

  sorted(): string[] {
    return [...new Set(this.names)].sort()
  }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

async function namesOf(source: PageSource, scope: Partial<ListScope> = {}): Promise<string[]> {
  const names: string[] = []
  const asked = { prefix: undefined, startFrom: undefined, signal: undefined, wanted: () => true, ...scope }
  for await (const page of listInPartitions(source, asked)) names.push(...page.map(row => row.name))
  return names
}

const numbered = (count: number, prefix = 'orders/', digits = 6): string[] =>
  Array.from({ length: count }, (_, i) => prefix + String(i * 7).padStart(digits, '0'))

/** Few letters, so that names share prefixes; some in an order of their own. */
const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'B', '/', '-', '0', '9', '~', 'é', 'ﬀ', '😀'),
  minLength: 1,
  maxLength: 7,
})
const prefix = fc.option(fc.constantFrom('a', 'a/', 'ab', '/', 'é', '~'), { nil: undefined })

describe('a partitioned listing', () => {
  it('has every name once, whatever the names, the pages and their order of arrival', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(name, { maxLength: 90 }),
        fc.integer({ min: 1, max: 6 }),
        prefix,
        fc.scheduler(),
        async (names, pageSize, wantedPrefix, scheduler) => {
          const source = new FakeSource(names, pageSize, () => scheduler.schedule(Promise.resolve()))
          const found = await scheduler.waitFor(namesOf(source, { prefix: wantedPrefix }))
          expect(found.toSorted()).toEqual(source.sorted().filter(one => one.startsWith(wantedPrefix ?? '')))
          expect(source.mostAtOnce).toBeLessThanOrEqual(4)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('has every permanent name once, and none twice, while other names come and go', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(name, { minLength: 20, maxLength: 90 }),
        fc.array(fc.tuple(fc.boolean(), name), { maxLength: 60 }),
        fc.scheduler(),
        async (names, changes, scheduler) => {
          const moving = new Set(changes.map(([, one]) => one))
          const source = new FakeSource(names, 3, async () => {
            await scheduler.schedule(Promise.resolve())
            const [comes, changed = ''] = changes.pop() ?? []
            if (changed !== '')
              source.names = comes ? [...source.names, changed] : source.names.filter(one => one !== changed)
          })
          const found = await scheduler.waitFor(namesOf(source))
          expect(new Set(found).size).toBe(found.length)
          expect(found).toEqual(expect.arrayContaining(names.filter(one => !moving.has(one))))
        },
      ),
    )
  })

  it.each([
    ['one folder', numbered(1_000)],
    ['two folders', [...numbered(900, 'inbox/'), ...numbered(100, 'orders/')]],
    ['a folder for each', numbered(1_000).map(one => `${one}/stream`)],
    ['folders of days', Array.from({ length: 1_000 }, (_, i) => `2026/${10 + (i % 3)}/${10 + (i % 28)}/${i}`)],
    ['names at the top', numbered(1_000, '')],
    ['names with the same beginning', numbered(1_000, 'a-rather-long-beginning-that-all-names-have-')],
    ['a mixture', [...numbered(300, ''), ...numbered(300), ...numbered(400, 'orders/eu-'), 'zz', '~']],
  ])('reads four pages in parallel with few extra requests: %s', async (_, names) => {
    const source = new FakeSource(names, 20)
    expect((await namesOf(source)).toSorted()).toEqual(names.toSorted())
    expect(source.mostAtOnce).toBe(4)
    const searched = source.requests.filter(({ size }) => size === 1)
    expect(searched.length).toBeLessThanOrEqual(64)
    expect(source.requests.length - searched.length).toBeLessThanOrEqual(names.length / 20 + 12)
    const alone = new FakeSource(names, 20)
    alone.isOrdered = false
    await namesOf(alone)
    expect(alone.mostAtOnce).toBe(1)
    expect(alone.requests).toHaveLength(Math.ceil(names.length / 20))
  })

  it('requests two pages of two, one after the other', async () => {
    const source = new FakeSource(numbered(40), 20)
    expect(await namesOf(source)).toHaveLength(40)
    expect(source.requests).toHaveLength(2)
    expect(source.mostAtOnce).toBe(1)
  })

  it('yields each stream once', async () => {
    const asked: string[] = []
    const source = new FakeSource(numbered(500), 10)
    expect(await namesOf(source, { wanted: one => asked.push(one) < 0 })).toEqual([])
    expect(asked.toSorted()).toEqual(source.sorted())
  })

  it('begins at the given name', async () => {
    const source = new FakeSource(numbered(500), 10)
    const startFrom = 'orders/001400'
    expect((await namesOf(source, { startFrom, prefix: 'orders/' })).toSorted()).toEqual(
      source.sorted().filter(one => one >= startFrom),
    )
  })

  it('reads at most four pages ahead of its consumer', async () => {
    const source = new FakeSource(numbered(2_000), 10)
    const pages = listInPartitions(source, {
      prefix: undefined,
      startFrom: undefined,
      signal: undefined,
      wanted: () => true,
    })
    for (let taken = 1; taken <= 60; taken += 1) {
      await pages.next()
      for (let i = 0; i < 5; i += 1) await turn()
      expect(source.requests.filter(({ size }) => size > 1).length).toBeLessThanOrEqual(taken + 4)
    }
    await pages.return(undefined)
  })

  it('leaves no request in flight when its consumer stops', async () => {
    const source = new FakeSource(numbered(2_000), 10)
    let taken = 0
    const scope = { prefix: undefined, startFrom: undefined, signal: undefined, wanted: () => true }
    for await (const _ of listInPartitions(source, scope)) {
      taken += 1
      if (taken === 30) break
    }
    expect(source.underWay).toBe(0)
    expect(source.mostAtOnce).toBe(4)
    expect(source.requests.at(-1)?.signal?.aborted).toBe(true)
  })

  it('ends with the first error, and with the reason of the signal', async () => {
    const failing = new FakeSource(numbered(2_000), 10, async () => {
      await turn()
      if (failing.requests.length > 40) throw new Error('away')
    })
    await expect(namesOf(failing)).rejects.toThrow('away')
    expect(failing.underWay).toBe(0)
    const controller = new AbortController()
    const given = new FakeSource(numbered(2_000), 10, async () => {
      await turn()
      if (given.requests.length > 40) controller.abort(new Error('enough'))
    })
    await expect(namesOf(given, { signal: controller.signal })).rejects.toThrow('enough')
    expect(given.underWay).toBe(0)
  })

  it('continues in one part if the search for cuts gets no answer', async () => {
    const source = new FakeSource(numbered(500), 10)
    const answer = source.answer.bind(source)
    source.answer = (request, wanted) => {
      if (request.size === 1) throw new Error('away')
      return answer(request, wanted)
    }
    expect(await namesOf(source)).toEqual(source.sorted())
  })

  it('stays in one part if names are in another order, as with a hierarchical namespace', async () => {
    const names = Array.from({ length: 300 }, (_, i) => [`d${i}/x`, `d${i}-y`]).flat()
    const hierarchical = (one: string) => one.replaceAll('/', '\u0000')
    const source = new FakeSource(names, 20)
    source.sorted = () => source.names.toSorted((a, b) => (hierarchical(a) < hierarchical(b) ? -1 : 1))
    source.answer = ({ marker, startFrom = '', size }) => {
      const from = hierarchical(marker ?? startFrom)
      const behind = source.sorted().filter(one => hierarchical(one) > from)
      const page = behind.slice(0, size)
      const last = page.at(-1)
      const isSorted = page.every((one, i) => i === 0 || one > (page[i - 1] ?? ''))
      const rows = page.map(one => ({ name: one }) as StreamRow)
      return { rows, first: page[0], last, marker: behind.length > size ? last : undefined, isSorted }
    }
    expect((await namesOf(source)).toSorted()).toEqual(names.toSorted())
    expect(source.mostAtOnce).toBe(1)
    expect(source.isOrdered).toBe(false)
  })

  it('never returns a short listing if the order breaks after the partition: it fails, and is not partitioned again', async () => {
    const source = new FakeSource(numbered(1_000), 10)
    const answer = source.answer.bind(source)
    source.answer = (request, wanted) => ({ ...answer(request, wanted), isSorted: source.requests.length < 60 })
    await expect(namesOf(source)).rejects.toThrow(StoreIncompatible)
    expect((await namesOf(source)).toSorted()).toEqual(source.sorted())
  })

  it('accepts a page without names', async () => {
    const source = new FakeSource(numbered(300), 10)
    const answer = source.answer.bind(source)
    let empty = 0
    source.answer = (request, wanted) => {
      empty += 1
      if (empty % 3 > 0) return answer(request, wanted)
      const marker = request.marker ?? '\u0001'
      return { rows: [], first: undefined, last: undefined, marker, isSorted: true }
    }
    expect((await namesOf(source)).toSorted()).toEqual(source.sorted())
  })
})

describe('the search for cuts', () => {
  const search = async (names: readonly string[], last: string, to?: string, wantedPrefix: string = '') => {
    const sorted = names.toSorted()
    const asked: string[] = []
    const first = async (from: string) => {
      asked.push(from)
      return sorted.find(one => one.startsWith(wantedPrefix) && one >= from)
    }
    return { cuts: await findCuts(first, { last, to, prefix: wantedPrefix }), asked }
  }

  it('finds ascending positions within the range with at most sixteen requests', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(name, { minLength: 1, maxLength: 60 }),
        fc.nat(),
        fc.option(name, { nil: undefined }),
        prefix,
        async (all, at, to, given) => {
          const wantedPrefix: string = given ?? ''
          const names = all.filter(one => one.startsWith(wantedPrefix))
          fc.pre(names.length > 0)
          const last = names[at % names.length] ?? ''
          const { cuts, asked } = await search(names, last, to, wantedPrefix)
          expect(cuts).toEqual(cuts.toSorted())
          expect(new Set(cuts).size).toBe(cuts.length)
          for (const cut of cuts) {
            expect(cut > last && (to === undefined || cut < to) && cut.startsWith(wantedPrefix)).toBe(true)
            expect(cut).not.toMatch(/[\ud800-\uffff]/)
          }
          expect(asked.length).toBeLessThanOrEqual(16)
          expect(asked.every(from => from > last && !/[\u0000-\u001f\u007f-\u009f]/.test(from))).toBe(true)
        },
      ),
    )
  })

  it.each([
    ['digits', numbered(100_000), 'orders/009996', ['1', '2', '3', '4', '5', '6'].map(digit => `orders/${digit}`)],
    ['a later digit', numbered(5_000), 'orders/009996', ['orders/01', 'orders/02', 'orders/03']],
    ['other folders', ['a/1', 'b/1', 'c/1', 'd/1'], 'a/1', ['b', 'c', 'd']],
    ['no further name', ['a/1'], 'a/1', []],
  ])('%s', async (_, names, last, cuts) => {
    expect((await search(names, last)).cuts).toEqual(cuts)
  })

  it('stays within the prefix, before the end, and avoids control characters', async () => {
    const { asked } = await search(numbered(9_000), 'orders/000000', undefined, 'orders/')
    expect(asked.every(from => from > 'orders/' && from < 'orders0')).toBe(true)
    expect((await search(numbered(100_000), 'orders/009996', 'orders/4')).cuts).toEqual([
      'orders/1',
      'orders/2',
      'orders/3',
    ])
    expect((await search(['~', '~a', 'é'], '~')).asked).toEqual(['\u00a0', 'ê'])
  })
})
