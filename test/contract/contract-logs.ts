import { describe, expect, it } from 'vitest'
import { comparePositions, LOG_START, MAX_BLOCK_BYTES } from '../../src/store/block-log.ts'
import type { StreamStore } from '../../src/store/store.ts'
import { bytes, namesOf, type StoreHarness, text, withStore as withAnyStore } from './harness.ts'

const NAME = '.leasectl/inbox/orders/0001'

/** With a store that is there: a log is not what creates it. */
const withStore = (harness: StoreHarness, test: (store: StreamStore) => Promise<void>) =>
  withAnyStore(harness, async store => {
    await store.createContainer()
    await test(store)
  })

/** All lines, read in small parts. */
async function linesOf(store: StreamStore, name = NAME, maxBytes = 16): Promise<string[]> {
  const lines: string[] = []
  for (let at = LOG_START; ; ) {
    const part = await store.log(name).read(at, maxBytes)
    if (part.bytes.length === 0) return lines
    lines.push(...text(part.bytes).trimEnd().split('\n'))
    at = part.next
  }
}

/** Logs of lines are kept in the same way in every store. */
export function describeLogs(harness: StoreHarness): void {
  describe('a log of lines', () => {
    it('is read back in the order in which it was appended to, from any position', () =>
      withStore(harness, async store => {
        const log = store.log(NAME)
        for (const block of ['a1\na2\n', 'b1\n', 'c1\nc2\nc3\n']) {
          expect(await log.append(bytes(block))).toEqual({ kind: 'appended' })
        }
        expect(await linesOf(store)).toEqual(['a1', 'a2', 'b1', 'c1', 'c2', 'c3'])
        const first = await log.read(LOG_START, 6)
        expect(text(first.bytes)).toBe('a1\na2\n')
        const behind = { ...first.next, offset: first.next.offset - 3 }
        expect(text((await log.read(behind, 1_000)).bytes)).toMatch(/^a2\n/)
        expect(text((await log.read(first.next, 1_000)).bytes)).toMatch(/^b1\n/)
      }))

    it('has nothing to read at its end, and goes on there', () =>
      withStore(harness, async store => {
        const log = store.log(NAME)
        await log.append(bytes('a\n'))
        const { next } = await log.read(LOG_START, 100)
        expect(await log.read(next, 100)).toMatchObject({ bytes: { length: 0 }, next })
        await log.append(bytes('b\n'))
        const more = await log.read(next, 100)
        expect(text(more.bytes)).toBe('b\n')
        expect(comparePositions(next, more.next)).toBeLessThan(0)
        expect(comparePositions(LOG_START, next)).toBeLessThan(0)
        expect(comparePositions(next, next)).toBe(0)
      }))

    it('says that it was cut rather than that there is nothing behind its end', () =>
      withStore(harness, async store => {
        const log = store.log(NAME)
        await log.append(bytes('a\n'))
        const { end } = (await log.extent()) ?? { end: LOG_START }
        for (const behind of [
          { ...end, offset: end.offset + 1 },
          { segment: end.segment + 1, offset: 0 },
        ])
          await expect(log.read(behind, 100)).rejects.toThrow('ends before what was read of it')
        await log.remove()
        expect(await log.read(end, 100)).toMatchObject({ bytes: { length: 0 }, next: end })
      }))

    it('is empty before its first block, and is no stream', () =>
      withStore(harness, async store => {
        const log = store.log(NAME)
        expect(await log.read(LOG_START, 100)).toMatchObject({ bytes: { length: 0 }, next: LOG_START })
        expect(await log.extent()).toBeUndefined()
        await log.trim({ segment: 5, offset: 0 })
        await log.remove()
        await log.append(bytes('a\n'))
        expect(await namesOf(store)).toEqual([])
      }))

    it('reads a line that is longer than wanted as a whole', () =>
      withStore(harness, async store => {
        const long = `${'x'.repeat(5_000)}\n`
        await store.log(NAME).append(bytes(`${long}y\n`))
        expect((await linesOf(store, NAME, 100)).map(line => line.length)).toEqual([5_000, 1])
      }))

    it('takes blocks up to 4 MiB, and refuses longer ones, empty ones and broken lines', () =>
      withStore(harness, async store => {
        const log = store.log(NAME)
        const most = Buffer.alloc(MAX_BLOCK_BYTES, 0x61)
        most[MAX_BLOCK_BYTES - 1] = 0x0a
        expect((await log.append(most)).kind).toBe('appended')
        const refused = [Buffer.concat([most, most]), bytes(''), bytes('a\nb')]
        for (const block of refused) await expect(async () => log.append(block)).rejects.toThrow('block')
        expect((await log.extent())?.bytes).toBe(MAX_BLOCK_BYTES)
        expect(await linesOf(store, NAME, 2 * MAX_BLOCK_BYTES)).toHaveLength(1)
      }))

    it('keeps every block of many writers whole and once, and of each writer in order', () =>
      withStore(harness, async store => {
        const writers = ['a', 'b', 'c', 'd']
        await Promise.all(
          writers.map(async writer => {
            for (let at = 0; at < 10; at++) await store.log(NAME).append(bytes(`${writer}${at}.1\n${writer}${at}.2\n`))
          }),
        )
        const lines = await linesOf(store, NAME, 64)
        expect(lines).toHaveLength(80)
        for (const [at, line] of lines.entries()) {
          if (line.endsWith('.1')) expect(lines[at + 1]).toBe(line.replace('.1', '.2'))
        }
        for (const writer of writers) {
          const own = lines.filter(line => line.startsWith(writer))
          expect(own).toEqual(own.toSorted((x, y) => Number(x.slice(1)) - Number(y.slice(1))))
        }
      }))

    it('keeps its positions when it is trimmed, and never loses its end', () =>
      withStore(harness, async store => {
        const log = store.log(NAME)
        for (const block of ['a\n', 'b\n', 'c\n']) await log.append(bytes(block))
        const { end } = (await log.extent()) ?? { end: LOG_START }
        const { next } = await log.read(LOG_START, 2)
        await log.trim(next)
        expect((await linesOf(store)).slice(-2)).toEqual(['b', 'c'])
        expect(text((await log.read(next, 100)).bytes)).toBe('b\nc\n')
        await log.trim({ segment: end.segment + 9, offset: 0 })
        expect((await log.extent())?.end).toEqual(end)
        await log.append(bytes('d\n'))
        expect(text((await log.read(end, 100)).bytes)).toBe('d\n')
        expect((await linesOf(store)).at(-1)).toBe('d')
      }))

    it('counts the bytes behind any position', () =>
      withStore(harness, async store => {
        const log = store.log(NAME)
        for (const block of ['a1\na2\n', 'b1\n', 'c1\n']) {
          await log.append(bytes(block))
          await store.log(`${NAME}0`).append(bytes('other\n'))
        }
        let at = LOG_START
        for (let left = 12; left > 0; ) {
          expect((await log.extent(undefined, at))?.bytes).toBe(left)
          const { bytes: lines, next } = await log.read(at, 3)
          left -= lines.length
          at = next
        }
        const { end } = (await log.extent()) ?? { end: LOG_START }
        expect((await log.extent(undefined, at))?.bytes).toBe(0)
        expect((await log.extent(undefined, { ...end, offset: end.offset - 3 }))?.bytes).toBe(3)
      }))

    it('is gone when it is removed, and others are not', () =>
      withStore(harness, async store => {
        await store.log(NAME).append(bytes('a\n'))
        await store.log(`${NAME}0`).append(bytes('b\n'))
        await store.log(NAME).remove()
        expect(await linesOf(store)).toEqual([])
        expect(await store.log(NAME).extent()).toBeUndefined()
        expect(await linesOf(store, `${NAME}0`)).toEqual(['b'])
        await store.log(NAME).append(bytes('c\n'))
        expect(await linesOf(store)).toEqual(['c'])
      }))

    it('has one of our own names only', () =>
      withStore(harness, async store => {
        for (const name of ['orders/1', '', '.leasectl/../x']) expect(() => store.log(name)).toThrow()
      }))
  })
}
