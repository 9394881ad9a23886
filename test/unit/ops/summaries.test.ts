import { expect, test } from 'vitest'
import { globOf } from '../../../src/ops/glob.ts'
import { summaries } from '../../../src/ops/summaries.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { init, memoryStore, run } from './support.ts'

/** Twenty streams in one page; listings have no summary of those that `isForeign` names. */
async function twenty(isForeign: (at: number) => boolean) {
  const { store } = memoryStore()
  for (let at = 0; at < 20; at++) await run(store, `s${String(at).padStart(2, '0')}`, init())
  const log: string[] = []
  const seen = { atOnce: 0, most: 0 }
  const foreign: StreamStore = new Proxy(store, {
    get(target, key) {
      if (key === 'list') {
        return async function* (query: object) {
          for await (const page of target.list(query))
            yield page.map(({ summary, ...row }, at) => (isForeign(at) ? row : { ...row, ...(summary && { summary }) }))
        }
      }
      if (key === 'read') {
        return async (name: string) => {
          log.push(name)
          seen.most = Math.max(seen.most, ++seen.atOnce)
          const stored = await target.read(name)
          seen.atOnce--
          return name === 's01' ? undefined : stored
        }
      }
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { store: foreign, log, seen }
}

const namesOf = (page: readonly { readonly listed: { readonly name: string } }[]) =>
  page.map(({ listed }) => listed.name)

test('without summaries the first streams are returned before all are read, few at a time; a removed one is omitted', async () => {
  const { store, log, seen } = await twenty(() => true)
  const pages: string[][] = []
  for await (const page of summaries(store, {})) {
    if (pages.length === 0) expect(log).toHaveLength(8)
    pages.push(namesOf(page))
  }
  expect(pages.map(page => page.length)).toEqual([7, 8, 4])
  expect(pages.flat()).toEqual([...pages.flat()].sort())
  expect(seen.most).toBe(8)
})

test('a stream with a summary or an excluded name is not read', async () => {
  const { store, log } = await twenty(at => at % 5 === 0)
  const pages: string[][] = []
  for await (const page of summaries(store, { names: globOf('s1?') })) pages.push(namesOf(page))
  expect(pages).toHaveLength(1)
  expect(pages.flat()).toHaveLength(10)
  expect(log).toEqual(['s10', 's15'])
})

test('an outage while documents are read is thrown', async () => {
  const { store } = await twenty(() => true)
  const failing: StreamStore = new Proxy(store, {
    get: (target, key) => (key === 'read' ? () => Promise.reject(new Error('gone')) : Reflect.get(target, key)),
  })
  await expect(async () => {
    for await (const _ of summaries(failing, {})) throw new Error('a page came')
  }).rejects.toThrow('gone')
})
